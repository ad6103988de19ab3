#include "kern/sched.h"

#include <stddef.h>

#include "kern/arch.h"
#include "kern/cpu.h"
#include "kern/errno.h"
#include "kern/kcpc.h"
#include "kern/klock.h"
#include "kern/lwp.h"
#include "kern/proc.h"
#include "kern/timer.h"
#include "kern/witness.h"
#include "lib/printf.h"

/* How long an LWP runs while another waits for its CPU. */
#define SLICE_NS 4000000

/*
 * Sets of CPUs, bit n standing for CPU n: those that take LWPs, and of these
 * the ones that have nothing to do.
 */
static uint64_t active_cpus, idle_cpus;

struct spinlock klock;

static uint64_t
cpu_bit(const struct cpu *c)
{
	return 1ULL << c->c_id;
}

static void
queue_push(struct lwpq *q, struct lwp *l)
{
	if (q->q_first == NULL)
		q->q_tail = &q->q_first;
	l->l_next = NULL;
	l->l_prev = q->q_tail;
	*q->q_tail = l;
	q->q_tail = &l->l_next;
}

static void
queue_remove(struct lwpq *q, struct lwp *l)
{
	*l->l_prev = l->l_next;
	if (l->l_next != NULL)
		l->l_next->l_prev = l->l_prev;
	else
		q->q_tail = l->l_prev;
}

static struct lwp *
queue_pop(struct lwpq *q)
{
	struct lwp *l = q->q_first;

	if (l != NULL)
		queue_remove(q, l);
	return l;
}

/*
 * The idle LWP has a kernel stack of its own only because arch_lwp_init()
 * prepares one; it stays on the stack its CPU came up on.
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
	/* The launcher is made ready before the boot CPU idles. */
	if (c == arch_curcpu())
		active_cpus = cpu_bit(c);
}

/*
 * Where an LWP may run, and where it best does: where it ran last if that
 * CPU has nothing to do, else where nothing is to be done.
 */

static uint64_t
allowed(const struct lwp *l)
{
	uint64_t may = l->l_affinity & active_cpus;

	if (l->l_bound >= 0)
		return 1ULL << l->l_bound;
	/* Its CPUs went offline: better anywhere than nowhere. */
	return may != 0 ? may : active_cpus;
}

static struct cpu *
place(const struct lwp *l)
{
	uint64_t may = allowed(l), last = cpu_bit(l->l_cpu);

	if (may & idle_cpus & last)
		return l->l_cpu;
	if (may & idle_cpus)
		return &cpus[__builtin_ctzll(may & idle_cpus)];
	return may & last ? l->l_cpu : &cpus[__builtin_ctzll(may)];
}

/*
 * A slice is timed only while an LWP waits for the CPU: alone, an LWP is
 * never interrupted.
 */

static void
slice_over(void *arg)
{
	struct cpu *c = arg;

	c->c_lwp->l_ast |= AST_YIELD;
}

static void
slice_time(struct cpu *c)
{
	static uint64_t slice_tick;

	if (c->c_slice.t_cpu != NULL)
		return;
	if (slice_tick == 0)
		slice_tick = ns_to_tick(SLICE_NS);
	timer_start(&c->c_slice, arch_tick() + slice_tick, slice_over, c);
}

void
sched_ready(struct lwp *l)
{
	struct cpu *c = place(l);

	l->l_cpu = c;
	l->l_state = LWP_READY;
	queue_push(&c->c_runq, l);
	idle_cpus &= ~cpu_bit(c);
	if (c != arch_curcpu())
		arch_ipi(c, IPI_RESCHED);
	else if (c->c_lwp != c->c_idle)
		slice_time(c);
}

void
ipi_intr(unsigned why)
{
	struct cpu *c = arch_curcpu();

	/* The idle LWP looks for itself, and trap_return() for the others. */
	(void)why;
	if (c->c_runq.q_first != NULL && c->c_lwp != c->c_idle)
		slice_time(c);
}

void
sched_arrive(void)
{
	struct cpu *c = arch_curcpu();
	struct lwp *left = c->c_left;

	if (left != NULL) {
		c->c_left = NULL;
		lwp_gone(left);
	}
	if (c->c_lwp->l_cpc != NULL)
		kcpc_restore(c->c_lwp->l_cpc);
}

void
sched_switch(void)
{
	struct cpu *c = arch_curcpu();
	struct lwp *from = c->c_lwp, *to = queue_pop(&c->c_runq);
	uint64_t overflowed;

	from->l_ast &= ~AST_YIELD;
	if (c->c_runq.q_first != NULL)
		slice_time(c);
	else if (c->c_slice.t_cpu != NULL)
		timer_stop(&c->c_slice);
	if (to == NULL)
		to = c->c_idle;
	to->l_state = LWP_RUNNING;
	if (to == from)
		return;
	c->c_lwp = to;
	if (from->l_cpc != NULL && (overflowed = kcpc_save(from->l_cpc)) != 0)
		kcpc_overflow(from->l_cpc, overflowed);
	if (from->l_state == LWP_ZOMBIE)
		c->c_left = from;
	arch_lwp_switch(from, to);
	sched_arrive(); /* from runs again, perhaps on another CPU */
}

