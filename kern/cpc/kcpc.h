/*
 * Counters of LWPs: what the rest of the kernel calls.  Included by kern/.
 *
 * A bound set has one context for each LWP that holds an instance of it.
 * The context's counts are in the PICs only while its LWP runs.  An LWP
 * without a context finds the PICs stopped.  All functions: interrupts off.
 */
#ifndef KERN_CPC_KCPC_H
#define KERN_CPC_KCPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpu;
struct kcpc_ctx;
struct kcpc_profile;
struct lwp;
struct trapframe;

struct pcbe_ops;

/*
 * Have the lower parts of the kernel call kcpc (kern/sched/counting.h).
 * Called by kern_main() before a CPU idles.
 */
void kcpc_register(void);

/*
 * Ask the machine for its backend, unless there is one to use instead, and
 * prove every PIC; a PIC that fails is never used, and a machine without one
 * that passes has no counters.  Prints what was found.  Called once, by
 * kern_main(), all other CPUs idle.
 */
void kcpc_init(const struct pcbe_ops *instead);
/* Before this CPU's first LWP: its overflows interrupt, too.  Idempotent. */
void kcpc_cpu_init(unsigned cpu);

/*
 * What every machine's record says of the PMU: JSON members without braces,
 * as snprintf() truncates them and with its result.  After kcpc_init().
 */
int kcpc_describe(char *buf, size_t len);

/*
 * Around arch_lwp_switch(): save() is the last thing done for the LWP that
 * leaves, restore() the first for the one that arrives, so that the switch
 * itself is on nobody's account.  Only for an LWP that has a context (l_cpc).
 * save() returns what had overflowed, which is told to overflow(): apart, so
 * that it ends with a jump to the backend.
 */
uint64_t kcpc_save(struct kcpc_ctx *ctx);
void kcpc_overflow(struct kcpc_ctx *ctx, uint64_t pics);
void kcpc_restore(struct kcpc_ctx *ctx);

/*
 * The current LWP has made another in its process, which has not run yet:
 * what it inherits.  0, or EAGAIN where memory is out.
 */
int kcpc_inherit(const struct lwp *parent, struct lwp *child);
/*
 * The same in a process that is a copy: nothing is counted there, unless it is
 * a profile's, too; but its program believes to have a counter page, and has
 * one.  0, or an errno where memory is out.
 */
int kcpc_fork(const struct lwp *parent, struct lwp *child);

/* CPU c is to take LWPs: its siblings' counters may be its own, too. */
void kcpc_cpu_online(struct cpu *c);

/* The LWP ends: its context goes.  LWP current. */
void kcpc_lwp_exit(struct lwp *l);
/*
 * Its program ends and another begins (exec): its context and counter page
 * go, but for a profile's context, which now begins to count.
 */
void kcpc_exec_leave(struct lwp *l);
void kcpc_exec_enter(struct lwp *l);

/*
 * A payload faulted.  True where it was in its registered read sequence, of
 * PICs that were closed under it: it goes on at the sequence's other exit.
 */
bool kcpc_read_fault(struct trapframe *tf);

/* A handler is to run: a read it interrupts starts again after it. */
void kcpc_page_interrupted(struct lwp *l);

/* The system call BARECPC_SYS_CPC; see include/sys/cpc.h.  -errno. */
intptr_t kcpc_syscall(const uintptr_t *a);

/*
 * From now on an overflow of a CPC_OVF_NOTIFY_EMT request freezes its
 * context and calls post(l), in the overflow interrupt; until then the
 * capability is not offered and such a request cannot be bound.
 */
void kcpc_set_notify(void (*post)(struct lwp *l));

/*
 * Has the running LWP's context frozen because a notify request overflowed,
 * so that it is to be signalled?  Tells it once.  A profile's is not told of:
 * it has its sample, from the frame tf by which the LWP goes back.
 */
bool kcpc_sigemt_take(struct lwp *l, const struct trapframe *tf);
/* Would kcpc_sigemt_take() say so?  Its counters may have been taken since. */
bool kcpc_sigemt_due(const struct lwp *l);

/* The profile of an open /dev/profile, or NULL where memory is out. */
struct kcpc_profile *kcpc_profile_new(void);
void kcpc_profile_release(struct kcpc_profile *kp);
/* As many samples as fit, and are there: bytes, or -errno. */
intptr_t kcpc_profile_read(struct kcpc_profile *kp, uintptr_t uva, size_t len);
/* The LWP's program is being profiled: it has no counters of its own. */
bool kcpc_profiled(const struct lwp *l);

struct kcpc_stat {
	uint32_t ks_contexts;
	uint32_t ks_pics;    /* that contexts hold, helpers included */
	uint64_t ks_asked;   /* times a program asked to count something */
	uint64_t ks_refused; /* and was told: not here, not that, not now */
	uint64_t ks_stray;   /* overflow interrupts that belonged to no one */
};
void kcpc_stat(struct kcpc_stat *st);

#endif /* KERN_CPC_KCPC_H */
