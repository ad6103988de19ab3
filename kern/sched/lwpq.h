/*
 * Operations on queues of LWPs.  Included by kern/ where LWPs wait.  Inline,
 * because calls of two of them would add a tenth to a switch.
 */
#pragma once

#include <stddef.h>

#include "kern/proc/lwp.h"
#include "kern/sched/sched.h"

static inline void
lwpq_push(struct lwpq *q, struct lwp *l)
{
	if (q->q_first == NULL)
		q->q_tail = &q->q_first;
	l->l_next = NULL;
	l->l_prev = q->q_tail;
	*q->q_tail = l;
	q->q_tail = &l->l_next;
}

/* Put l before all others. */
static inline void
lwpq_push_first(struct lwpq *q, struct lwp *l)
{
	if ((l->l_next = q->q_first) != NULL)
		l->l_next->l_prev = &l->l_next;
	else
		q->q_tail = &l->l_next;
	l->l_prev = &q->q_first;
	q->q_first = l;
}

static inline void
lwpq_remove(struct lwpq *q, struct lwp *l)
{
	*l->l_prev = l->l_next;
	if (l->l_next != NULL)
		l->l_next->l_prev = l->l_prev;
	else
		q->q_tail = l->l_prev;
}

/* Remove and return the first LWP, or return NULL. */
static inline struct lwp *
lwpq_pop(struct lwpq *q)
{
	struct lwp *l = q->q_first;

	if (l != NULL)
		lwpq_remove(q, l);
	return l;
}
