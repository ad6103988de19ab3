/*
 * What the parts of the scheduler know of each other.  Included by kern/sched.c
 * and kern/sched_cpu.c.
 */
#ifndef KERN_SCHED_IMPL_H
#define KERN_SCHED_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/cpu.h"
#include "kern/lwp.h"

/*
 * Sets of CPUs, bit n standing for CPU n: those that take LWPs, and of these
 * the ones that have nothing to do.
 */
extern uint64_t sched_active_cpus, sched_idle_cpus;

static inline uint64_t
cpu_bit(const struct cpu *c)
{
	return 1ULL << c->c_id;
}

/* Where an LWP may run; inline, for a switch asks. */
static inline uint64_t
sched_may(const struct lwp *l)
{
	uint64_t may = l->l_affinity & sched_active_cpus;

	if (l->l_bound >= 0)
		return 1ULL << l->l_bound;
	/* Its CPUs went offline: better anywhere than nowhere. */
	return may != 0 ? may : sched_active_cpus;
}

static inline bool
sched_others_wait(const struct cpu *c)
{
	return c->c_runq.q_first != NULL || c->c_woken.q_first != NULL;
}

#endif /* KERN_SCHED_IMPL_H */
