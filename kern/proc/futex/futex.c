/*
 * futex(2).  Waiters sleep in a queue chosen by a hash of their key: process
 * and address, or the physical address in memory that processes share.
 *
 * An LWP that unlocks a mutex and locks it again in a loop could keep it for
 * ever.  Each LWP that it wakes would find the mutex locked again.  So its
 * HANDOVER_AFTER-th wake of one LWP at an address lets the woken LWP run
 * before the waker returns (hand_over()).  A waker that waits in between
 * leaves others their turn, and counts from 0 again.
 */
#include "kern/proc/futex/futex.h"

#include <stdbool.h>
#include <stddef.h>

#include "kern/arch.h"
#include "kern/mm/shared_memory.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/deadline.h"
#include "kern/proc/proc.h"
#include "kern/proc/signal.h"
#include "kern/sched/klock.h"
#include "kern/sched/timer.h"

#define FUTEX_WAIT        0
#define FUTEX_WAKE        1
#define FUTEX_REQUEUE     3
#define FUTEX_CMP_REQUEUE 4
#define FUTEX_LOCK_PI     6
#define FUTEX_UNLOCK_PI   7
#define FUTEX_TRYLOCK_PI  8
#define FUTEX_WAIT_BITSET 9
#define FUTEX_WAKE_BITSET 10
#define FUTEX_LOCK_PI2    13 /* LOCK_PI with another clock */
#define FUTEX_PRIVATE     0x80
#define FUTEX_CMD_MASK    0x7f
#define ALL_BITS          0xffffffffU

#define HANDOVER_AFTER 8
#define HANDOVER_NS    8000000 /* two slices: the longest wait of a waker */

#define HASH_BITS 10
static struct futex_queue queues[1 << HASH_BITS];

struct futex_key
futex_key(uintptr_t uva, bool shared)
{
	struct as *as = proc_self()->p_as;
	uint64_t pa = shared ? shared_where(as, uva) : 0;

	return pa != 0 ? (struct futex_key){ NULL, pa }
	               : (struct futex_key){ as, uva };
}

/* The key of an address in the arguments of futex(2). */
static struct futex_key
key_of(const uintptr_t *a, uintptr_t uva)
{
	return futex_key(uva, (a[1] & FUTEX_PRIVATE) == 0);
}

struct futex_queue *
futex_queue(struct futex_key key)
{
	uint64_t h =
	    ((uintptr_t)key.fk_as >> 6 ^ key.fk_at >> 2) * 0x9e3779b97f4a7c15;

	return &queues[h >> (64 - HASH_BITS)];
}

/* The first LWP, from l on, that waits with this key and one of the bits. */
static struct lwp *
next_waiter(struct lwp *l, struct futex_key key, uint32_t bits)
{
	while (l != NULL &&
	       (!futex_same(l->l_futex, key) || (l->l_futex_bits & bits) == 0))
		l = l->l_next;
	return l;
}

static unsigned
wake_waiters(struct futex_key key, unsigned n, uint32_t bits)
{
	struct futex_queue *q = futex_queue(key);
	struct lwp *l = q->fq_waiters.wq_lwps.q_first, *next;
	unsigned woken = 0;

	for (; woken < n && (l = next_waiter(l, key, bits)) != NULL;
	     l = next, woken++) {
		next = l->l_next;
		q->fq_woken = l;
		sched_wake(l, 0);
	}
	return woken;
}

void
futex_wake_one(uintptr_t uva)
{
	wake_waiters(futex_key(uva, true), 1, ALL_BITS);
}

void
futex_clear(uintptr_t uva)
{
	static const uint32_t zero;

	if (uva % sizeof zero == 0 && copyout(uva, &zero, sizeof zero) == 0)
		futex_wake_one(uva);
}

static intptr_t
requeue_waiters(const uintptr_t *a)
{
	struct futex_key from = key_of(a, a[0]), to = key_of(a, a[4]);
	int nwake = (int)a[2], nmove = (int)a[3], moved = 0;
	struct waitq *wq = &futex_queue(to)->fq_waiters;
	struct lwp *l, *next;
	unsigned woken;
	uint32_t word;

	if (nwake < 0 || nmove < 0 || a[4] % sizeof word != 0)
		return -EINVAL;
	if (copyin(&word, a[4], sizeof word) != 0)
		return -EFAULT;
	woken = wake_waiters(from, (unsigned)nwake, ALL_BITS);
	l = futex_queue(from)->fq_waiters.wq_lwps.q_first;
	for (; !futex_same(from, to) && moved < nmove &&
	       (l = next_waiter(l, from, ALL_BITS)) != NULL;
	     l = next, moved++) {
		next = l->l_next;
		l->l_futex = to;
		waitq_move(l, wq);
	}
	return (intptr_t)woken + moved;
}

