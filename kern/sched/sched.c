/*
 * Chooses the LWP that runs next on a CPU, and for how long.  The rule:
 *
 * 1. A ready LWP queues at an idle CPU or else where it last ran, and a CPU
 *    without work takes a waiting LWP from another.
 * 2. The LWPs of a CPU's run queue run in turn, each for a slice of 4 ms, which
 *    is timed only while another LWP waits.
 * 3. An LWP that wakes up goes to a second queue, which runs before the first.
 * 4. If a timeout or a signal woke it, it also preempts the running LWP, which
 *    later resumes the rest of its slice.
 * 5. An LWP of the lowest class (priocntl(2)) runs only while no other LWP is
 *    ready.  Its CPU counts as idle, and it yields as soon as work arrives.
 * 6. Time in the second queue is paid from the CPU's credit, which other time
 *    refills; without credit a woken LWP queues like all others.
 *
 * A form without credit, turns and the rest of a slice was tried.  It is 125
 * lines shorter, and a switch costs the same (274 instructions, 273 now).  But
 * woken LWPs starved the others by UEFI under QEMU, at 64 ns an instruction.
 * Next to an LWP that sleeps 1 us at a time, a spinner got 3 % of its CPU (66 %
 * now).  Next to a pair that wakes each other it got 18 % (49 % now).  So two
 * tests of tests/image/sched/sched_wake.c failed, and cpc_storm did not end in
 * 120 s (13 s now).
 */
#include "kern/sched/sched.h"

#include <stddef.h>

#include "kern/arch.h"
#include "kern/proc/lwp.h"
#include "kern/proc/signal.h"
#include "kern/sched/counting.h"
#include "kern/sched/cpu.h"
#include "kern/sched/entry_watch.h"
#include "kern/sched/klock.h"
#include "kern/sched/lwpq.h"
#include "kern/sched/sched_impl.h"
#include "kern/sched/timer.h"
#include "lib/printf.h"

const struct counting_ops *counting;

/* The time an LWP may run while another waits for its CPU. */
#define SLICE_NS 4000000
/* The credit that each turn of the woken LWPs costs at least. */
#define PRICE(slice) ((slice) / 16)

struct spinlock klock;

/*
 * A slice is timed only while an LWP waits for the CPU: an LWP that is alone is
 * never interrupted.  A switch does not restart the timer, because that would
 * add a third to its cost (docs/design.md, "LWPs on CPUs").  If the timer fires
 * in another LWP than the one it was started for, that LWP gets a new slice.
 * So no LWP has the CPU for more than two slices.
 */

static uint64_t
slice_ticks(void)
{
	static uint64_t ticks;

	if (ticks == 0)
		ticks = ns_to_tick(SLICE_NS);
	return ticks;
}

static void slice_over(void *cpu);

static void
slice_start(struct cpu *c, const struct lwp *l, uint64_t ticks)
{
	c->c_slice_of = l;
	timer_start(&c->c_slice, arch_tick() + ticks, slice_over, c);
}

/* Start a slice for l, unless one is already being timed. */
static inline void
slice_time(struct cpu *c, const struct lwp *l)
{
	if (c->c_slice.t_cpu == NULL)
		slice_start(c, l, slice_ticks());
}

/*
 * The credit of woken LWPs
 *
 * Woken LWPs could wake each other for ever, and starve the run queue.  So the
 * woken LWPs of a CPU share a credit of at most one slice S.  A turn is a time
 * in which they run one after the other.  Turns use up the credit, all other
 * time adds to it.  In any time T, turns get at most S + (T - turns), so the
 * run queue gets at least (T - S) / 2.
 *
 * A turn also costs two switches, which the run queue does not gain.  So a turn
 * costs at least PRICE, and starts only if the credit covers that.  Between
 * turns the run queue then runs for PRICE on average.  Even on an emulator with
 * 64 ns an instruction this is 3,900 instructions, three times the switches.
 */

static void
credit_settle(struct cpu *c)
{
	uint64_t now = arch_tick(), passed = now - c->c_credit_tick;
	uint64_t spent = passed < c->c_credit ? passed : c->c_credit;
	uint64_t room = slice_ticks() - c->c_credit;

	c->c_credit_tick = now;
	if (c->c_turn)
		c->c_credit -= spent;
	else
		c->c_credit += passed < room ? passed : room;
}

