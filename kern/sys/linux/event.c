/* eventfd(2): a counter with a descriptor. */
#include "kern/arch.h"
#include "kern/file/epoll.h"
#include "kern/file/file.h"
#include "kern/file/pipe.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/signal.h"
#include "kern/sched/sched.h"
#include "kern/sys/file/wait_files.h"
#include "kern/sys/syscall.h"

#define EFD_SEMAPHORE 1

static void
change_count(struct file *f, uint64_t count)
{
	f->f_count = count;
	f->f_changes++;
	waitq_wake(&pipe_pollers, ~0U);
}

intptr_t
wait_change(const struct file *f)
{
	if (f->f_flags & O_NONBLOCK)
		return -EAGAIN;
	return wait_files(~0ULL) != 0 ? sig_restart(lwp_self()) : 0;
}

intptr_t
event_read(struct file *f, uintptr_t uva, size_t len)
{
	uint64_t count;
	intptr_t err;

	if (len < sizeof count)
		return -EINVAL;
	while (f->f_count == 0) {
		if ((err = wait_change(f)) != 0)
			return err;
	}
	count = f->f_by_one ? 1 : f->f_count;
	if (copyout(uva, &count, sizeof count) != 0)
		return -EFAULT;
	change_count(f, f->f_count - count);
	return sizeof count;
}

intptr_t
event_write(struct file *f, uintptr_t uva, size_t len)
{
	uint64_t count;
	intptr_t err;

	if (len < sizeof count || copyin(&count, uva, sizeof count) != 0)
		return len < sizeof count ? -EINVAL : -EFAULT;
	if (count == UINT64_MAX)
		return -EINVAL;
	while (count > UINT64_MAX - 1 - f->f_count) {
		if ((err = wait_change(f)) != 0)
			return err;
	}
	change_count(f, f->f_count + count);
	return sizeof count;
}

intptr_t
sys_eventfd2(const uintptr_t *a)
{
	unsigned flags = (unsigned)a[1];
	struct file *f;

	if ((flags & ~(EFD_SEMAPHORE | O_NONBLOCK | O_CLOEXEC)) != 0)
		return -EINVAL;
	if ((f = file_new(FILE_EVENT, O_RDWR | (flags & O_NONBLOCK))) == NULL)
		return -ENOMEM;
	f->f_count = (uint32_t)a[0];
	f->f_by_one = flags & EFD_SEMAPHORE;
	return install_file(f, flags & O_CLOEXEC);
}
