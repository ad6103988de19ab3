/* Wait queues: LWPs that sleep until an event. */
#include <stddef.h>

#include "kern/arch.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/signal.h"
#include "kern/sched/lwpq.h"
#include "kern/sched/sched.h"
#include "kern/sched/timer.h"

void
sched_wake(struct lwp *l, int err)
{
	struct waitq *wq = l->l_waitq;

	if (wq == NULL)
		return;
	lwpq_remove(&wq->wq_lwps, l);
	l->l_waitq = NULL;
	l->l_wake_err = err;
	sched_woken(l, err != 0);
}

static void
sleep_timeout(void *arg)
{
	sched_wake(arg, ETIMEDOUT);
}

void
sched_interrupt(struct lwp *l)
{
	if (l->l_waitq != NULL)
		sched_wake(l, EINTR);
	else if (l->l_state == LWP_READY || l->l_state == LWP_WOKEN ||
		 l->l_state == LWP_READY_LOWEST)
		sched_promote(l);
}

static inline int
sleep_until(struct waitq *wq, uint64_t deadline)
{
	struct lwp *l = lwp_self();

	lwpq_push(&wq->wq_lwps, l);
	l->l_state = LWP_ASLEEP;
	l->l_wake_err = 0;
	l->l_waitq = wq;
	if (l->l_stop_for != NULL)
		waitq_wake(l->l_stop_for, ~0U);
	if (deadline != ~0ULL)
		timer_start(&l->l_timer, deadline, sleep_timeout, l);
	sched_switch();
	if (deadline != ~0ULL)
		timer_stop(&l->l_timer);
	return l->l_wake_err;
}

int
waitq_sleep(struct waitq *wq, uint64_t deadline)
{
	/* A signal that came before the sleep ends it at once. */
	if ((lwp_self()->l_ast & ~AST_NO_WAKE) != 0)
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

	lwpq_remove(&wq->wq_lwps, l);
	lwpq_push(&to->wq_lwps, l);
	l->l_waitq = to;
}

unsigned
waitq_wake(struct waitq *wq, unsigned n)
{
	unsigned woken = 0;
	struct lwp *l;

	for (; woken < n && (l = lwpq_pop(&wq->wq_lwps)) != NULL; woken++) {
		l->l_waitq = NULL;
		sched_woken(l, false);
	}
	return woken;
}