/* End a turn: the LWPs still in the woken queue go to the run queue. */
static void
turn_over(struct cpu *c)
{
	struct lwp *l;

	while ((l = lwpq_pop(&c->c_woken)) != NULL) {
		l->l_state = LWP_READY;
		lwpq_push(&c->c_runq, l);
	}
}

static void
slice_over(void *cpu)
{
	struct cpu *c = cpu;

	if (c->c_turn)
		turn_over(c);
	else if (c->c_lwp != c->c_slice_of && sched_others_wait(c)) {
		slice_start(c, c->c_lwp, slice_ticks());
		return;
	}
	c->c_lwp->l_ast |= AST_YIELD;
}

/* Preempt l: it is first in the run queue, and keeps the rest of its slice. */
static void
preempt_first(struct cpu *c, struct lwp *l)
{
	uint64_t now = arch_tick(), end = c->c_slice.t_tick;

	c->c_cut = l;
	c->c_cut_ticks = slice_ticks();
	if (c->c_slice_of == l)
		c->c_cut_ticks = end > now ? end - now : 0;
	lwpq_push_first(&c->c_runq, l);
}

/* Take the next LWP of the run queue.  Time it if others wait, too. */
static inline struct lwp *
next_ready(struct cpu *c)
{
	struct lwp *l = lwpq_pop(&c->c_runq);

	if (c->c_runq.q_first != NULL)
		slice_time(c, l);
	else if (c->c_slice.t_cpu != NULL)
		timer_stop(&c->c_slice);
	return l;
}

/*
 * The same when the woken queue is empty, or its only LWP l has no competitor:
 * end the turn, if there is one.
 */
static struct lwp *
next_after_turn(struct cpu *c, struct lwp *l)
{
	struct lwp *first = c->c_runq.q_first;

	if (c->c_turn) {
		timer_stop(&c->c_slice);
		if (c->c_credit > c->c_credit_left)
			c->c_credit = c->c_credit_left;
	}
	c->c_turn = c->c_hurry = false;
	if (l != NULL)
		lwpq_push(&c->c_runq, l);
	else if (first != NULL && first == c->c_cut && first->l_next != NULL)
		slice_start(c, first, c->c_cut_ticks);
	c->c_cut = NULL;
	return next_ready(c);
}

/* The same when LWPs woke up.  noinline saves 6 instructions of 279 on x86. */
static __attribute__((noinline)) struct lwp *
next_woken(struct cpu *c)
{
	struct lwp *l = lwpq_pop(&c->c_woken);
	bool alone = !sched_others_wait(c);

	if (c->c_turn || !alone)
		credit_settle(c);
	if (l == NULL || alone)
		return next_after_turn(c, l);
	if (!c->c_turn) {
		slice_start(c, l, c->c_credit);
		c->c_credit_left = c->c_credit - PRICE(slice_ticks());
	}
	c->c_turn = true;
	return l;
}

/*
 * The lowest class
 */

/* Nothing is ready for c: an LWP of the lowest class runs, or the idle LWP. */
static struct lwp *
next_lowest(struct cpu *c)
{
	struct lwp *l;

	if (c->c_lowest.q_first == NULL)
		return c->c_idle;
	if (c->c_active && sched_steal(c)) {
		sched_has_work(c);
		return next_ready(c);
	}
	l = lwpq_pop(&c->c_lowest);
	if (c->c_active)
		sched_is_idle(c);
	if (c->c_lowest.q_first != NULL)
		slice_time(c, l);
	return l;
}

static struct cpu *
cpu_for_lowest(const struct lwp *l)
{
	struct cpu *c;

	for (c = cpus; c < cpus + ncpu; c++) {
		if (c->c_lwp == c->c_idle && sched_may(l, c))
			return c;
	}
	for (c = cpus; c < cpus + ncpu && !sched_may(l, l->l_cpu); c++) {
		if (sched_may(l, c))
			return c;
	}
	return l->l_cpu;
}

static void
ready_lowest(struct lwp *l)
{
	struct cpu *c = cpu_for_lowest(l);

	l->l_cpu = c;
	l->l_state = LWP_READY_LOWEST;
	lwpq_push(&c->c_lowest, l);
	if (c != arch_curcpu())
		arch_ipi(c, IPI_RESCHED);
	else if (c->c_lwp->l_lowest && c->c_lwp != l)
		slice_time(c, c->c_lwp);
}

