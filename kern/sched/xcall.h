/*
 * Cross-calls: one CPU has another do something.  Included by kern/.
 *
 * The kernel lock is held for it by the caller, who waits.  The other CPU is
 * in user code or idle, where the interrupt strikes it and it waits for the
 * lock, or it waits for the lock already: it does what it is asked in that
 * wait, so that nobody waits for whom he keeps waiting.  (A payload at system
 * privilege that masks interrupts keeps the caller waiting.)
 */
#ifndef KERN_SCHED_XCALL_H
#define KERN_SCHED_XCALL_H

struct cpu;

/*
 * Run fn(arg) on another CPU c; on return it has been done.  fn may touch what
 * the kernel lock guards, and must not sleep.
 */
void xcall(struct cpu *c, void (*fn)(void *), void *arg);

#endif /* KERN_SCHED_XCALL_H */
