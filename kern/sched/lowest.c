/*
 * The lowest class of priocntl(2): its LWPs run only while no other LWP is
 * ready for the CPU.
 */
#include "kern/sched/sched_impl.h"

#include <stddef.h>

#include "kern/arch.h"
#include "kern/proc/lwp.h"
#include "kern/proc/signal.h"
#include "kern/sched/cpu.h"
#include "kern/sched/lwpq.h"
#include "kern/sched/sched.h"

struct lwp *
lowest_next(struct cpu *c)
{
	if (c->c_lowest.q_first == NULL)
		return c->c_idle;
	if (c->c_active && sched_steal(c)) {
		sched_set_idle(c, false);
		return runq_next(c);
	}
	struct lwp *l = lwpq_pop(&c->c_lowest);
	if (c->c_active)
		sched_set_idle(c, true);
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

void
lowest_ready(struct lwp *l)
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

void
lowest_yield(struct lwp *l, const struct cpu *c)
{
	l->l_ast &= ~AST_YIELD;
	if (!sched_others_wait(c) && c->c_lowest.q_first == NULL)
		return;
	lowest_ready(l);
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