void
sched_yield(void)
{
	struct lwp *l = lwp_self();
	struct cpu *c = l->l_cpu;

	l->l_ast &= ~AST_YIELD;
	if ((allowed(l) & cpu_bit(c)) == 0) {
		sched_ready(l);
	} else if (c->c_runq.q_first != NULL) {
		l->l_state = LWP_READY;
		queue_push(&c->c_runq, l);
	} else {
		return;
	}
	sched_switch();
}

/* Take an LWP that waits for another CPU and may run here. */
static bool
steal(struct cpu *c)
{
	for (unsigned i = 1; i < ncpu; i++) {
		struct cpu *o = &cpus[(c->c_id + i) % ncpu];

		for (struct lwp *l = o->c_runq.q_first; l != NULL;
		     l = l->l_next) {
			if ((allowed(l) & cpu_bit(c)) == 0)
				continue;
			queue_remove(&o->c_runq, l);
			l->l_cpu = c;
			queue_push(&c->c_runq, l);
			return true;
		}
	}
	return false;
}

void
sched_idle(void)
{
	struct cpu *c = arch_curcpu();

	kernel_lock();
	c->c_active = true;
	active_cpus |= cpu_bit(c);
	for (;;) {
		if (c->c_runq.q_first != NULL || (c->c_active && steal(c))) {
			idle_cpus &= ~cpu_bit(c);
			kcpc_cpu_init(c->c_id);
			sched_switch();
			continue;
		}
		if (c->c_active)
			idle_cpus |= cpu_bit(c);
		if (witness_on)
			witness_idle(true);
		kernel_unlock();
		arch_idle();
		kernel_lock();
		if (witness_on)
			witness_idle(false);
	}
}

/*
 * Moving LWPs
 */

void
sched_move(struct lwp *l)
{
	struct cpu *c = l->l_cpu;

	if (allowed(l) & cpu_bit(c))
		return;
	if (l->l_state == LWP_READY) {
		queue_remove(&c->c_runq, l);
		sched_ready(l);
	} else if (l->l_state == LWP_RUNNING) {
		l->l_ast |= AST_YIELD;
		if (c != arch_curcpu())
			arch_ipi(c, IPI_RESCHED);
	}
}

uint64_t
sched_cpus(void)
{
	return active_cpus;
}

uint64_t
sched_allowed(const struct lwp *l)
{
	return allowed(l);
}

int
sched_offline(struct cpu *c)
{
	struct lwp *l;

	if (active_cpus == cpu_bit(c) || c->c_nbound > 0 || c->c_cpc != NULL)
		return EBUSY;
	active_cpus &= ~cpu_bit(c);
	idle_cpus &= ~cpu_bit(c);
	c->c_active = false;
	while ((l = queue_pop(&c->c_runq)) != NULL)
		sched_ready(l);
	if (c->c_lwp != c->c_idle)
		sched_move(c->c_lwp);
	return 0;
}

void
sched_online(struct cpu *c)
{
	c->c_active = true;
	active_cpus |= cpu_bit(c);
	kcpc_cpu_online(c);
	if (c != arch_curcpu())
		arch_ipi(c, IPI_RESCHED); /* to look for work */
}

/*
 * Sleep
 */

void
sched_wake(struct lwp *l, int err)
{
	struct waitq *wq = l->l_waitq;

	if (wq == NULL)
		return;
	queue_remove(&wq->wq_lwps, l);
	l->l_waitq = NULL;
	l->l_wake_err = err;
	sched_ready(l);
}

static void
sleep_timeout(void *arg)
{
	sched_wake(arg, ETIMEDOUT);
}

void
sched_interrupt(struct lwp *l)
{
	sched_wake(l, EINTR);
}

static inline int
sleep_until(struct waitq *wq, uint64_t deadline)
{
	struct lwp *l = lwp_self();

	queue_push(&wq->wq_lwps, l);
	l->l_state = LWP_ASLEEP;
	l->l_wake_err = 0;
	l->l_waitq = wq;
	if (deadline != ~0ULL)
		timer_start(&l->l_timer, deadline, sleep_timeout, l);
	lock_release(&wq->wq_lock);
	sched_switch();
	if (deadline != ~0ULL)
		timer_stop(&l->l_timer);
	lock_acquire(&wq->wq_lock);
	return l->l_wake_err;
}

int
waitq_sleep(struct waitq *wq, uint64_t deadline)
{
	/* A signal that came before this sleep ends it. */
	if ((lwp_self()->l_ast & ~AST_YIELD) != 0)
		return EINTR;
	return sleep_until(wq, deadline);
}

void
waitq_wait(struct waitq *wq)
{
	sleep_until(wq, ~0ULL);
}

void
waitq_move(struct lwp *l, struct waitq *to)
{
	struct waitq *wq = l->l_waitq;

	queue_remove(&wq->wq_lwps, l);
	queue_push(&to->wq_lwps, l);
	l->l_waitq = to;
}

unsigned
waitq_wake(struct waitq *wq, unsigned n)
{
	unsigned woken = 0;
	struct lwp *l;

	for (; woken < n && (l = queue_pop(&wq->wq_lwps)) != NULL; woken++) {
		l->l_waitq = NULL;
		sched_ready(l);
	}
	return woken;
}
