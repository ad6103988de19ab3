/*
 * One-shot timers and the clock.  Included by kern/ and arch/.
 */
#ifndef KERN_SCHED_TIMER_H
#define KERN_SCHED_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct cpu;

/*
 * fn(arg) runs once arch_tick() >= t_tick, on the CPU that started it, from
 * the timer's interrupt: interrupts off, the kernel lock held.
 */
struct timer {
	uint64_t t_tick, t_order;
	void (*t_fn)(void *arg);
	void *t_arg;
	struct cpu *t_cpu;                 /* NULL: not started */
	struct timer *t_child, *t_sibling; /* in t_cpu's heap */
	struct timer **t_link;             /* what points to it */
};

void timer_start(struct timer *t, uint64_t tick, void (*fn)(void *), void *arg);
/* Nothing happens if it has run or was never started. */
void timer_stop(struct timer *t);

typedef long long hrtime_t; /* ns; as in include/sys/types.h */

/*
 * Nanoseconds are bits 64 and up of (arch_tick() << ts_lift) * ts_mult: lifted
 * until one of its steps is a nanosecond or less, which the multiplier is in
 * 2^-64.  Counter pages have the same, so that a program's own reading of the
 * clock and the kernel's never disagree.
 */
struct tick_scale {
	uint64_t ts_mult, ts_lift;
};
extern struct tick_scale tick_scale;
/* Learn it; before the first use of any of these. */
void clock_init(void);

/* Since some moment before the kernel ran; never goes back. */
hrtime_t gethrtime(void);
hrtime_t tick_to_ns(uint64_t tick);
/* ~0 ("never") where ns is too far off. */
uint64_t ns_to_tick(hrtime_t ns);

#endif /* KERN_SCHED_TIMER_H */
