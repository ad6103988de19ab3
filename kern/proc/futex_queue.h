/*
 * The queues of LWPs in futex(2).  Included by kern/proc/futex*.c.
 */
#ifndef KERN_PROC_FUTEX_QUEUE_H
#define KERN_PROC_FUTEX_QUEUE_H

#include "kern/proc/lwp.h"
#include "kern/sched/sched.h"

struct futex_queue {
	/* They wait at l_futex: for an owner's lock if l_futex_bits is 0. */
	struct waitq fq_waiters;
	/* The LWP that the last wake woke, until it runs.  Only compared. */
	const struct lwp *fq_woken;
	struct waitq fq_wakers; /* these wait until it runs */
};

struct futex_queue *futex_queue(const struct proc *p, uintptr_t uva);
/* Wake one LWP that waits at uva by FUTEX_WAIT. */
void futex_wake_one(uintptr_t uva);

/*
 * futex_owner.c: locks whose word names the owner.  Each is one operation of
 * futex(2) on the word at uva.
 */
intptr_t futex_lock_pi(uintptr_t uva, uintptr_t deadline_uva);
intptr_t futex_trylock_pi(uintptr_t uva);
intptr_t futex_unlock_pi(uintptr_t uva);

#endif /* KERN_PROC_FUTEX_QUEUE_H */
