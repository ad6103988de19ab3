/*
 * Turns of woken LWPs: which of them runs next on a CPU, and for how long.
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
#include "kern/sched/sched_impl.h"

#include <stddef.h>

#include "kern/arch.h"
#include "kern/proc/lwp.h"
#include "kern/sched/cpu.h"
#include "kern/sched/lwpq.h"
#include "kern/sched/timer.h"

/* The credit that each turn costs at least. */
#define PRICE(slice) ((slice) / 16)

static void
credit_settle(struct turn *tn)
{
	uint64_t now = arch_tick(), passed = now - tn->tu_tick;
	uint64_t spent = passed < tn->tu_credit ? passed : tn->tu_credit;
	uint64_t room = slice_ticks() - tn->tu_credit;

	tn->tu_tick = now;
	if (tn->tu_on)
		tn->tu_credit -= spent;
	else
		tn->tu_credit += passed < room ? passed : room;
}

bool
turn_allows(struct cpu *c)
{
	credit_settle(&c->c_turn);
	return c->c_turn.tu_credit >= PRICE(slice_ticks());
}

/* The LWPs still in the woken queue go to the run queue. */
void
turn_expired(struct cpu *c)
{
	struct lwp *l;

	while ((l = lwpq_pop(&c->c_woken)) != NULL) {
		l->l_state = LWP_READY;
		lwpq_push(&c->c_runq, l);
	}
}

/*
 * The next LWP when the woken queue is empty, or its only LWP l has no
 * competitor: end the turn, if there is one.
 */
static struct lwp *
next_after_turn(struct cpu *c, struct lwp *l)
{
	struct turn *tn = &c->c_turn;
	const struct lwp *first = c->c_runq.q_first;

	if (tn->tu_on) {
		timer_stop(&c->c_slice);
		if (tn->tu_credit > tn->tu_credit_after)
			tn->tu_credit = tn->tu_credit_after;
		/* If no other LWP waits, runq_next() stops it. */
		if (tn->tu_cut != 0 && first != NULL &&
		    tn->tu_cut == first->l_tid)
			slice_start(c, first, tn->tu_cut_left);
		tn->tu_cut = 0;
	}
	tn->tu_on = false;
	if (l != NULL)
		lwpq_push(&c->c_runq, l);
	return runq_next(c);
}

struct lwp *
turn_next(struct cpu *c)
{
	struct lwp *l = lwpq_pop(&c->c_woken);
	bool alone = !sched_others_wait(c);
	struct turn *tn = &c->c_turn;

	if (tn->tu_on || !alone)
		credit_settle(tn);
	if (l == NULL || alone)
		return next_after_turn(c, l);
	if (!tn->tu_on) {
		slice_start(c, l, tn->tu_credit);
		tn->tu_credit_after = tn->tu_credit - PRICE(slice_ticks());
	}
	tn->tu_on = true;
	return l;
}
