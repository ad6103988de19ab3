/* The system calls of epoll(7). */
#include "kern/file/epoll.h"
#include "kern/arch.h"
#include "kern/file/file.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/deadline.h"
#include "kern/sys/file/wait_files.h"
#include "kern/sys/syscall.h"

#define EPOLL_CTL_ADD 1
#define EPOLL_CTL_DEL 2
#define EPOLL_CTL_MOD 3

static intptr_t
make_epoll(bool cloexec)
{
	struct file *f = epoll_new();

	return f == NULL ? -ENOMEM : install_file(f, cloexec);
}

intptr_t
sys_epoll_create(const uintptr_t *a)
{
	return (int)a[0] <= 0 ? -EINVAL : make_epoll(false);
}

intptr_t
sys_epoll_create1(const uintptr_t *a)
{
	if ((a[0] & ~(uintptr_t)O_CLOEXEC) != 0)
		return -EINVAL;
	return make_epoll(a[0] != 0);
}

intptr_t
sys_epoll_ctl(const uintptr_t *a)
{
	struct file *set = file_get((int)a[0]), *f = file_get((int)a[2]);
	unsigned op = (unsigned)a[1];
	int fd = (int)a[2];
	struct epoll_event ee;

	if (set == NULL || f == NULL)
		return -EBADF;
	if (set->f_kind != FILE_EPOLL || set == f)
		return -EINVAL;
	if (op == EPOLL_CTL_DEL)
		return -epoll_change(set->f_epoll, fd, f, NULL);
	if (copyin(&ee.ee_events, a[3], sizeof ee.ee_events) != 0 ||
	    copyin(&ee.ee_data, a[3] + arch_epoll_data, sizeof ee.ee_data) != 0)
		return -EFAULT;
	if (op == EPOLL_CTL_ADD)
		return -epoll_add(set->f_epoll, fd, f, &ee);
	return op == EPOLL_CTL_MOD ? -epoll_change(set->f_epoll, fd, f, &ee)
	                           : -EINVAL;
}

/* The set is held: another LWP may close it during the wait. */
static intptr_t
wait_for_events(
    struct file *set, uintptr_t uva, unsigned max, uint64_t deadline)
{
	struct epoll_event ee[NFD];
	unsigned n;
	int err;

	while ((n = epoll_take(set->f_epoll, ee, max < NFD ? max : NFD)) == 0) {
		if ((err = wait_files(deadline)) != 0)
			return err == ETIMEDOUT ? 0 : -err;
	}
	for (unsigned i = 0; i < n; i++) {
		if (copyout(uva, &ee[i].ee_events, sizeof ee->ee_events) != 0 ||
		    copyout(uva + arch_epoll_data, &ee[i].ee_data,
			sizeof ee->ee_data) != 0)
			return -EFAULT;
		uva += arch_epoll_data + sizeof ee->ee_data;
	}
	return (intptr_t)n;
}

static intptr_t
wait_set(const uintptr_t *a, uint64_t deadline)
{
	struct file *set = file_get((int)a[0]);

	if (set == NULL)
		return -EBADF;
	if (set->f_kind != FILE_EPOLL || (int)a[2] <= 0)
		return -EINVAL;
	set->f_refs++;
	intptr_t found = wait_for_events(set, a[1], (unsigned)a[2], deadline);
	file_release(set);
	return found;
}

intptr_t
sys_epoll_wait(const uintptr_t *a)
{
	return wait_set(a, deadline_ms((int)a[3]));
}

intptr_t
sys_epoll_pwait(const uintptr_t *a)
{
	int err = wait_mask(a[4], a[5]);

	return err != 0 ? -err : end_wait_mask(sys_epoll_wait(a));
}

intptr_t
sys_epoll_pwait2(const uintptr_t *a)
{
	uint64_t deadline;
	int err;

	if ((err = deadline_in(a[3], false, &deadline)) != 0 ||
	    (err = wait_mask(a[4], a[5])) != 0)
		return -err;
	return end_wait_mask(wait_set(a, deadline));
}
