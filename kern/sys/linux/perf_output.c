/*
 * perf_event_open(2): what an event tells its program of itself, the signal at
 * the end of a period.
 *
 * Linux, include/uapi/linux/perf_event.h, include/uapi/asm-generic/fcntl.h and
 * siginfo.h; man-pages, perf_event_open(2), "Overflow handling", and fcntl(2).
 */
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sys/file/wait_files.h"
#include "kern/sys/linux/perf_event.h"

#define SIGIO 29

/* si_code of SIGIO, and si_band: EPOLLIN | EPOLLRDNORM, EPOLLHUP | EPOLLERR */
enum { POLL_IN = 1, POLL_HUP = 6 };
enum { BAND_IN = 0x41, BAND_HUP = 0x18 };

enum { OWNER_TID, OWNER_PID };

static int
send_owner(const struct perf_owner *to, int sig, const struct siginfo *info)
{
	struct lwp *l = to->type == OWNER_TID ? lwp_find(to->id) : NULL;
	struct proc *p = to->type == OWNER_PID ? proc_find(to->id) : NULL;

	if (l != NULL)
		return sig_post_lwp(l, sig, info);
	return p != NULL ? sig_post_proc(p, sig, info) : 0;
}

bool
perf_overflow(struct perf_event *e, const struct lwp *l)
{
	bool last = e->limit > 0 && --e->limit == 0;
	struct siginfo info;

	(void)l;
	if (e->fd == 0)
		return last;
	siginfo_set(&info, e->sig, last ? POLL_HUP : POLL_IN,
	    last ? BAND_HUP : BAND_IN);
	info.si_rest[1] = (unsigned)e->fd - 1;
	if (e->sig != 0 && send_owner(&e->owner, e->sig, &info) == 0)
		return last;
	siginfo_set(&info, SIGIO, SI_KERNEL, 0);
	send_owner(&e->owner, SIGIO, &info);
	return last;
}

void
perf_async(struct file *f, int fd, bool on)
{
	f->f_flags |= on ? O_ASYNC : 0;
	f->f_perf->fd = on ? fd + 1 : 0;
}

static int
set_owner(struct perf_event *e, struct perf_owner to)
{
	if (to.type != OWNER_TID && to.type != OWNER_PID)
		return EINVAL;
	if (to.id != 0 && (to.type == OWNER_TID ? lwp_find(to.id) == NULL
						: proc_find(to.id) == NULL))
		return ESRCH;
	e->owner = to;
	return 0;
}

#define F_SETOWN    8
#define F_SETSIG    10
#define F_SETOWN_EX 15

intptr_t
perf_fcntl(struct file *f, uintptr_t operation, uintptr_t arg)
{
	struct perf_event *e = f->f_perf;
	struct perf_owner to = { OWNER_PID, (int)arg };

	switch (operation) {
	case F_SETOWN_EX:
		if (copyin(&to, arg, sizeof to) != 0)
			return -EFAULT;
		__attribute__((fallthrough));
	case F_SETOWN:
		return -set_owner(e, to);
	case F_SETSIG:
		if (arg > NSIG)
			return -EINVAL;
		e->sig = (int)arg;
		return 0;
	default:
		return -EINVAL;
	}
}
