#include "kern/timer.h"

#include "kern/arch.h"
#include "kern/cpu.h"
#include "kern/lock.h"

#define NS_PER_S 1000000000ULL

static void
program_next(struct cpu *c)
{
	arch_timer_set(c->c_timers != NULL ? c->c_timers->t_tick : ~0ULL);
}

void
timer_start(struct timer *t, uint64_t tick, void (*fn)(void *), void *arg)
{
	struct cpu *c = arch_curcpu();
	struct timer **link;

	timer_stop(t);
	*t = (struct timer){ tick, fn, arg, NULL, c };
	lock_acquire(&c->c_timer_lock);
	for (link = &c->c_timers; *link != NULL && (*link)->t_tick <= tick;)
		link = &(*link)->t_next;
	t->t_next = *link;
	*link = t;
	program_next(c);
	lock_release(&c->c_timer_lock);
}

void
timer_stop(struct timer *t)
{
	struct cpu *c = t->t_cpu;
	struct timer **link;

	if (c == NULL)
		return;
	lock_acquire(&c->c_timer_lock);
	for (link = &c->c_timers; *link != NULL && *link != t;)
		link = &(*link)->t_next;
	if (*link == t)
		*link = t->t_next;
	t->t_cpu = NULL;
	/* Another CPU's is left to fire; it will find nothing due. */
	if (c == arch_curcpu())
		program_next(c);
	lock_release(&c->c_timer_lock);
}

void
timer_intr(void)
{
	struct cpu *c = arch_curcpu();
	struct timer *t;

	lock_acquire(&c->c_timer_lock);
	while ((t = c->c_timers) != NULL && t->t_tick <= arch_tick()) {
		c->c_timers = t->t_next;
		t->t_cpu = NULL;
		lock_release(&c->c_timer_lock);
		t->t_fn(t->t_arg);
		lock_acquire(&c->c_timer_lock);
	}
	program_next(c);
	lock_release(&c->c_timer_lock);
}

struct tick_scale tick_scale;

void
clock_init(void)
{
	uint64_t hz = arch_tick_hz(), quotient = 0, rest = NS_PER_S;

	while (hz >> 63 == 0 && hz <= NS_PER_S) {
		hz <<= 1;
		tick_scale.ts_lift++;
	}
	/* 2^64 * NS_PER_S / hz, rounded up, bit by bit. */
	for (unsigned i = 0; i < 64; i++) {
		rest <<= 1;
		quotient = quotient << 1 | (rest >= hz);
		if (rest >= hz)
			rest -= hz;
	}
	tick_scale.ts_mult = quotient + (rest != 0);
}

hrtime_t
tick_to_ns(uint64_t tick)
{
	unsigned __int128 lifted = tick << tick_scale.ts_lift;

	return (hrtime_t)(lifted * tick_scale.ts_mult >> 64);
}

/* a * mul / div where the product may exceed 64 bits, the result not. */
static uint64_t
scale(uint64_t a, uint64_t mul, uint64_t div)
{
	return a / div * mul + a % div * mul / div;
}

uint64_t
ns_to_tick(hrtime_t ns)
{
	uint64_t hz = arch_tick_hz();

	if (ns < 0)
		return 0;
	if ((uint64_t)ns / NS_PER_S >= ~0ULL / hz)
		return ~0ULL;
	return scale((uint64_t)ns, hz, NS_PER_S);
}

hrtime_t
gethrtime(void)
{
	return tick_to_ns(arch_tick());
}
