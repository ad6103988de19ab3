/* setitimer(2), getitimer(2) and alarm(2): one timer of real time a process. */
#include "kern/arch.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/proc.h"
#include "kern/proc/signal.h"
#include "kern/sched/timer.h"
#include "kern/sys/syscall.h"

#define ITIMER_REAL 0

#define NS_PER_US 1000LL
#define US_PER_S  1000000LL

/* Linux's struct timeval, the same on both machines. */
struct timeval {
	int64_t tv_sec, tv_usec;
};

struct itimerval {
	struct timeval it_interval, it_value;
};

/*
 * The tick of the next signal: the first multiple of the interval that is not
 * over.  A very short interval would keep the CPU busy with signals for ever.
 * So if the last signal had no effect, wait at least RING_MIN_NS.
 */
#define RING_MIN_NS 1000000

static uint64_t
next_ring(const struct proc *p, bool heard)
{
	uint64_t every = ns_to_tick(p->p_alarm_every), last = p->p_alarm.t_tick;
	uint64_t from = arch_tick() + (heard ? 0 : ns_to_tick(RING_MIN_NS));

	every += every == 0; /* the interval may be shorter than a tick */
	return from - (from - last) % every + every;
}

static void
alarm_ring(void *arg)
{
	struct proc *p = arg;
	bool heard = (p->p_sigpend.sp_set & SIGBIT(SIGALRM)) == 0 &&
	             !sig_ignored(p, SIGALRM);
	struct siginfo info;

	siginfo_set(&info, SIGALRM, SI_KERNEL, 0);
	sig_post_proc(p, SIGALRM, &info);
	if (p->p_alarm_every != 0)
		timer_start(&p->p_alarm, next_ring(p, heard), alarm_ring, p);
}

static struct timeval
to_timeval(hrtime_t ns)
{
	return (struct timeval){ ns / NS_PER_S, ns % NS_PER_S / NS_PER_US };
}

static bool
is_valid(const struct timeval *tv)
{
	return tv->tv_sec >= 0 && tv->tv_usec >= 0 && tv->tv_usec < US_PER_S;
}

/* Longer times count as a century, which no run lasts. */
#define LONGEST_S (100LL * 366 * 24 * 3600)

static hrtime_t
to_ns(const struct timeval *tv)
{
	int64_t s = tv->tv_sec < LONGEST_S ? tv->tv_sec : LONGEST_S;

	return s * NS_PER_S + tv->tv_usec * NS_PER_US;
}

static struct itimerval
alarm_get(const struct proc *p)
{
	uint64_t now = arch_tick(), left = 0;

	if (p->p_alarm.t_cpu != NULL)
		left = p->p_alarm.t_tick > now ? p->p_alarm.t_tick - now : 1;
	return (struct itimerval){ to_timeval(p->p_alarm_every),
		to_timeval(tick_to_ns(left)) };
}

static void
alarm_set(struct proc *p, const struct itimerval *it)
{
	hrtime_t first = to_ns(&it->it_value);

	timer_stop(&p->p_alarm);
	p->p_alarm_every = first != 0 ? to_ns(&it->it_interval) : 0;
	if (first != 0)
		timer_start(&p->p_alarm, arch_tick() + ns_to_tick(first),
		    alarm_ring, p);
}

intptr_t
sys_getitimer(const uintptr_t *a)
{
	struct itimerval it = alarm_get(proc_self());

	if (a[0] != ITIMER_REAL)
		return -EINVAL;
	return -copyout(a[1], &it, sizeof it);
}

intptr_t
sys_setitimer(const uintptr_t *a)
{
	struct proc *p = proc_self();
	struct itimerval it = { { 0, 0 }, { 0, 0 } }, old = alarm_get(p);

	if (a[0] != ITIMER_REAL)
		return -EINVAL;
	if (a[1] != 0 && copyin(&it, a[1], sizeof it) != 0)
		return -EFAULT;
	if (!is_valid(&it.it_interval) || !is_valid(&it.it_value))
		return -EINVAL;
	if (a[2] != 0 && copyout(a[2], &old, sizeof old) != 0)
		return -EFAULT;
	alarm_set(p, &it);
	return 0;
}

/* The seconds that were left, rounded: at least one if it was set. */
intptr_t
sys_alarm(const uintptr_t *a)
{
	const struct itimerval it = { { 0, 0 }, { (uint32_t)a[0], 0 } };
	struct proc *p = proc_self();
	struct itimerval old = alarm_get(p);

	alarm_set(p, &it);
	return old.it_value.tv_sec +
	       (old.it_value.tv_usec >= US_PER_S / 2 ||
		   (old.it_value.tv_sec == 0 && old.it_value.tv_usec > 0));
}