static void
yield_lowest(struct lwp *l, const struct cpu *c)
{
	l->l_ast &= ~AST_YIELD;
	if (!sched_others_wait(c) && c->c_lowest.q_first == NULL)
		return;
	ready_lowest(l);
	sched_switch();
}

void
sched_set_lowest(struct lwp *l, bool lowest)
{
	if (l->l_lowest == lowest)
		return;
	l->l_lowest = lowest;
	if (l->l_state == LWP_RUNNING) {
		l->l_ast |= AST_YIELD;
		if (l->l_cpu != arch_curcpu())
			arch_ipi(l->l_cpu, IPI_RESCHED);
	} else if (sched_queue_of(l) != NULL) {
		lwpq_remove(sched_queue_of(l), l);
		sched_ready(l);
	}
}

/*
 * Making LWPs ready
 */

/* The CPUs that l may run on, one after the other from call to call. */
static struct cpu *
next_cpu_in_turn(const struct lwp *l)
{
	static unsigned last;

	for (unsigned i = 1; i < ncpu; i++) {
		unsigned cpu = (last + i) % ncpu;

		if (sched_may(l, &cpus[cpu])) {
			last = cpu;
			break;
		}
	}
	return &cpus[last];
}

static struct cpu *
place_idle(const struct lwp *l)
{
	if (cpuset_has(&sched_idle_cpus, l->l_cpu->c_id) &&
	    sched_may(l, l->l_cpu))
		return l->l_cpu;
	return sched_idle_for(l);
}

/*
 * Choose a CPU for l: its last CPU if that is idle, else any idle CPU, else its
 * last CPU.  A new LWP without an idle CPU is placed by turns, so that the CPU
 * of its creator does not get them all.
 */
static inline struct cpu *
choose_cpu(const struct lwp *l)
{
	struct cpu *c;

	if (sched_nidle != 0 && (c = place_idle(l)) != NULL)
		return c;
	return l->l_state != LWP_NEW && sched_may(l, l->l_cpu)
	           ? l->l_cpu
	           : next_cpu_in_turn(l);
}

static inline void
enqueue_on(struct cpu *c, struct lwpq *q, struct lwp *l, enum lwp_state state)
{
	l->l_cpu = c;
	l->l_state = state;
	lwpq_push(q, l);
	if (sched_nidle != 0)
		sched_has_work(c);
	if (c->c_lwp->l_lowest)
		c->c_lwp->l_ast |= AST_YIELD;
	if (c != arch_curcpu())
		arch_ipi(c, IPI_RESCHED);
	else if (c->c_lwp != c->c_idle)
		slice_time(c, c->c_lwp);
}

void
sched_ready(struct lwp *l)
{
	struct cpu *c;

	if (l->l_lowest) {
		ready_lowest(l);
		return;
	}
	c = choose_cpu(l);
	enqueue_on(c, &c->c_runq, l, LWP_READY);
}

static bool
has_credit(struct cpu *c)
{
	credit_settle(c);
	return c->c_credit >= PRICE(slice_ticks());
}

/* Queue l before the run queue.  at_once: also preempt the running LWP. */
static void
enqueue_woken(struct cpu *c, struct lwp *l, bool at_once)
{
	c->c_hurry = true;
	if (at_once && !c->c_turn)
		c->c_lwp->l_ast |= AST_YIELD;
	enqueue_on(c, &c->c_woken, l, LWP_WOKEN);
}

void
sched_woken(struct lwp *l, bool at_once)
{
	struct cpu *c;

	if (l->l_lowest) {
		ready_lowest(l);
		return;
	}
	c = choose_cpu(l);
	/* If no other LWP waits, l is next in the run queue as well. */
	if ((at_once || sched_others_wait(c)) && c->c_lwp != c->c_idle &&
	    has_credit(c))
		enqueue_woken(c, l, at_once);
	else
		enqueue_on(c, &c->c_runq, l, LWP_READY);
}

void
sched_hurry(struct lwp *l)
{
	struct cpu *c = l->l_cpu;
	bool woken = l->l_state == LWP_WOKEN;

	/* It takes its signal, and yields then. */
	if (l->l_state == LWP_READY_LOWEST) {
		lwpq_remove(&c->c_lowest, l);
		enqueue_on(c, &c->c_runq, l, LWP_READY);
		return;
	}

	/* A CPU that leaves its idle loop takes it at once. */
	if (c->c_lwp == c->c_idle || (!woken && !has_credit(c)))
		return;
	lwpq_remove(woken ? &c->c_woken : &c->c_runq, l);
	enqueue_woken(c, l, true);
}

