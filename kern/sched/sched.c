/*
 * Who runs next on a CPU, and for how long.
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

/* How long an LWP runs while another waits for its CPU. */
#define SLICE_NS 4000000
/* What a turn of those woken takes of their credit at least, of a slice. */
#define PRICE(slice) ((slice) / 16)

struct spinlock klock;

/*
 * A slice is timed only while an LWP waits for the CPU: alone, an LWP is
 * never interrupted.  The timer runs on over a switch, a third of which it
 * would cost to start it anew (docs/design.md, "LWPs on CPUs"): when it fires,
 * an LWP other than the one it was started for gets a slice of its own, so
 * that nobody has the CPU for longer than two.
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

/* Unless one runs, l has a slice from now on. */
static inline void
slice_time(struct cpu *c, const struct lwp *l)
{
	if (c->c_slice.t_cpu == NULL)
		slice_start(c, l, slice_ticks());
}

/*
 * Who has slept goes before those that wait for their next slice, and if it
 * was a time or a signal that ended the sleep, at once: the LWP that runs is
 * cut, and goes on with the rest of its slice behind those woken.
 *
 * Woken LWPs could wake each other for ever.  So a CPU's have a credit
 * between them, a slice S at most; they spend it as they run in a turn of
 * theirs, and all other time adds to it.  Of any time T they have in their
 * turns no more than S + (T - what they have), which leaves (T - S) / 2 or
 * more to the others.  Where it is spent, those woken are like all others.
 *
 * A short turn is not the cheapest: of the switches to it and back the others
 * have nothing.  So a turn has its price, and is only for who can pay: between
 * turns the others have as long on average, in which a slow emulator, at 64 ns
 * an instruction, retires 3,900, three times those of the way there and back.
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

/* Those that were woken wait like all others, from now on. */
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

/* l, which runs, is to go on when those woken have had their turn. */
static void
cut(struct cpu *c, struct lwp *l)
{
	uint64_t now = arch_tick(), end = c->c_slice.t_tick;

	c->c_cut = l;
	c->c_cut_ticks = slice_ticks();
	if (c->c_slice_of == l)
		c->c_cut_ticks = end > now ? end - now : 0;
	lwpq_push_first(&c->c_runq, l);
}

/* Who runs next, and is timed where others wait. */
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

/* No LWP was woken but l, or NULL, for which nobody waits: it is no turn. */
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

/* The same where LWPs were woken.  Apart, so that the usual way is short. */
static __attribute__((noinline)) struct lwp *
next_hurried(struct cpu *c)
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
 * Making LWPs ready
 */

/* Each of the CPUs that l may run on in turn. */
static __attribute__((noinline)) struct cpu *
in_turn(const struct lwp *l)
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

static __attribute__((noinline)) struct cpu *
place_idle(const struct lwp *l)
{
	if (cpuset_has(&sched_idle_cpus, l->l_cpu->c_id) &&
	    sched_may(l, l->l_cpu))
		return l->l_cpu;
	return sched_idle_for(l);
}

/*
 * Where it best runs: where it ran last if that CPU has nothing to do, else
 * where nothing is to be done.  Where there is no such CPU it stays, or, not
 * to join all others of its creator's, is one of those for each in turn.
 */
static inline struct cpu *
place(const struct lwp *l)
{
	struct cpu *c;

	if (sched_nidle != 0 && (c = place_idle(l)) != NULL)
		return c;
	return l->l_state != LWP_NEW && sched_may(l, l->l_cpu) ? l->l_cpu
	                                                       : in_turn(l);
}

static inline void
enqueue(struct cpu *c, struct lwpq *q, struct lwp *l, enum lwp_state state)
{
	l->l_cpu = c;
	l->l_state = state;
	lwpq_push(q, l);
	if (sched_nidle != 0)
		sched_has_work(c);
	if (c != arch_curcpu())
		arch_ipi(c, IPI_RESCHED);
	else if (c->c_lwp != c->c_idle)
		slice_time(c, c->c_lwp);
}

void
sched_ready(struct lwp *l)
{
	struct cpu *c = place(l);

	enqueue(c, &c->c_runq, l, LWP_READY);
}

static __attribute__((noinline)) bool
has_credit(struct cpu *c)
{
	credit_settle(c);
	return c->c_credit >= PRICE(slice_ticks());
}

/* Before those that wait, and perhaps who runs. */
static __attribute__((noinline)) void
enqueue_woken(struct cpu *c, struct lwp *l, bool at_once)
{
	c->c_hurry = true;
	if (at_once && !c->c_turn)
		c->c_lwp->l_ast |= AST_YIELD;
	enqueue(c, &c->c_woken, l, LWP_WOKEN);
}

void
sched_woken(struct lwp *l, bool at_once)
{
	struct cpu *c = place(l);

	/* Where nobody waits it is first anyway. */
	if ((at_once || sched_others_wait(c)) && c->c_lwp != c->c_idle &&
	    has_credit(c))
		enqueue_woken(c, l, at_once);
	else
		enqueue(c, &c->c_runq, l, LWP_READY);
}

void
sched_hurry(struct lwp *l)
{
	struct cpu *c = l->l_cpu;
	bool woken = l->l_state == LWP_WOKEN;

	/* A CPU on its way out of its idle loop takes it at once. */
	if (c->c_lwp == c->c_idle || (!woken && !has_credit(c)))
		return;
	lwpq_remove(woken ? &c->c_woken : &c->c_runq, l);
	enqueue_woken(c, l, true);
}

void
ipi_intr(unsigned why)
{
	struct cpu *c = arch_curcpu();

	/* The idle LWP looks for itself, and trap_return() for the others. */
	(void)why;
	if (sched_others_wait(c) && c->c_lwp != c->c_idle)
		slice_time(c, c->c_lwp);
}

/*
 * Switching
 */

static __attribute__((noinline)) void
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
	to = c->c_hurry ? next_hurried(c) : next_ready(c);
	if (to == NULL)
		to = c->c_idle;
	to->l_state = LWP_RUNNING;
	if (to == from)
		return;
	c->c_lwp = to;
	if (from->l_cpc != NULL &&
	    (overflowed = counting->save(from->l_cpc)) != 0)
		counting->overflow(from->l_cpc, overflowed);
	if (from->l_state == LWP_ZOMBIE)
		c->c_left = from;
	arch_lwp_switch(from, to);
	sched_arrive(); /* from runs again, perhaps on another CPU */
}

/* Apart: what calls it last needs no frame of its own. */
static __attribute__((noinline)) void
go_elsewhere(struct lwp *l)
{
	sched_ready(l);
	sched_switch();
}

/*
 * l goes behind the others; or, if it must not stay or may go where nothing
 * is to be done, there.
 */
static inline void
give_way(struct lwp *l, struct cpu *c, bool is_cut)
{
	if (!sched_may(l, c)) {
		go_elsewhere(l);
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
		cut(c, l);
	else
		lwpq_push(&c->c_runq, l);
	sched_switch();
}

void
sched_yield(void)
{
	struct lwp *l = lwp_self();

	give_way(l, l->l_cpu, false);
}

/* A slice's timer that has fired says that it has ended. */
void
sched_preempt(void)
{
	struct lwp *l = lwp_self();
	struct cpu *c = l->l_cpu;

	give_way(l, c, c->c_hurry && !c->c_turn && c->c_slice.t_cpu != NULL);
}
