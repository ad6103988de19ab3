/*
 * Sleeping on a word of a process's memory.  Included by kern/; the second part
 * by kern/proc/futex/.
 */
#pragma once

#include <stdint.h>

#include "kern/proc/lwp.h"
#include "kern/sched/sched.h"

struct lwp;

/* Store 0 at uva, and wake one LWP that waits there. */
void futex_clear(uintptr_t uva);
/* An LWP ends, or executes a program: release the locks that it holds. */
void futex_lwp_exit(struct lwp *l);
/* The system call futex(2). */
intptr_t sys_futex(const uintptr_t *a);

struct futex_queue {
	/* They wait at l_futex: for an owner's lock if l_futex_bits is 0. */
	struct waitq fq_waiters;
	/* The LWP that the last wake woke, until it runs.  Only compared. */
	const struct lwp *fq_woken;
	struct waitq fq_wakers; /* these wait until it runs */
};

/*
 * The key of the word at uva in the calling process.  Only calls that are
 * shared meet in shared memory; in other memory all calls have one key.
 */
struct futex_key futex_key(uintptr_t uva, bool shared);
static inline bool
futex_same(struct futex_key a, struct futex_key b)
{
	return a.fk_at == b.fk_at && a.fk_as == b.fk_as;
}
struct futex_queue *futex_queue(struct futex_key key);
/* Wake one LWP that waits at uva by a shared FUTEX_WAIT. */
void futex_wake_one(uintptr_t uva);

/*
 * futex_owner.c: locks whose word names the owner.  Each is one operation of
 * futex(2) on the word at uva.
 */
intptr_t futex_lock_pi(uintptr_t uva, uintptr_t deadline_uva, bool shared);
intptr_t futex_trylock_pi(uintptr_t uva);
intptr_t futex_unlock_pi(uintptr_t uva, bool shared);
