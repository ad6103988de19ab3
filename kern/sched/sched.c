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
 * turn.c has the second queue, lowest.c the lowest class.
 */
#include "kern/sched/sched.h"

#include <stddef.h>

#include "kern/arch.h"
#include "kern/proc/lwp.h"
#include "kern/proc/signal.h"
#include "kern/sched/counting.h"
#include "kern/sched/cpu.h"
#include "kern/sched/klock.h"
#include "kern/sched/lwpq.h"
#include "kern/sched/sched_impl.h"
#include "kern/sched/timer.h"
#include "kern/sched/xcall.h"

const struct counting_ops *counting;

/* The time an LWP may run while another waits for its CPU. */
#define SLICE_NS 4000000

struct spinlock klock;

/*
 * A slice is timed only while an LWP waits for the CPU: an LWP that is alone is
 * never interrupted.  A switch does not restart the timer, because that would
 * add a third to its cost (docs/design.md, "LWPs on CPUs").  If the timer fires
 * in another LWP than the one it was started for, that LWP gets a new slice.
 * So no LWP has the CPU for more than two slices.
 */

uint64_t
slice_ticks(void)
{
	static uint64_t ticks;

	if (ticks == 0)
		ticks = ns_to_tick(SLICE_NS);
	return ticks;
}

static void
slice_over(void *cpu)
{
	struct cpu *c = cpu;

	if (c->c_turn.tu_on)
		turn_expired(c);
	else if (c->c_lwp->l_tid != c->c_slice_of && sched_others_wait(c)) {
		slice_start(c, c->c_lwp, slice_ticks());
		return;
	}
	c->c_lwp->l_ast |= AST_YIELD;
}

void
slice_start(struct cpu *c, const struct lwp *l, uint64_t ticks)
{
	c->c_slice_of = l->l_tid;
	timer_start(&c->c_slice, arch_tick() + ticks, slice_over, c);
}

/* Preempt l: it is first in the run queue, and keeps the rest of its slice. */
static void
preempt_first(struct cpu *c, struct lwp *l)
{
	uint64_t now = arch_tick(), end = c->c_slice.t_tick;

	if (c->c_slice_of == l->l_tid) {
		c->c_turn.tu_cut = l->l_tid;
		c->c_turn.tu_cut_left = end > now ? end - now : 1;
	}
	lwpq_push_first(&c->c_runq, l);
}

/* Making LWPs ready */

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

/*
 * Choose a CPU for l: its last CPU if that is idle, else any idle CPU, else its
 * last CPU.  A new LWP without an idle CPU is placed by turns, so that the CPU
 * of its creator does not get them all.
 */
static inline struct cpu *
choose_cpu(const struct lwp *l)
{
	struct cpu *c;

	if (sched_nidle != 0) {
		if (cpuset_has(&sched_idle_cpus, l->l_cpu->c_id) &&
		    sched_may(l, l->l_cpu))
			return l->l_cpu;
		if ((c = sched_idle_for(l)) != NULL)
			return c;
	}
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
		sched_set_idle(c, false);
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
	if (l->l_lowest) {
		lowest_ready(l);
		return;
	}
	struct cpu *c = choose_cpu(l);
	enqueue_on(c, &c->c_runq, l, LWP_READY);
}

/* Queue l before the run queue.  at_once: also preempt the running LWP. */
static void
enqueue_woken(struct cpu *c, struct lwp *l, bool at_once)
{
	if (at_once && !c->c_turn.tu_on)
		c->c_lwp->l_ast |= AST_YIELD;
	enqueue_on(c, &c->c_woken, l, LWP_WOKEN);
}

void
sched_woken(struct lwp *l, bool at_once)
{
	if (l->l_lowest) {
		lowest_ready(l);
		return;
	}
	struct cpu *c = choose_cpu(l);
	/* If no other LWP waits, l is next in the run queue as well. */
	if ((at_once || sched_others_wait(c)) && c->c_lwp != c->c_idle &&
	    turn_allows(c))
		enqueue_woken(c, l, at_once);
	else
		enqueue_on(c, &c->c_runq, l, LWP_READY);
}

void
sched_promote(struct lwp *l)
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
	if (c->c_lwp == c->c_idle || (!woken && !turn_allows(c)))
		return;
	lwpq_remove(woken ? &c->c_woken : &c->c_runq, l);
	enqueue_woken(c, l, true);
}

void
ipi_intr(unsigned)
{
	struct cpu *c = arch_curcpu();

	/* Work is found by the idle LWP, or in trap_return(). */
	if (klock_wanted)
		kernel_lock_yield();
	if (c->c_lwp != c->c_idle &&
	    (sched_others_wait(c) ||
		(c->c_lwp->l_lowest && c->c_lowest.q_first != NULL)))
		slice_time(c, c->c_lwp);
}

/* Switching */

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
	c->c_zombie = NULL;
	if (entry_watch != NULL) {
		entry_watch->switched();
		c->c_zombie = entry_watch->left;
		if (left == c->c_zombie)
			return;
	}
	lwp_gone(left);
}

void
sched_arrive(void)
{
	struct cpu *c = arch_curcpu();
	struct lwp *left = c->c_zombie;

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

	from->l_ast &= ~AST_YIELD;
	to = turn_due(c) ? turn_next(c) : runq_next(c);
	if (to == NULL)
		to = lowest_next(c);
	to->l_state = LWP_RUNNING;
	if (to == from)
		return;
	if (accounts)
		account(c, from);
	c->c_lwp = to;
	counting_switch_out(from);
	if (from->l_state == LWP_ZOMBIE)
		c->c_zombie = from;
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
 * idle CPU, it goes there.  Inlined: a switch on x86 takes 372 instructions,
 * not 377.
 */
static inline __attribute__((always_inline)) void
yield_to_others(struct lwp *l, struct cpu *c, bool is_cut)
{
	if (!sched_may(l, c)) {
		go_elsewhere(l);
		return;
	}
	if (l->l_lowest) {
		lowest_yield(l, c);
		return;
	}
	if (c->c_runq.q_first == NULL && !turn_due(c)) {
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

	yield_to_others(l, c,
	    c->c_woken.q_first != NULL && !c->c_turn.tu_on &&
		c->c_slice.t_cpu != NULL);
}
