/*
 * Who runs.  Included by kern/.
 *
 * Each CPU has a queue of its own; an LWP stays on the CPU it was given.
 * There is no periodic tick and no preemption in the kernel: a CPU changes
 * its LWP when that sleeps, yields or exits, or on its way to user code
 * when another became ready.
 */
#ifndef KERN_SCHED_H
#define KERN_SCHED_H

#include <stdint.h>

#include "kern/lock.h"

struct cpu;
struct lwp;

/*
 * LWPs that wait for something, first come first.  Its lock guards what
 * they wait for.
 */
struct waitq {
	struct spinlock wq_lock;
	struct lwp *wq_first, **wq_tail;
};

/* Give the CPU its idle LWP, which is the context the CPU came up in. */
void sched_init_cpu(struct cpu *c);
/* Run what is ready, else wait for interrupts; the idle LWP's life. */
_Noreturn void sched_idle(void);
/* A new or woken LWP may run, on l->l_cpu. */
void sched_ready(struct lwp *l);
/* Let others run first. */
void sched_yield(void);
/* Switch to the next LWP; the caller has put itself where it belongs. */
void sched_switch(void);

/*
 * Sleep until woken, or until arch_tick() >= deadline (~0: for ever).  The
 * caller holds wq_lock, and holds it again afterwards.  0, ETIMEDOUT, or
 * EINTR where the process is to end.
 */
int waitq_sleep(struct waitq *wq, uint64_t deadline);
/* Wake at most n; returns how many.  The caller holds wq_lock. */
unsigned waitq_wake(struct waitq *wq, unsigned n);
/* End l's sleep, if it sleeps, with EINTR. */
void sched_interrupt(struct lwp *l);

#endif /* KERN_SCHED_H */
