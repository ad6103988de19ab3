/*
 * One-shot timers and the clock.
 *
 * The timers of a CPU form a pairing heap: each comes before its children, and
 * the root is the first to expire.  Starting a timer costs one comparison.
 * Removing one costs the logarithm of their number on average.  No memory is
 * allocated.
 *
 * Fredman, Sedgewick, Sleator, Tarjan, "The Pairing Heap: A New Form of
 * Self-Adjusting Heap" (Algorithmica 1, 1986).
 */
#include "kern/sched/timer.h"

#include <stddef.h>

#include "kern/arch.h"
#include "kern/sched/cpu.h"

/* Timers due at the same tick run in the order they were started. */
static bool
is_before(const struct timer *a, const struct timer *b)
{
	return a->t_tick != b->t_tick ? a->t_tick < b->t_tick
	                              : a->t_order < b->t_order;
}

/* Merge two heaps, neither empty.  The caller sets t_link of the root. */
static struct timer *
merge_heaps(struct timer *a, struct timer *b)
{
	if (is_before(b, a)) {
		struct timer *swap = a;

		a = b;
		b = swap;
	}
	b->t_sibling = a->t_child;
	if (b->t_sibling != NULL)
		b->t_sibling->t_link = &b->t_sibling;
	b->t_link = &a->t_child;
	a->t_child = b;
	return a;
}

/* Merge the children of t, which is to be removed: in pairs, then all. */
static struct timer *
merge_children(struct timer *t)
{
	struct timer *pairs = NULL, *a, *b, *root = NULL;

	while ((a = t->t_child) != NULL) {
		b = a->t_sibling;
		t->t_child = b != NULL ? b->t_sibling : NULL;
		if (b != NULL)
			a = merge_heaps(a, b);
		a->t_sibling = pairs;
		pairs = a;
	}
	while ((a = pairs) != NULL) {
		pairs = a->t_sibling;
		root = root != NULL ? merge_heaps(root, a) : a;
	}
	return root;
}

static void
set_root(struct cpu *c, struct timer *t)
{
	c->c_timers = t;
	if (t != NULL) {
		t->t_link = &c->c_timers;
		t->t_sibling = NULL;
	}
}

static void
take_out(struct cpu *c, struct timer *t)
{
	struct timer *rest = merge_children(t);

	t->t_cpu = NULL;
	if (c->c_timers == t) {
		set_root(c, rest);
		return;
	}
	*t->t_link = t->t_sibling;
	if (t->t_sibling != NULL)
		t->t_sibling->t_link = t->t_link;
	if (rest != NULL)
		set_root(c, merge_heaps(c->c_timers, rest));
}

static void
program_first(struct cpu *c)
{
	arch_timer_set(c->c_timers != NULL ? c->c_timers->t_tick : ~0ULL);
}

void
timer_start(struct timer *t, uint64_t tick, void (*fn)(void *), void *arg)
{
	struct cpu *c = arch_curcpu();

	timer_stop(t);
	*t = (struct timer){ tick, c->c_timer_order++, fn, arg, c, NULL, NULL,
		NULL };
	set_root(c, c->c_timers != NULL ? merge_heaps(c->c_timers, t) : t);
	if (c->c_timers == t)
		program_first(c);
}

void
timer_stop(struct timer *t)
{
	struct cpu *c = t->t_cpu;

	if (c == NULL)
		return;
	bool first = c->c_timers == t;
	take_out(c, t);
	/* Another CPU's timer may fire: timer_intr() then finds none due. */
	if (first && c == arch_curcpu())
		program_first(c);
}

void
timer_intr(void)
{
	struct cpu *c = arch_curcpu();
	struct timer *t;

	while ((t = c->c_timers) != NULL && t->t_tick <= arch_tick()) {
		take_out(c, t);
		t->t_fn(t->t_arg);
	}
	program_first(c);
}

void
timer_postpone(hrtime_t ns)
{
	const struct timer *first = arch_curcpu()->c_timers;
	uint64_t until = arch_tick() + ns_to_tick(ns);

	if (first == NULL)
		arch_timer_set(~0ULL);
	else
		arch_timer_set(first->t_tick < until ? until : first->t_tick);
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
	/* 2^64 * NS_PER_S / hz, rounded up, computed bit by bit. */
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

uint64_t
ns_to_tick(hrtime_t ns)
{
	uint64_t hz = arch_tick_hz();

	if (ns < 0)
		return 0;
	if ((uint64_t)ns / NS_PER_S >= ~0ULL / hz)
		return ~0ULL;
	/* ns * hz may exceed 64 bits, the result does not. */
	return (uint64_t)(ns / NS_PER_S) * hz +
	       (uint64_t)(ns % NS_PER_S) * hz / NS_PER_S;
}

hrtime_t
gethrtime(void)
{
	return tick_to_ns(arch_tick());
}
