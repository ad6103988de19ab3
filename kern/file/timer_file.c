/*
 * Timers with a descriptor.
 *
 * A timer interrupts once, when it expires first after it was set or its count
 * was taken.  It then wakes those that wait for the file.  Later expirations
 * are computed from the clock, so a short interval keeps no CPU busy.
 */
#include "kern/file/timer_file.h"

#include <stdbool.h>
#include <stddef.h>

#include "kern/arch.h"
#include "kern/file/epoll.h"
#include "kern/file/file.h"
#include "kern/file/pipe.h"
#include "kern/mm/page.h"
#include "kern/sched/sched.h"

struct timer_file {
	struct timer tm_timer;
	bool tm_set;
	bool tm_expired;   /* since tm_next was set */
	uint64_t tm_next;  /* the tick of the first expiration not yet taken */
	hrtime_t tm_every; /* ns; 0: once */
};

struct file *
timer_file_new(unsigned flags)
{
	struct timer_file *ft = kmalloc(sizeof *ft);
	struct file *f = file_new(FILE_TIMER, O_RDWR | flags);

	if (ft == NULL || f == NULL) {
		kfree(ft);
		kfree(f);
		return NULL;
	}
	f->f_timer = ft;
	return f;
}

void
timer_file_close(struct timer_file *ft)
{
	timer_stop(&ft->tm_timer);
	kfree(ft);
}

static void
timer_file_expire(void *arg)
{
	struct file *f = arg;

	f->f_timer->tm_expired = true;
	f->f_changes++;
	waitq_wake(&pipe_pollers, ~0U);
}

void
timer_file_start(struct file *f, uint64_t tick, hrtime_t every)
{
	struct timer_file *ft = f->f_timer;

	ft->tm_set = true;
	ft->tm_expired = false;
	ft->tm_next = tick;
	ft->tm_every = every;
	timer_start(&ft->tm_timer, tick, timer_file_expire, f);
}

void
timer_file_stop(struct file *f)
{
	struct timer_file *ft = f->f_timer;

	timer_stop(&ft->tm_timer);
	ft->tm_set = ft->tm_expired = false;
	ft->tm_every = 0;
}

/* The interval may be shorter than a tick. */
static uint64_t
interval_ticks(const struct timer_file *ft)
{
	uint64_t every = ns_to_tick(ft->tm_every);

	return every + (every == 0);
}

/* Ticks since tm_next.  Another CPU's clock may be ahead of this one's. */
static uint64_t
ticks_over(const struct timer_file *ft)
{
	uint64_t now = arch_tick();

	return now > ft->tm_next ? now - ft->tm_next : 0;
}

uint64_t
timer_file_count(const struct file *f)
{
	const struct timer_file *ft = f->f_timer;

	if (!ft->tm_expired)
		return 0;
	return ft->tm_every == 0 ? 1 : 1 + ticks_over(ft) / interval_ticks(ft);
}

void
timer_file_take(struct file *f, uint64_t count)
{
	struct timer_file *ft = f->f_timer;
	uint64_t passed, next;

	if (ft->tm_every == 0) {
		timer_file_stop(f);
		return;
	}
	/* No time of the clock is as late as ~0. */
	if (__builtin_mul_overflow(count, interval_ticks(ft), &passed) ||
	    __builtin_add_overflow(ft->tm_next, passed, &next))
		next = ~0ULL;
	timer_file_start(f, next, ft->tm_every);
}

hrtime_t
timer_file_left(const struct file *f)
{
	const struct timer_file *ft = f->f_timer;
	uint64_t now = arch_tick(), left = 0;
	hrtime_t ns;

	if (!ft->tm_set || (ft->tm_expired && ft->tm_every == 0))
		return 0;
	if (now < ft->tm_next)
		left = ft->tm_next - now;
	else if (ft->tm_every != 0)
		left = interval_ticks(ft) - ticks_over(ft) % interval_ticks(ft);
	ns = tick_to_ns(left);
	return ns + (ns == 0);
}

hrtime_t
timer_file_every(const struct file *f)
{
	return f->f_timer->tm_every;
}
