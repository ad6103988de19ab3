/* An LWP, a thread of a process or of the kernel.  Included by kern/, arch/. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kern/proc/signal.h"
#include "kern/sched/cpu.h"
#include "kern/sched/cpuset.h"
#include "kern/sched/timer.h"

struct as;
struct cpu;
struct kcpc_ctx;
struct kcpc_page;
struct proc;
struct trapframe;
struct waitq;

/*
 * A word that LWPs wait for: its memory and address there, or, in memory that
 * several map, NULL and the physical address.
 */
struct futex_key {
	const struct as *fk_as;
	uintptr_t fk_at;
};

enum lwp_state {
	LWP_NEW,
	LWP_READY,        /* in its CPU's c_runq */
	LWP_WOKEN,        /* the same in c_woken */
	LWP_READY_LOWEST, /* the same in c_lowest */
	LWP_RUNNING,
	LWP_ASLEEP, /* in l_waitq */
	LWP_ZOMBIE, /* never runs again */
};

struct lwp {
	int l_id;               /* in its process, from 1; kernel thread: 0 */
	int l_tid;              /* Linux's thread id, unique in the system */
	struct proc *l_proc;    /* NULL: a kernel thread */
	struct cpu *l_cpu;      /* where it runs or last ran */
	char *l_kstack;         /* from kstack_alloc() */
	char *l_kstack_top;     /* l_kstack + KSTACK_BYTES */
	void *l_arch;           /* the architecture's: saved state, FP area */
	bool l_system;          /* payload code runs at system privilege */
	unsigned l_ast;         /* AST_*: work to do before user code */
	struct kcpc_ctx *l_cpc; /* the bound set's context, or NULL */
	struct kcpc_page *l_cpc_page; /* its counter page, or NULL */

	/* Used by kern/sched. */
	enum lwp_state l_state;
	struct lwp *l_next, **l_prev; /* in the queue of l_cpu or l_waitq */
	struct waitq *l_waitq;        /* where it sleeps */
	struct timer l_timer;         /* ends a sleep */
	int l_wake_err; /* why a sleep ended: 0, ETIMEDOUT, EINTR */

	bool l_lowest;  /* priocntl(2): runs while its CPU has no other work */
	uint64_t l_ran; /* ticks on a CPU: sched_ran() */
	uint64_t l_faults; /* page faults of its program */

	int l_bound;        /* processor_bind(2): its only CPU, or -1 */
	int l_bound_before; /* the same before its first set of a CPU */
	bool l_cpc_moves;   /* it binds a set to l_bound, and moves there */

	/* Its first code, in the kernel. */
	void (*l_fn)(void *);
	void *l_arg;

	/* Only for LWPs of processes. */
	char l_name[16]; /* for prctl(2): at first of its program, as called */
	struct lwp *l_sibling, **l_link; /* in p_lwps */
	struct lwp *l_hash_next, **l_hash_link;
	struct futex_key l_futex; /* futex(2): it waits here, */
	uint32_t l_futex_bits;    /* for a wake with one of these bits */
	struct lwp *l_lock_owner; /* it waits for this LWP's lock, or NULL */
	uintptr_t l_lock_uva;     /* the address of that lock */
	unsigned l_lock_waiters;  /* LWPs that wait for locks of this one */
	/* Its wakes of one LWP at this address, since it last waited. */
	uintptr_t l_wake_uva;
	unsigned l_wakes;
	bool l_vforking; /* waits until its child executes or ends */

	/* Used by control.c: a stop that its controller has to see. */
	enum { STOP_NONE, STOP_NEW, STOP_TOLD } l_stop;
	int l_stop_at;            /* enum stop_at */
	intptr_t l_stop_arg;      /* the argument of stop_point() */
	struct waitq *l_stop_for; /* wake it when this LWP stops to run */

	/* Used by signal.c and signal_deliver.c. */
	struct sigpend l_sigpend; /* sent to this LWP, not yet delivered */
	uint64_t l_sigwait;       /* signals that sigtimedwait(2) waits for */
	uint64_t l_sigsaved;      /* mask to restore after sigsuspend(2), */
	bool l_sigrestore;        /* if this is set */
	bool l_restart;           /* make the system call again */
	struct sigkept l_kept;    /* the mask: bit n - 1, signal n is blocked */
	uintptr_t l_clear_tid;    /* set_tid_address(2) */
	uintptr_t l_robust;       /* set_robust_list(2), or 0 */
	uintptr_t l_entry_pc, l_entry_sp;
	struct trapframe *l_tf;   /* of its last entry into the kernel */
	struct cpuset l_affinity; /* CPUs it may run on */
	/*
	 * The CPUs of its set's core type, if it has one; else NULL.  Then
	 * l_affinity is what of l_wanted is in l_only.
	 */
	const struct cpuset *l_only;
	struct cpuset l_wanted; /* the affinity that programs set */
};

/*
 * Create an LWP that will call fn(arg) in the kernel once it is made ready.
 * p: its process; NULL: a kernel thread.  Returns NULL if memory runs out.
 */
struct lwp *lwp_create(struct proc *p, void (*fn)(void *), void *arg);
/* Free an LWP that never ran. */
void lwp_free(struct lwp *l);
/* Name it after the last part of the path of its program or script. */
void lwp_set_name(struct lwp *l, const char *path);
/*
 * Free a zombie that has left its stack.  If it was the last LWP of its
 * process, also free the process's memory.
 */
void lwp_gone(struct lwp *l);
/*
 * Set the affinity that programs see, or restrict it to the CPUs of `only`
 * (NULL: no more).  False, and no change: no CPU that is online would be left.
 */
bool lwp_set_affinity(struct lwp *l, const struct cpuset *wanted);
bool lwp_run_only(struct lwp *l, const struct cpuset *only);
/* Bind l to CPU c only; NULL: it runs where its affinity allows. */
void lwp_bind(struct lwp *l, struct cpu *c);
/* The number of LWPs of all processes. */
extern unsigned nlwp;
