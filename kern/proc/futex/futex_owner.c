/*
 * Locks whose word names their owner: those with priority inheritance, and
 * robust ones, which the next LWP gets if their owner ends.
 *
 * The word is the owner's thread id, 0 if the lock is free, and two flags.
 * A program changes it from 0 to its id, and back, without a system call;
 * with WAITERS set it must ask the kernel to unlock.  An owner inherits no
 * priority: only LWPs of priocntl(2)'s lowest class differ from others.
 *
 * Linux, futex(2), "Priority-inheritance futexes"; Documentation/locking/
 * robust-futex-ABI.rst.
 */
#include "kern/arch.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/deadline.h"
#include "kern/proc/futex/futex.h"
#include "kern/proc/proc.h"

#define WAITERS    0x80000000U
#define OWNER_DIED 0x40000000U
#define TID_MASK   0x3fffffffU

static bool
swap_word(uint32_t *word, uint32_t was, uint32_t now)
{
	return __atomic_compare_exchange_n(
	    word, &was, now, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* The first LWP, from l on, that waits for the lock. */
static struct lwp *
next_for_lock(struct lwp *l, struct futex_key key)
{
	while (
	    l != NULL && (!futex_same(l->l_futex, key) || l->l_futex_bits != 0))
		l = l->l_next;
	return l;
}

/* The LWP that the word names, or NULL.  It shares the word's memory. */
static struct lwp *
find_owner(uint32_t word, struct futex_key key)
{
	struct lwp *owner = lwp_find((int)(word & TID_MASK));

	if (owner == NULL ||
	    (key.fk_as != NULL && owner->l_proc->p_as != key.fk_as))
		return NULL;
	return owner;
}

/* l waits for a lock of this owner from now on; NULL: for none. */
static void
set_owner(struct lwp *l, struct lwp *owner)
{
	if (l->l_lock_owner != NULL)
		l->l_lock_owner->l_lock_waiters--;
	l->l_lock_owner = owner;
	if (owner != NULL)
		owner->l_lock_waiters++;
}

/* The kernel gives up if others change the word each time. */
#define SWAPS_MAX 64

/*
 * Take the lock if it is free; else set WAITERS.  Returns 0 if it is taken, or
 * an errno.  EAGAIN: the caller has to wait.  EINTR: the program has to make
 * the call again.
 */
static int
take_or_mark(uint32_t *word, struct futex_key key, bool only_try)
{
	uint32_t tid = (uint32_t)lwp_self()->l_tid, was;

	for (unsigned i = 0; i < SWAPS_MAX; i++) {
		was = __atomic_load_n(word, __ATOMIC_RELAXED);
		if ((was & TID_MASK) == 0) {
			/* OWNER_DIED stays: the program has to repair. */
			if (swap_word(word, was, was | tid))
				return 0;
			continue;
		}
		if ((was & TID_MASK) == tid)
			return EDEADLK;
		if (only_try)
			return EAGAIN;
		if (find_owner(was, key) == NULL)
			return ESRCH;
		if ((was & WAITERS) != 0 || swap_word(word, was, was | WAITERS))
			return EAGAIN;
	}
	return EINTR;
}

intptr_t
futex_trylock_pi(uintptr_t uva)
{
	uint32_t *word = as_word(proc_self()->p_as, uva);
	int err;

	if (word == NULL)
		return -EFAULT;
	err = take_or_mark(word, futex_key(uva, true), true);
	return err == EINTR ? sig_restart(lwp_self()) : -err;
}

intptr_t
futex_lock_pi(uintptr_t uva, uintptr_t deadline_uva, bool shared)
{
	struct lwp *l = lwp_self();
	struct futex_key key = futex_key(uva, shared);
	struct waitq *wq = &futex_queue(key)->fq_waiters;
	uint64_t deadline;
	uint32_t *word;
	int err;

	if ((err = deadline_in(deadline_uva, true, &deadline)) != 0)
		return -err;
	do {
		if ((word = as_word(l->l_proc->p_as, uva)) == NULL)
			return -EFAULT;
		if ((err = take_or_mark(word, key, false)) != EAGAIN)
			break;
		l->l_futex = key;
		l->l_futex_bits = 0;
		l->l_lock_uva = uva;
		set_owner(l, find_owner(*word, key));
		/* 0: the lock was handed to this LWP. */
		err = waitq_sleep(wq, deadline);
		set_owner(l, NULL);
	} while (err == EINTR && !sig_check(l));
	return err == EINTR ? sig_restart(l) : -err;
}

/* Give the lock to the first LWP that waits for it, or make it free. */
static void
hand_over(uint32_t *word, struct futex_key key, uint32_t flags)
{
	struct lwp *l = futex_queue(key)->fq_waiters.wq_lwps.q_first, *rest;

	if ((l = next_for_lock(l, key)) == NULL) {
		__atomic_store_n(word, flags, __ATOMIC_SEQ_CST);
		return;
	}
	flags |= (uint32_t)l->l_tid;
	for (rest = l; (rest = next_for_lock(rest->l_next, key)) != NULL;) {
		flags |= WAITERS;
		set_owner(rest, l);
	}
	set_owner(l, NULL);
	__atomic_store_n(word, flags, __ATOMIC_SEQ_CST);
	sched_wake(l, 0);
}

intptr_t
futex_unlock_pi(uintptr_t uva, bool shared)
{
	uint32_t *word = as_word(proc_self()->p_as, uva);

	if (word == NULL)
		return -EFAULT;
	if ((__atomic_load_n(word, __ATOMIC_RELAXED) & TID_MASK) !=
	    (uint32_t)lwp_self()->l_tid)
		return -EPERM;
	hand_over(word, futex_key(uva, shared), 0);
	return 0;
}

/* Robust locks: the program keeps a list of those that an LWP holds. */

/* Linux's struct robust_list_head. */
struct robust_head {
	uintptr_t rh_first;
	int64_t rh_offset;    /* from an entry to its word */
	uintptr_t rh_pending; /* being locked or unlocked, or 0 */
};
#define ENTRY_PI    1UL  /* in the address of an entry */
#define ENTRIES_MAX 2048 /* as in Linux: the list may be a circle */

/*
 * The owner has ended: mark the lock, and let the next LWP have it.  pending:
 * the owner was locking or unlocking it.  If it had made the word 0, it may
 * not have woken an LWP yet.
 */
static void
release_dead(uintptr_t entry, int64_t offset, bool pending)
{
	uintptr_t uva = (entry & ~ENTRY_PI) + (uintptr_t)offset;
	uint32_t *word = as_word(proc_self()->p_as, uva), was;
	unsigned swaps = 0;

	if (word == NULL)
		return;
	do {
		if (swaps++ == SWAPS_MAX)
			return;
		was = __atomic_load_n(word, __ATOMIC_RELAXED);
		if (was == 0 && pending && (entry & ENTRY_PI) == 0)
			futex_wake_one(uva);
		if ((was & TID_MASK) != (uint32_t)lwp_self()->l_tid)
			return;
	} while (!swap_word(word, was, (was & WAITERS) | OWNER_DIED));
	if ((entry & ENTRY_PI) != 0)
		hand_over(word, futex_key(uva, true), OWNER_DIED);
	else if ((was & WAITERS) != 0)
		futex_wake_one(uva);
}

static void
release_listed(const struct lwp *l)
{
	uintptr_t head = l->l_robust, entry, next;
	struct robust_head rh;

	if (head == 0 || copyin(&rh, head, sizeof rh) != 0)
		return;
	entry = rh.rh_first;
	for (unsigned n = 0; n < ENTRIES_MAX && (entry & ~ENTRY_PI) != head;
	     n++) {
		if (copyin(&next, entry & ~ENTRY_PI, sizeof next) != 0)
			break;
		if (entry != rh.rh_pending)
			release_dead(entry, rh.rh_offset, false);
		entry = next;
	}
	if (rh.rh_pending != 0)
		release_dead(rh.rh_pending, rh.rh_offset, true);
}

/*
 * The owner of the lock that l waits for has ended.  If another LWP has waited
 * for longer, that one becomes the owner, and l waits for it.
 */
static void
release_from(struct lwp *l)
{
	struct proc *p = l->l_proc;
	/* Without l_waitq its time limit or a signal has woken it. */
	bool waits = l->l_waitq != NULL && !p->p_exiting;
	uint32_t *word = waits ? as_word(p->p_as, l->l_lock_uva) : NULL;

	if (word != NULL)
		hand_over(word, l->l_futex, OWNER_DIED);
	else
		set_owner(l, NULL);
}

/*
 * Hand over every lock of `owner` that an LWP waits for.  Its word may not name
 * the owner any more: musl changes the words of robust locks itself.
 */
static void
release_awaited(const struct lwp *owner)
{
	struct lwp *l;

	for (struct proc *p = allprocs; p != NULL && owner->l_lock_waiters > 0;
	     p = p->p_next) {
		for (l = p->p_lwps; l != NULL; l = l->l_sibling) {
			if (l->l_lock_owner == owner)
				release_from(l);
		}
	}
}

void
futex_lwp_exit(struct lwp *l)
{
	release_listed(l);
	release_awaited(l);
}
