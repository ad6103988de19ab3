/*
 * The kernel lock.  A CPU that runs kernel code holds it.  Included by kern/
 * and arch/.
 *
 * A CPU takes the lock when it enters from a payload, and releases it when it
 * returns or waits for work.  The lock belongs to the CPU, not to the LWP: it
 * is held across a switch.  So to other CPUs all work between two waits is one
 * step.  Locks of objects guard only what runs before the first payload, while
 * CPUs start.
 */
#pragma once

#include "kern/platform/lock.h"

/*
 * The lock is not fair.  An emulator or a hypervisor runs CPUs in turns, so a
 * CPU that must wait for its turn would wait for whole time slices.  An LWP
 * that only waits for another gives its CPU up in sys_sched_yield().
 */
extern struct spinlock klock;

/* xcall.c: wait for the lock, and run this CPU's cross-calls while waiting. */
void kernel_lock_wait(void);

/*
 * xcall.c.  Release the lock for a moment, so that other CPUs advance; if one
 * has demanded it, until it has the lock.  An emulator may end a CPU's turn
 * after a fixed number of instructions.  Then a loop of system calls might end
 * each turn with the lock held.  QEMU 7.2 may also not run another CPU while
 * this one makes calls (docs/design.md, "LWPs on CPUs").
 */
void kernel_lock_yield(void);

/* xcall.c.  A CPU has waited for long, and demands the lock. */
extern bool klock_wanted;

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