/* EAGAIN if the word has changed since the caller read it. */
static int
check_word(uintptr_t uva, uint32_t expected)
{
	uint32_t value;

	if (copyin(&value, uva, sizeof value) != 0)
		return EFAULT;
	return value == expected ? 0 : EAGAIN;
}

/* l runs after its sleep: end the wait of wakers. */
static void
runs_again(const struct lwp *l)
{
	struct futex_queue *q = futex_queue(l->l_futex);

	if (q->fq_woken == l)
		q->fq_woken = NULL;
	if (q->fq_wakers.wq_lwps.q_first != NULL)
		waitq_wake(&q->fq_wakers, ~0U);
}

static intptr_t
futex_wait(const uintptr_t *a, bool absolute, uint32_t bits)
{
	struct lwp *l = lwp_self();
	struct futex_key key = key_of(a, a[0]);
	struct waitq *wq = &futex_queue(key)->fq_waiters;
	uint64_t deadline;
	int err;

	if (bits == 0)
		return -EINVAL;
	if ((err = deadline_in(a[3], absolute, &deadline)) != 0)
		return -err;
	do {
		if ((err = check_word(a[0], (uint32_t)a[2])) != 0)
			return -err;
		l->l_futex = key;
		l->l_futex_bits = bits;
		l->l_wakes = 0;
		err = waitq_sleep(wq, deadline);
		runs_again(l);
	} while (err == EINTR && !sig_check(l));
	/* Restart only without a timeout: a restart would wait in full. */
	return err == EINTR && a[3] == 0 ? sig_restart(l) : -err;
}

/*
 * Let the woken LWP run first.  If it runs already, it has found the word
 * taken and is about to sleep again: only give its CPU a turn.
 */
static void
hand_over(struct lwp *waker, struct futex_queue *q)
{
	if (q->fq_woken == NULL) {
		kernel_lock_yield();
		return;
	}
	waker->l_wakes = 0;
	waitq_sleep(&q->fq_wakers, arch_tick() + ns_to_tick(HANDOVER_NS));
}

/* Count a wake of one LWP at uva since the first.  Returns woken. */
static intptr_t
count_wake(
    struct lwp *waker, struct futex_queue *q, uintptr_t uva, unsigned woken)
{
	if (waker->l_wake_uva != uva || waker->l_wakes == 0) {
		if (woken == 0)
			return 0;
		waker->l_wake_uva = uva;
		waker->l_wakes = 0;
	}
	if (++waker->l_wakes >= HANDOVER_AFTER)
		hand_over(waker, q);
	return (intptr_t)woken;
}

/* As on Linux, both INT_MAX and -1 wake all waiters. */
static intptr_t
futex_wake(const uintptr_t *a, uint32_t bits)
{
	struct lwp *l = lwp_self();
	struct futex_key key = key_of(a, a[0]);
	unsigned woken;

	if (bits == 0)
		return -EINVAL;
	woken = wake_waiters(key, (uint32_t)a[2], bits);
	if (woken == 0 && (a[1] & FUTEX_PRIVATE) == 0 &&
	    copyin(&bits, a[0], sizeof bits) != 0)
		return -EFAULT;
	if (a[2] == 1 && (woken != 0 || l->l_wakes != 0))
		return count_wake(l, futex_queue(key), a[0], woken);
	return (intptr_t)woken;
}

intptr_t
sys_futex(const uintptr_t *a)
{
	bool shared = (a[1] & FUTEX_PRIVATE) == 0;
	int err;

	if (a[0] % sizeof(uint32_t) != 0)
		return -EINVAL;
	switch (a[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
		return futex_wait(a, false, ALL_BITS);
	case FUTEX_WAIT_BITSET:
		return futex_wait(a, true, (uint32_t)a[5]);
	case FUTEX_WAKE:
		return futex_wake(a, ALL_BITS);
	case FUTEX_WAKE_BITSET:
		return futex_wake(a, (uint32_t)a[5]);
	case FUTEX_REQUEUE:
		return requeue_waiters(a);
	case FUTEX_CMP_REQUEUE:
		err = check_word(a[0], (uint32_t)a[5]);
		return err != 0 ? -err : requeue_waiters(a);
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return futex_lock_pi(a[0], a[3], shared);
	case FUTEX_TRYLOCK_PI:
		return futex_trylock_pi(a[0]);
	case FUTEX_UNLOCK_PI:
		return futex_unlock_pi(a[0], shared);
	default:
		return -ENOSYS;
	}
}
