/* One-shot timers and the clock.  Included by kern/. */
#pragma once

#include <stdint.h>

struct cpu;

/*
 * fn(arg) runs once arch_tick() >= t_tick, on the CPU that started the timer,
 * in its timer interrupt: with interrupts off and the kernel lock held.
 */
struct timer {
	uint64_t t_tick, t_order;
	void (*t_fn)(void *arg);
	void *t_arg;
	struct cpu *t_cpu;                 /* NULL: not started */
	struct timer *t_child, *t_sibling; /* in t_cpu's heap */
	struct timer **t_link;             /* the pointer to this timer */
};

void timer_start(struct timer *t, uint64_t tick, void (*fn)(void *), void *arg);
/* Has no effect if the timer has run or was never started. */
void timer_stop(struct timer *t);

typedef long long hrtime_t; /* ns; as in include/sys/types.h */
#define NS_PER_S 1000000000LL

/*
 * A time in nanoseconds is `(arch_tick() << ts_lift) * ts_mult`, bits 64 and
 * up. The field ts_lift makes a step of the lifted tick at most 1 ns.  The
 * field ts_mult is that step in units of 2^-64 ns.  Counter pages hold the same
 * numbers, so the clock of a program and the kernel's always agree.
 */
struct tick_scale {
	uint64_t ts_mult, ts_lift;
};
extern struct tick_scale tick_scale;
/* Compute tick_scale.  Call it before the functions below. */
void clock_init(void);

/* Nanoseconds since some moment before boot; never decreases. */
hrtime_t gethrtime(void);
hrtime_t tick_to_ns(uint64_t tick);
/* Returns ~0, which means never, if ns is too large. */
uint64_t ns_to_tick(hrtime_t ns);

/*
 * No timer of this CPU runs for the next ns, unless one is started that comes
 * first.  0: those that are due run at once.
 */
void timer_postpone(hrtime_t ns);
