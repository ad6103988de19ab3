/*
 * The kernel lock: whoever runs kernel code holds it.  Included by kern/ and
 * arch/.
 *
 * A CPU takes the lock on its way in from a payload and gives it up on its
 * way back, or while it waits for work.  It belongs to the CPU, not to the
 * LWP: it is held across a switch.  So all that the kernel does between two
 * waits is one step to every other CPU, and per-object locks guard only what
 * runs before the first payload, when CPUs are started.
 */
#ifndef KERN_KLOCK_H
#define KERN_KLOCK_H

#include <stdint.h>

#include "kern/arch.h"

/* A ticket lock: first come, first served, so that no CPU starves. */
struct klock {
	uint32_t kl_next, kl_serving;
};
extern struct klock klock;

static inline void
kernel_lock(void)
{
	uint32_t me = __atomic_fetch_add(&klock.kl_next, 1, __ATOMIC_RELAXED);

	while (__atomic_load_n(&klock.kl_serving, __ATOMIC_ACQUIRE) != me)
		arch_relax();
}

static inline void
kernel_unlock(void)
{
	__atomic_store_n(
	    &klock.kl_serving, klock.kl_serving + 1, __ATOMIC_RELEASE);
}

#endif /* KERN_KLOCK_H */
