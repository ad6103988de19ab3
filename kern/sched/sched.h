/*
 * Who runs.  Included by kern/.
 *
 * Each CPU has two queues of its own, first come first served: those that
 * have slept go before those that wait for their next slice, as long as that
 * leaves these their half.  An LWP that becomes ready goes to a CPU that has
 * nothing to do, if it may run there, else to the CPU it ran on; a CPU that
 * runs out of LWPs takes one that waits elsewhere.  There is no periodic
 * tick: a slice is timed only while an LWP waits for the CPU, and ends on the
 * way to user code.  All of it is called with the kernel lock held
 * (kern/sched/klock.h).
 */
#ifndef KERN_SCHED_SCHED_H
#define KERN_SCHED_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "kern/platform/lock.h"

struct cpu;
struct cpuset; /* kern/sched/cpuset.h */
struct lwp;

/* LWPs by l_next, first come first; each is in one queue at most. */
struct lwpq {
	struct lwp *q_first, **q_tail; /* q_tail means nothing while empty */
};

/*
 * LWPs that wait for something, first come first.  Its lock guards what
 * they wait for.
 */
struct waitq {
	struct spinlock wq_lock;
	struct lwpq wq_lwps;
};

/* Give the CPU its idle LWP, which is the context the CPU came up in. */
void sched_init_cpu(struct cpu *c);
/* Run what is ready, else wait for interrupts; the idle LWP's life. */
_Noreturn void sched_idle(void);
/* An LWP may run: one that is new, or comes from another CPU. */
void sched_ready(struct lwp *l);
/* The same of one that slept, which goes before those; at once, or soon. */
void sched_woken(struct lwp *l, bool at_once);
/* One that is ready gets its turn as if it had been woken now. */
void sched_hurry(struct lwp *l);
/* Let others run first. */
void sched_yield(void);
/* AST_YIELD: the slice has ended, one that goes first waits, or it must go. */
void sched_preempt(void);
/* Switch to the next LWP; the caller has put itself where it belongs. */
void sched_switch(void);
/*
 * The first thing done on the stack a switch led to: the LWP that was left
 * for ever is freed, and the current one's counters run.
 */
void sched_arrive(void);
/* l's affinity or binding has changed: it leaves a CPU it may not run on. */
void sched_move(struct lwp *l);
/* The CPUs that take LWPs. */
const struct cpuset *sched_cpus(void);
/* Those of them that l may run on: never none. */
struct cpuset sched_allowed(const struct lwp *l);
/* EBUSY: it is the last, or an LWP or a set is bound to it. */
int sched_offline(struct cpu *c);
void sched_online(struct cpu *c);

/*
 * waitq.c.  Sleep until woken, or until arch_tick() >= deadline (~0: for ever).
 * The caller holds wq_lock, and holds it again afterwards.  0, ETIMEDOUT, or
 * EINTR where a signal or the end of the process interrupts.
 */
int waitq_sleep(struct waitq *wq, uint64_t deadline);
/*
 * Sleep until woken, or something comes that the LWP cannot heed now: who
 * waits for a thing calls this until it is there.
 */
void waitq_wait(struct waitq *wq);
/* Wake at most n; returns how many.  The caller holds wq_lock. */
unsigned waitq_wake(struct waitq *wq, unsigned n);
/* l, which sleeps, waits in `to` from now on. */
void waitq_move(struct lwp *l, struct waitq *to);
/* End l's sleep, if it sleeps; waitq_sleep() returns err. */
void sched_wake(struct lwp *l, int err);
/* A signal: the same with EINTR, and who is ready need not wait its turn. */
void sched_interrupt(struct lwp *l);

#endif /* KERN_SCHED_SCHED_H */
