/*
 * The scheduler.  Included by kern/.
 *
 * Each CPU has three queues of its own.  The woken LWPs run before the run
 * queue, and the LWPs of the lowest class after it.  The head of sched.c states
 * the rule.  There is no periodic tick: a slice is timed only while an LWP
 * waits for the CPU, and ends on the way to user code.  All functions need the
 * kernel lock (kern/sched/klock.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cpu;
struct cpuset; /* kern/sched/cpuset.h */
struct lwp;

/* A queue of LWPs, linked by l_next.  An LWP is in at most one queue. */
struct lwpq {
	struct lwp *q_first, **q_tail; /* q_tail is undefined if empty */
};

/*
 * LWPs that wait for a condition, first come first served.  As all that the
 * kernel has, they are guarded by its lock, which a switch does not release.
 */
struct waitq {
	struct lwpq wq_lwps;
};

/* Give c its idle LWP: the context in which the CPU started. */
void sched_init_cpu(struct cpu *c);
/* The idle LWP: run what is ready, else wait for interrupts. */
_Noreturn void sched_idle(void);
/* Queue an LWP that is new or comes from another CPU. */
void sched_ready(struct lwp *l);
/* Let l run only while its CPU has nothing else to do, or as all do. */
void sched_set_lowest(struct lwp *l, bool lowest);
/*
 * Count from now on for how long each LWP runs, or stop.  While no LWP counts,
 * no switch reads the clock.
 */
void sched_account(bool on);
/* Ticks for which l ran while this was counted. */
uint64_t sched_ran(const struct lwp *l);
/* Queue an LWP that slept.  at_once: it preempts the running LWP. */
void sched_woken(struct lwp *l, bool at_once);
/* Treat an LWP that is ready as if it were woken now, at once. */
void sched_promote(struct lwp *l);
/* Let the other LWPs run first. */
void sched_yield(void);
/* Handle AST_YIELD: the slice ended, a woken LWP waits, or l must move. */
void sched_preempt(void);
/* Switch to the next LWP.  The caller has queued itself already. */
void sched_switch(void);
/*
 * The first action on the stack that a switch leads to: free the LWP that
 * exited, and start the current LWP's counters.
 */
void sched_arrive(void);
/*
 * l's affinity or binding changed, or a CPU came.  Move l off a CPU where it
 * may not run, or to an idle one if it waits.
 */
void sched_move(struct lwp *l);
/* The CPUs that take LWPs: p_online(2). */
const struct cpuset *sched_cpus(void);
/* The CPUs of these that l may run on; at least one. */
struct cpuset sched_allowed(const struct lwp *l);
/* Returns 0, or EBUSY for the last CPU or if an LWP or a set is bound to c. */
int sched_offline(struct cpu *c);
void sched_online(struct cpu *c);

/*
 * waitq.c.  Sleep until woken, or until arch_tick() >= deadline (~0: no limit).
 * Returns 0, ETIMEDOUT, or EINTR if a signal or the end of the process
 * interrupts.
 */
int waitq_sleep(struct waitq *wq, uint64_t deadline);
/*
 * Sleep until woken, or until an event that the LWP cannot handle now.  Call it
 * in a loop that checks the condition.
 */
void waitq_wait(struct waitq *wq);
/* Wake at most n LWPs, and return how many. */
unsigned waitq_wake(struct waitq *wq, unsigned n);
/* Move the sleeping LWP l to the wait queue `to`. */
void waitq_move(struct lwp *l, struct waitq *to);
/* End l's sleep, if it sleeps; its waitq_sleep() returns err. */
void sched_wake(struct lwp *l, int err);
/* For a signal: end l's sleep with EINTR, or run it soon if it is ready. */
void sched_interrupt(struct lwp *l);
