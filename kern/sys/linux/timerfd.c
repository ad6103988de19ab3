/* timerfd_create(2): a timer with a descriptor. */
#include "kern/file/file.h"
#include "kern/file/timer_file.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/deadline.h"
#include "kern/sys/file/wait_files.h"
#include "kern/sys/syscall.h"

/* All of these clocks are the same (time.c). */
#define CLOCK_REALTIME       0
#define CLOCK_MONOTONIC      1
#define CLOCK_BOOTTIME       7
#define CLOCK_REALTIME_ALARM 8
#define CLOCK_BOOTTIME_ALARM 9

/* Linux, include/uapi/linux/timerfd.h. */
#define TFD_TIMER_ABSTIME       1
#define TFD_TIMER_CANCEL_ON_SET 2 /* no clock is ever set */

/* Linux's struct itimerspec, the same on both machines. */
struct timer_setting {
	int64_t every[2], first[2]; /* seconds, nanoseconds */
};

intptr_t
sys_timerfd_create(const uintptr_t *a)
{
	int clock = (int)a[0];
	unsigned flags = (unsigned)a[1];
	struct file *f;

	if ((flags & ~(unsigned)(O_NONBLOCK | O_CLOEXEC)) != 0)
		return -EINVAL;
	/* These wake a machine that sleeps, which takes a capability. */
	if (clock == CLOCK_REALTIME_ALARM || clock == CLOCK_BOOTTIME_ALARM)
		return -EPERM;
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC &&
	    clock != CLOCK_BOOTTIME)
		return -EINVAL;
	if ((f = timer_file_new(flags & O_NONBLOCK)) == NULL)
		return -ENOMEM;
	return install_file(f, flags & O_CLOEXEC);
}

/* The file of a descriptor, if it is a timer.  Returns 0 or an errno. */
static int
timer_get(int fd, struct file **f)
{
	if ((*f = file_get(fd)) == NULL)
		return EBADF;
	return (*f)->f_kind == FILE_TIMER ? 0 : EINVAL;
}

static int
copyout_timer(uintptr_t uva, const struct file *f)
{
	hrtime_t every = timer_file_every(f), left = timer_file_left(f);
	const struct timer_setting ts = { { every / NS_PER_S,
					      every % NS_PER_S },
		{ left / NS_PER_S, left % NS_PER_S } };

	return copyout(uva, &ts, sizeof ts);
}

intptr_t
sys_timerfd_settime(const uintptr_t *a)
{
	unsigned flags = (unsigned)a[1];
	struct timer_setting ts;
	hrtime_t first, every;
	struct file *f;
	int err;

	if (copyin(&ts, a[2], sizeof ts) != 0)
		return -EFAULT;
	if ((flags & ~(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)) != 0 ||
	    timespec_ns(ts.first, &first) != 0 ||
	    timespec_ns(ts.every, &every) != 0)
		return -EINVAL;
	if ((err = timer_get((int)a[0], &f)) != 0)
		return -err;
	if (a[3] != 0 && copyout_timer(a[3], f) != 0)
		return -EFAULT;
	if (first == 0)
		timer_file_stop(f);
	else
		timer_file_start(
		    f, deadline_tick(first, flags & TFD_TIMER_ABSTIME), every);
	return 0;
}

intptr_t
sys_timerfd_gettime(const uintptr_t *a)
{
	struct file *f;
	int err = timer_get((int)a[0], &f);

	return err != 0 ? -err : -copyout_timer(a[1], f);
}

intptr_t
timer_read(struct file *f, uintptr_t uva, size_t len)
{
	uint64_t count;
	intptr_t err;

	if (len < sizeof count)
		return -EINVAL;
	while ((count = timer_file_count(f)) == 0) {
		if ((err = wait_change(f)) != 0)
			return err;
	}
	if (copyout(uva, &count, sizeof count) != 0)
		return -EFAULT;
	timer_file_take(f, count);
	return sizeof count;
}
