#include "kern/sched.h"

#include <stddef.h>

#include "kern/arch.h"
#include "kern/cpu.h"
#include "kern/errno.h"
#include "kern/kcpc.h"
#include "kern/lwp.h"
#include "kern/timer.h"
#include "lib/printf.h"

struct lwp *
lwp_self(void)
{
	return arch_curcpu()->c_lwp;
}

static void
queue_push(struct lwp ***tail, struct lwp **first, struct lwp *l)
{
	if (*first == NULL)
		*tail = first;
	l->l_next = NULL;
	**tail = l;
	*tail = &l->l_next;
}

static struct lwp *
queue_pop(struct lwp **first)
{
	struct lwp *l = *first;

	if (l != NULL)
		*first = l->l_next;
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
}

void
sched_ready(struct lwp *l)
{
	struct cpu *c = l->l_cpu;

	lock_acquire(&c->c_runq_lock);
	l->l_state = LWP_READY;
	queue_push(&c->c_runq_tail, &c->c_runq, l);
	c->c_resched = true;
	lock_release(&c->c_runq_lock);
	if (c != arch_curcpu())
		arch_ipi(c, IPI_RESCHED);
}

void
ipi_intr(unsigned why)
{
	/* Its work is done: arch_idle() returned, or trap_return() follows. */
	(void)why;
}

void
sched_switch(void)
{
	struct cpu *c = arch_curcpu();
	struct lwp *from = c->c_lwp, *to;

	lock_acquire(&c->c_runq_lock);
	to = queue_pop(&c->c_runq);
	c->c_resched = c->c_runq != NULL;
	lock_release(&c->c_runq_lock);
	if (to == NULL)
		to = c->c_idle;
	to->l_state = LWP_RUNNING;
	if (to == from)
		return;
	c->c_lwp = to;
	kcpc_save(from);
	arch_lwp_switch(from, to);
	kcpc_restore(from); /* which runs again */
}

void
sched_yield(void)
{
	struct lwp *l = lwp_self();

	if (l->l_cpu->c_runq == NULL)
		return;
	if (l != l->l_cpu->c_idle)
		sched_ready(l);
	sched_switch();
}

void
sched_idle(void)
{
	for (;;) {
		if (arch_curcpu()->c_runq != NULL)
			sched_switch();
		else
			arch_idle();
	}
}

/*
 * Sleep
 */

static void
waitq_remove(struct waitq *wq, struct lwp *l)
{
	struct lwp **link = &wq->wq_first;

	while (*link != l)
		link = &(*link)->l_next;
	*link = l->l_next;
	if (wq->wq_tail == &l->l_next)
		wq->wq_tail = link;
}

/* End the sleep of l if it still sleeps; wq_lock is not held. */
static void
wake_with(struct lwp *l, int err)
{
	struct waitq *wq = l->l_waitq;

	if (wq == NULL)
		return;
	lock_acquire(&wq->wq_lock);
	if (l->l_waitq == wq) {
		waitq_remove(wq, l);
		l->l_waitq = NULL;
		l->l_wake_err = err;
		sched_ready(l);
	}
	lock_release(&wq->wq_lock);
}

static void
sleep_timeout(void *arg)
{
	wake_with(arg, ETIMEDOUT);
}

void
sched_interrupt(struct lwp *l)
{
	wake_with(l, EINTR);
}

int
waitq_sleep(struct waitq *wq, uint64_t deadline)
{
	struct lwp *l = lwp_self();

	queue_push(&wq->wq_tail, &wq->wq_first, l);
	l->l_state = LWP_ASLEEP;
	l->l_wake_err = 0;
	l->l_waitq = wq;
	if (deadline != ~0ULL)
		timer_start(&l->l_timer, deadline, sleep_timeout, l);
	lock_release(&wq->wq_lock);
	sched_switch();
	timer_stop(&l->l_timer);
	lock_acquire(&wq->wq_lock);
	return l->l_wake_err;
}

unsigned
waitq_wake(struct waitq *wq, unsigned n)
{
	unsigned woken = 0;
	struct lwp *l;

	for (; woken < n && (l = queue_pop(&wq->wq_first)) != NULL; woken++) {
		l->l_waitq = NULL;
		sched_ready(l);
	}
	return woken;
}
