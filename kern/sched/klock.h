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
#ifndef KERN_SCHED_KLOCK_H
#define KERN_SCHED_KLOCK_H

#include "kern/platform/lock.h"

/*
 * Not a fair one: an emulator or a hypervisor runs CPUs in turns, and one
 * that must wait until another takes its turn waits for whole time slices.
 * One whose LWP only waits for another's ends its turn (sys_sched_yield()).
 */
extern struct spinlock klock;

/* xcall.c: the same where another CPU has it; this one does what it asks. */
void kernel_lock_wait(void);

static inline void
kernel_lock(void)
{
	if (!lock_try(&klock))
		kernel_lock_wait();
}

static inline void
kernel_unlock(void)
{
	lock_release(&klock);
}

#endif /* KERN_SCHED_KLOCK_H */