void
ipi_intr(unsigned why)
{
	struct cpu *c = arch_curcpu();

	/* Work is found by the idle LWP, or in trap_return(). */
	(void)why;
	if (klock_wanted)
		kernel_lock_yield();
	if (c->c_lwp != c->c_idle &&
	    (sched_others_wait(c) ||
		(c->c_lwp->l_lowest && c->c_lowest.q_first != NULL)))
		slice_time(c, c->c_lwp);
}

/*
 * Switching
 */

static bool accounts; /* sched_account() */

static void
account(struct cpu *c, struct lwp *l)
{
	uint64_t now = arch_tick();

	l->l_ran += now - c->c_since;
	c->c_since = now;
}

void
sched_account(bool on)
{
	for (unsigned i = 0; i < ncpu && on; i++)
		cpus[i].c_since = arch_tick();
	accounts = on;
}

uint64_t
sched_ran(const struct lwp *l)
{
	const struct cpu *c = l->l_cpu;

	if (!accounts || c->c_lwp != l)
		return l->l_ran;
	return l->l_ran + arch_tick() - c->c_since;
}

static void
has_left(struct cpu *c, struct lwp *left)
{
	c->c_left = NULL;
	if (entry_watch != NULL) {
		entry_watch->switched();
		c->c_left = entry_watch->left;
		if (left == c->c_left)
			return;
	}
	lwp_gone(left);
}

void
sched_arrive(void)
{
	struct cpu *c = arch_curcpu();
	struct lwp *left = c->c_left;

	if (left != NULL)
		has_left(c, left);
	if (c->c_lwp->l_cpc != NULL)
		counting->restore(c->c_lwp->l_cpc);
}

void
sched_switch(void)
{
	struct cpu *c = arch_curcpu();
	struct lwp *from = c->c_lwp, *to;
	uint64_t overflowed;

	from->l_ast &= ~AST_YIELD;
	to = c->c_hurry ? next_woken(c) : next_ready(c);
	if (to == NULL)
		to = next_lowest(c);
	to->l_state = LWP_RUNNING;
	if (to == from)
		return;
	if (accounts)
		account(c, from);
	c->c_lwp = to;
	if (from->l_cpc != NULL &&
	    (overflowed = counting->save(from->l_cpc)) != 0)
		counting->overflow(from->l_cpc, overflowed);
	if (from->l_state == LWP_ZOMBIE)
		c->c_left = from;
	arch_lwp_switch(from, to);
	sched_arrive(); /* `from` runs again, perhaps on another CPU */
}

/*
 * noinline: its callers can end in a jump to it, without a stack frame.  A
 * switch on x86 then takes 273 instructions, not 293.
 */
static __attribute__((noinline)) void
go_elsewhere(struct lwp *l)
{
	sched_ready(l);
	sched_switch();
}

/*
 * Queue l after the others and switch.  If it may not stay, or may run on an
 * idle CPU, it goes there.
 */
static inline void
yield_to_others(struct lwp *l, struct cpu *c, bool is_cut)
{
	if (!sched_may(l, c)) {
		go_elsewhere(l);
		return;
	}
	if (l->l_lowest) {
		yield_lowest(l, c);
		return;
	}
	if (c->c_runq.q_first == NULL && !c->c_hurry) {
		l->l_ast &= ~AST_YIELD;
		return;
	}
	if (sched_nidle != 0 && sched_idle_for(l) != NULL) {
		go_elsewhere(l);
		return;
	}
	l->l_state = LWP_READY;
	if (is_cut)
		preempt_first(c, l);
	else
		lwpq_push(&c->c_runq, l);
	sched_switch();
}

void
sched_yield(void)
{
	struct lwp *l = lwp_self();

	yield_to_others(l, l->l_cpu, false);
}

/* The slice has not ended while its timer still runs: l is only preempted. */
void
sched_preempt(void)
{
	struct lwp *l = lwp_self();
	struct cpu *c = l->l_cpu;

	yield_to_others(
	    l, c, c->c_hurry && !c->c_turn && c->c_slice.t_cpu != NULL);
}
