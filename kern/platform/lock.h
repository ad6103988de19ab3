/*
 * Spin locks.  Included by kern/ and arch/.
 *
 * The kernel runs with interrupts off, and a handler that interrupts it takes
 * no lock.  So a lock only keeps other CPUs out.
 */
#pragma once

#include <stdbool.h>

#include "kern/arch.h"

struct spinlock {
	bool sl_held;
};

static inline bool
lock_try(struct spinlock *l)
{
	return !__atomic_test_and_set(&l->sl_held, __ATOMIC_ACQUIRE);
}

static inline void
lock_acquire(struct spinlock *l)
{
	while (!lock_try(l))
		arch_relax();
}

static inline void
lock_release(struct spinlock *l)
{
	__atomic_clear(&l->sl_held, __ATOMIC_RELEASE);
}
