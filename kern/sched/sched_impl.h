/* Declarations that sched.c, turn.c, lowest.c and placement.c share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/proc/lwp.h"
#include "kern/sched/cpu.h"
#include "kern/sched/lwpq.h"
#include "kern/sched/timer.h"

/* The CPUs that take LWPs; the idle ones among them, and their number. */
extern struct cpuset sched_active_cpus, sched_idle_cpus;
extern unsigned sched_nidle;

/*
 * May l run on CPU c?  If all CPUs of its affinity are offline, it may run
 * anywhere.  Inline, because each switch asks.
 */
static inline bool
sched_may(const struct lwp *l, const struct cpu *c)
{
	if (l->l_bound >= 0)
		return (unsigned)l->l_bound == c->c_id;
	if (!c->c_active)
		return false;
	return cpuset_has(&l->l_affinity, c->c_id) ||
	       !cpuset_meets(&l->l_affinity, &sched_active_cpus);
}

/* Is c idle, or does it run an LWP of the lowest class? */
void sched_set_idle(const struct cpu *c, bool idle);
/* Take an LWP that waits for another CPU and may run on c. */
bool sched_steal(struct cpu *c);

/* The queue of a ready LWP; NULL: it is not ready. */
static inline struct lwpq *
sched_queue_of(const struct lwp *l)
{
	switch (l->l_state) {
	case LWP_READY:
		return &l->l_cpu->c_runq;
	case LWP_WOKEN:
		return &l->l_cpu->c_woken;
	case LWP_READY_LOWEST:
		return &l->l_cpu->c_lowest;
	default:
		return NULL;
	}
}

/*
 * The first of the idle CPUs that l may run on, or NULL.  Idle CPUs are active.
 * One walk over the words of the sets, not CPU by CPU, and inline: a switch
 * costs the same with any number of idle CPUs.
 */
static inline struct cpu *
sched_idle_for(const struct lwp *l)
{
	uint64_t active = 0, idle;
	unsigned i = 0;

	if (l->l_bound >= 0)
		return cpuset_has(&sched_idle_cpus, (unsigned)l->l_bound)
		           ? &cpus[l->l_bound]
		           : NULL;
	do {
		uint64_t may = l->l_affinity.cs_word[i];

		if ((idle = may & sched_idle_cpus.cs_word[i]) != 0)
			return &cpus[i * 64 + (unsigned)__builtin_ctzll(idle)];
		active |= may & sched_active_cpus.cs_word[i];
	} while (++i * 64 < ncpu);
	if (active != 0)
		return NULL;
	i = cpuset_next(&sched_idle_cpus, &sched_idle_cpus, 0);
	return i < MAXCPU ? &cpus[i] : NULL;
}

static inline bool
sched_others_wait(const struct cpu *c)
{
	return c->c_runq.q_first != NULL || c->c_woken.q_first != NULL;
}

/* sched.c: the ticks of a slice.  Start one, or a part of one, for l. */
uint64_t slice_ticks(void);
void slice_start(struct cpu *c, const struct lwp *l, uint64_t ticks);

/* Start a slice for l, unless one is already being timed. */
static inline void
slice_time(struct cpu *c, const struct lwp *l)
{
	if (c->c_slice.t_cpu == NULL)
		slice_start(c, l, slice_ticks());
}

/* Take the next LWP of the run queue, or NULL.  Time it if others wait, too. */
static inline struct lwp *
runq_next(struct cpu *c)
{
	struct lwp *l = lwpq_pop(&c->c_runq);

	if (c->c_runq.q_first != NULL)
		slice_time(c, l);
	else if (c->c_slice.t_cpu != NULL)
		timer_stop(&c->c_slice);
	return l;
}

/* turn.c: has c woken LWPs to run, or a turn to end? */
static inline bool
turn_due(const struct cpu *c)
{
	return c->c_woken.q_first != NULL || c->c_turn.tu_on;
}

/* The next LWP if a turn is due: a woken one, or of the run queue, or NULL. */
struct lwp *turn_next(struct cpu *c);
/* Does the credit cover a turn? */
bool turn_allows(struct cpu *c);
/* The turn used up the credit. */
void turn_expired(struct cpu *c);

/*
 * lowest.c.  Nothing else is ready for c: an LWP of the lowest class runs, or
 * the idle LWP.
 */
struct lwp *lowest_next(struct cpu *c);
void lowest_ready(struct lwp *l);
void lowest_yield(struct lwp *l, const struct cpu *c);
