/*
 * The functions of kcpc that other parts of the kernel call.  Included by
 * kern/.
 *
 * A bound set has a context for each LWP that holds an instance of it, or one
 * for its CPU.  An LWP's context counts only while the LWP runs, a CPU's all
 * the time.  While neither counts on a CPU, its PICs are stopped, but for the
 * witness's.  Call all functions with interrupts off, and all but
 * kcpc_pmi_late() with the kernel lock held or before other CPUs use it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpu;
struct file;
struct kcpc_ctx;
struct kcpc_profile;
struct lwp;
struct proc;
struct trapframe;

struct pcbe_ops;

/*
 * Have the lower parts of the kernel call kcpc (kern/sched/counting.h).
 * Called by kern_main() before a CPU idles.
 */
void kcpc_register(void);

/*
 * Take the machine's backend, or `instead` unless that is NULL, and prove every
 * PIC.  A PIC that fails is never used; if all fail, the machine has no
 * counters.  Prints what was found.  Called once, by kern_main(), while all
 * other CPUs idle.
 */
void kcpc_init(const struct pcbe_ops *instead);
/* Enable this CPU's PMI, before its first LWP.  A second call does nothing. */
void kcpc_cpu_init(unsigned cpu);

/*
 * Append a description of the PMU for the machine's record: JSON members
 * without braces.  After kcpc_init().
 */
struct text; /* lib/text.h */
void kcpc_describe(struct text *t);

/*
 * Around arch_lwp_switch(), for an LWP that has a context (l_cpc).  Call save()
 * for the LWP that leaves before the stacks change, and restore() for the one
 * that arrives as the last step of sched_arrive().  Then no LWP's context
 * counts the change.  The result of save() is the PICs that overflowed; if it
 * is not 0, the caller hands it to overflow().
 */
uint64_t kcpc_save(struct kcpc_ctx *ctx);
void kcpc_overflow(struct kcpc_ctx *ctx, uint64_t pics);
void kcpc_restore(struct kcpc_ctx *ctx);

/*
 * Give a new LWP what it inherits of its creator, the current LWP.  Call it
 * before the child runs.  Returns 0, or EAGAIN if memory is out.
 */
int kcpc_inherit(const struct lwp *parent, struct lwp *child);
/*
 * The same for the LWP of a forked process.  It inherits no set, unless a
 * profile counts its parent.  The child's libcpc still holds the address of
 * the parent's counter page, so the child gets a page there.  Returns 0, or an
 * errno if memory is out.
 */
int kcpc_fork(const struct lwp *parent, struct lwp *child);
/* The child of vfork(2) has left the memory of its parent. */
void kcpc_vforked(const struct lwp *parent);

/*
 * CPU c goes online.  If it shares its PMU with an online CPU, all contexts of
 * LWPs become invalid.
 */
void kcpc_cpu_online(struct cpu *c);

/* Process `by` no longer controls p: release what it bound to LWPs of p. */
void kcpc_released(const struct proc *by, struct proc *p);

/* The current LWP ends: release its contexts and its counter page. */
void kcpc_lwp_exit(struct lwp *l);
/*
 * Call leave() before exec removes the old program, and enter() after the new
 * one is in place.  The context and the counter page go.  A profile's context
 * stays, and counts from enter() on.
 */
void kcpc_exec_leave(struct lwp *l);
void kcpc_exec_enter(struct lwp *l);

/*
 * A payload faulted.  If it was in its registered read sequence, the PICs were
 * closed under it: tf then continues at the sequence's exit for failure.
 * Returns whether that was so.
 */
bool kcpc_read_fault(struct trapframe *tf);

/* A signal handler is about to run: a direct read it interrupts restarts. */
void kcpc_page_interrupted(struct lwp *l);

/* The system call BARECPC_SYS_CPC of include/sys/cpc.h: a result or -errno. */
intptr_t kcpc_syscall(const uintptr_t *a);

/*
 * From now on a notify overflow freezes its context and calls post(l), in the
 * overflow interrupt.  Before the call, CPC_CAP_OVERFLOW_INTERRUPT is not
 * offered, and a CPC_OVF_NOTIFY_EMT request cannot be bound.
 */
void kcpc_set_notify(void (*post)(struct lwp *l));

/*
 * Did the current LWP's context freeze on a notify overflow, so that SIGEMT
 * must be delivered?  True once for each overflow.  For a profile's context it
 * takes a sample instead, from the frame tf by which the LWP returns to its
 * program, and returns false.
 */
bool kcpc_sigemt_take(struct lwp *l, const struct trapframe *tf);
/*
 * Would kcpc_sigemt_take() return true?  No longer if the context became
 * invalid since the overflow.
 */
bool kcpc_sigemt_due(const struct lwp *l);

/* The profile of a newly opened /dev/profile.  NULL: out of memory. */
struct kcpc_profile *kcpc_profile_new(void);
void kcpc_profile_release(struct kcpc_profile *kp);
/* Copy whole samples to the program, as many as fit: bytes, or -errno. */
intptr_t kcpc_profile_read(struct kcpc_profile *kp, uintptr_t uva, size_t len);
/*
 * The LWP has mapped this part of a file to execute it.  If it is sampled, keep
 * that: samples there are the file's.
 */
void kcpc_profile_map(const struct lwp *l, const char *path, uintptr_t va,
    size_t bytes, uint64_t offset);
/* Does a profile count the LWP?  Then the LWP can bind no set. */
bool kcpc_profiled(const struct lwp *l);

/* /dev/cpc_shared: take a CPU's counters (0 or an errno); give them back. */
int kcpc_shared_open(struct file *f);
void kcpc_shared_close(struct file *f);

struct kcpc_stat {
	uint32_t ks_contexts;
	uint32_t ks_pics;    /* PICs that contexts hold, helpers included */
	uint64_t ks_asked;   /* times a program asked to count something */
	uint64_t ks_refused; /* times it was refused */
	uint64_t ks_stray;   /* stray PMIs */
};
/* The numbers now, for the leak check at the end of a run. */
void kcpc_stat(struct kcpc_stat *st);
