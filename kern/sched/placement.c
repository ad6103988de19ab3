/*
 * CPUs and LWPs: idle CPUs, taking work from other CPUs, moving LWPs, and
 * taking CPUs on and off line.
 */
#include <stddef.h>

#include "kern/arch.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/signal.h"
#include "kern/sched/counting.h"
#include "kern/sched/cpu.h"
#include "kern/sched/klock.h"
#include "kern/sched/lwpq.h"
#include "kern/sched/sched.h"
#include "kern/sched/sched_impl.h"
#include "kern/sched/xcall.h"
#include "lib/printf.h"

struct cpuset sched_active_cpus, sched_idle_cpus;
unsigned sched_nidle;

void
sched_set_idle(const struct cpu *c, bool idle)
{
	if (cpuset_has(&sched_idle_cpus, c->c_id) == idle)
		return;
	if (idle) {
		cpuset_add(&sched_idle_cpus, c->c_id);
		sched_nidle++;
	} else {
		cpuset_remove(&sched_idle_cpus, c->c_id);
		sched_nidle--;
	}
}

static void
set_active(struct cpu *c, bool active)
{
	c->c_active = active;
	if (active)
		cpuset_add(&sched_active_cpus, c->c_id);
	else
		cpuset_remove(&sched_active_cpus, c->c_id);
}

/*
 * The idle LWP runs on the stack its CPU started on.  It has a kernel stack of
 * its own only because arch_lwp_init() makes one.
 */
void
sched_init_cpu(struct cpu *c)
{
	struct lwp *l = lwp_create(NULL, NULL, NULL);

	if (l == NULL)
		panic("no memory for the idle LWP of CPU %u", c->c_id);
	l->l_cpu = c;
	l->l_state = LWP_RUNNING;
	c->c_idle = c->c_lwp = l;
	/* Now, because the launcher is made ready before this CPU idles. */
	if (c == arch_curcpu())
		set_active(c, true);
}

/* Remove the first LWP of q that may run on c.  Returns it, or NULL. */
static struct lwp *
take_allowed(struct lwpq *q, const struct cpu *c)
{
	struct lwp *l = q->q_first;

	while (l != NULL && !sched_may(l, c))
		l = l->l_next;
	if (l != NULL)
		lwpq_remove(q, l);
	return l;
}

bool
sched_steal(struct cpu *c)
{
	for (unsigned i = 1; i < ncpu; i++) {
		struct cpu *o = &cpus[(c->c_id + i) % ncpu];
		struct lwp *l = take_allowed(&o->c_woken, c);

		if (l == NULL && (l = take_allowed(&o->c_runq, c)) == NULL)
			continue;
		l->l_cpu = c;
		l->l_state = LWP_READY;
		lwpq_push(&c->c_runq, l);
		return true;
	}
	return false;
}

/* sched_steal() for an LWP of the lowest class, for the idle LWP of c. */
static bool
steal_lowest(struct cpu *c)
{
	for (struct cpu *o = cpus; o < cpus + ncpu; o++) {
		struct lwp *l = take_allowed(&o->c_lowest, c);

		if (l == NULL)
			continue;
		l->l_cpu = c;
		lwpq_push(&c->c_lowest, l);
		return true;
	}
	return false;
}

void
sched_idle(void)
{
	struct cpu *c = arch_curcpu();

	kernel_lock();
	set_active(c, true);
	for (;;) {
		if (sched_others_wait(c) ||
		    (c->c_active && (sched_steal(c) || steal_lowest(c)))) {
			sched_set_idle(c, false);
			counting->cpu_init(c->c_id);
			sched_switch();
			continue;
		}
		if (c->c_active)
			sched_set_idle(c, true);
		counting->idle(true);
		/* With kernel_limit= it stays taken: kern/sched/xcall.h. */
		if (entry_watch == NULL)
			kernel_unlock();
		arch_idle();
		kernel_lock();
		if (entry_watch != NULL)
			entry_watch->switched();
		counting->idle(false);
	}
}

/* Moving LWPs */

/* May l stay on its CPU, and would no idle CPU be better? */
static bool
is_well_placed(const struct lwp *l)
{
	const struct cpu *c = l->l_cpu;

	if (!sched_may(l, c))
		return false;
	return sched_idle_for(l) == NULL ||
	       (l->l_state == LWP_RUNNING && !sched_others_wait(c));
}

void
sched_move(struct lwp *l)
{
	struct cpu *c = l->l_cpu;

	if (is_well_placed(l))
		return;
	if (sched_queue_of(l) != NULL) {
		lwpq_remove(sched_queue_of(l), l);
		sched_ready(l);
	} else if (l->l_state == LWP_RUNNING) {
		l->l_ast |= AST_YIELD;
		if (c != arch_curcpu())
			arch_ipi(c, IPI_RESCHED);
	}
}

const struct cpuset *
sched_cpus(void)
{
	return &sched_active_cpus;
}

struct cpuset
sched_allowed(const struct lwp *l)
{
	struct cpuset may = { { 0 } };

	for (unsigned i = 0; i < ncpu; i++) {
		if (sched_may(l, &cpus[i]))
			cpuset_add(&may, i);
	}
	return may;
}

int
sched_offline(struct cpu *c)
{
	struct lwp *l;
	unsigned others = 0;

	for (const struct cpu *o = cpus; o < cpus + ncpu; o++)
		others += o != c && o->c_active;
	if (others == 0 || c->c_nbound > 0 || c->c_claimed)
		return EBUSY;
	set_active(c, false);
	sched_set_idle(c, false);
	while ((l = lwpq_pop(&c->c_woken)) != NULL ||
	       (l = lwpq_pop(&c->c_runq)) != NULL ||
	       (l = lwpq_pop(&c->c_lowest)) != NULL)
		sched_ready(l);
	if (c->c_lwp != c->c_idle)
		sched_move(c->c_lwp);
	return 0;
}

/* Move LWPs whose affinity was offline: they must leave other CPUs again. */
static void
call_back(struct lwpq *q)
{
	struct lwp *next;

	for (struct lwp *l = q->q_first; l != NULL; l = next) {
		next = l->l_next;
		sched_move(l);
	}
}

void
sched_online(struct cpu *c)
{
	set_active(c, true);
	counting->cpu_online(c);
	for (struct cpu *o = cpus; o < cpus + ncpu; o++) {
		call_back(&o->c_woken);
		call_back(&o->c_runq);
		call_back(&o->c_lowest);
		if (o->c_lwp != o->c_idle)
			sched_move(o->c_lwp);
	}
	if (c != arch_curcpu())
		arch_ipi(c, IPI_RESCHED); /* to look for work */
}
