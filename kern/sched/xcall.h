/*
 * Cross-calls: one CPU makes another CPU run a function.  Included by kern/.
 *
 * The caller holds the kernel lock while it waits.  The other CPU is in user
 * code, idle, or already waiting for the lock.  An interrupt brings it to the
 * lock, and there it runs the function while it waits (kernel_lock_wait()).  So
 * the two CPUs never wait for each other.  A payload at system privilege that
 * masks interrupts delays the caller.
 */
#ifndef KERN_SCHED_XCALL_H
#define KERN_SCHED_XCALL_H

#include <stdbool.h>

struct cpu;

/*
 * Run fn(arg) on another CPU c, and return when it is done.  fn runs as if it
 * held the kernel lock, and must not sleep.
 */
void xcall(struct cpu *c, void (*fn)(void *), void *arg);
/* The same in two parts.  With `again`, fn(arg) repeats until xcall_end(). */
void xcall_start(struct cpu *c, void (*fn)(void *), void *arg, bool again);
void xcall_end(void);

#endif /* KERN_SCHED_XCALL_H */
