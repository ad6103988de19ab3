/*
 * poll(2).  Only pipes are ever not ready.
 */
#include "kern/arch.h"
#include "kern/file/file.h"
#include "kern/file/pipe.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/deadline.h"
#include "kern/sched/sched.h"
#include "kern/sched/timer.h"
#include "kern/sys/syscall.h"

#define POLLRDNORM 0x040 /* other names for POLLIN and POLLOUT */
#define POLLWRNORM 0x100

#define SIGSET_BYTES 8
#define NS_PER_MS    1000000LL

/* Linux's struct pollfd, the same on both machines. */
struct pollfd {
	int32_t fd;
	uint16_t events, revents;
};

static uint16_t
state_of(int fd)
{
	const struct file *f = file_get(fd);
	uint16_t state;

	if (f == NULL)
		return POLLNVAL;
	state = f->f_kind == FILE_PIPE ? pipe_poll(f) : POLLIN | POLLOUT;
	if ((state & POLLIN) != 0)
		state |= POLLRDNORM;
	return (state & POLLOUT) != 0 ? state | POLLWRNORM : state;
}

/* Fill in revents.  Returns how many descriptors have one. */
static intptr_t
set_revents(struct pollfd *fds, unsigned n)
{
	intptr_t found = 0;

	for (unsigned i = 0; i < n; i++) {
		uint16_t wanted = fds[i].events | POLLERR | POLLHUP | POLLNVAL;

		fds[i].revents =
		    fds[i].fd < 0 ? 0 : state_of(fds[i].fd) & wanted;
		found += fds[i].revents != 0;
	}
	return found;
}

static intptr_t
wait_for_any(struct pollfd *fds, unsigned n, uint64_t deadline)
{
	struct lwp *l = lwp_self();
	intptr_t found;
	int err = 0;

	while ((found = set_revents(fds, n)) == 0) {
		if (sig_check(l))
			return -EINTR;
		if (err == ETIMEDOUT || arch_tick() >= deadline)
			return 0;
		lock_acquire(&pipe_pollers.wq_lock);
		err = waitq_sleep(&pipe_pollers, deadline);
		lock_release(&pipe_pollers.wq_lock);
	}
	return found;
}

static intptr_t
poll_files(uintptr_t uva, uintptr_t n, uint64_t deadline)
{
	struct pollfd fds[NFD];
	intptr_t found;

	if (n > NFD)
		return -EINVAL;
	if (copyin(fds, uva, n * sizeof *fds) != 0)
		return -EFAULT;
	if ((found = wait_for_any(fds, (unsigned)n, deadline)) < 0)
		return found;
	return copyout(uva, fds, n * sizeof *fds) != 0 ? -EFAULT : found;
}

intptr_t
sys_poll(const uintptr_t *a)
{
	int ms = (int)a[2];

	return poll_files(a[0], a[1],
	    ms < 0 ? ~0ULL : arch_tick() + ns_to_tick(ms * NS_PER_MS));
}

intptr_t
sys_ppoll(const uintptr_t *a)
{
	uint64_t mask, deadline;
	intptr_t found;
	int err;

	if ((err = deadline_in(a[2], false, &deadline)) != 0)
		return -err;
	if (a[3] != 0) {
		if (a[4] != SIGSET_BYTES)
			return -EINVAL;
		if (copyin(&mask, a[3], sizeof mask) != 0)
			return -EFAULT;
		sig_suspend_mask(lwp_self(), mask);
	}
	found = poll_files(a[0], a[1], deadline);
	if (found != -EINTR)
		sig_resume_mask(lwp_self());
	return found;
}
