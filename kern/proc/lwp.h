/*
 * A thread.  Included by kern/ and arch/.
 */
#ifndef KERN_PROC_LWP_H
#define KERN_PROC_LWP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/proc/signal.h"
#include "kern/sched/cpu.h"
#include "kern/sched/cpuset.h"
#include "kern/sched/timer.h"

struct cpu;
struct kcpc_ctx;
struct kcpc_page;
struct proc;
struct trapframe;
struct waitq;

enum lwp_state {
	LWP_NEW,
	LWP_READY, /* in its CPU's c_runq */
	LWP_WOKEN, /* the same in c_woken */
	LWP_RUNNING,
	LWP_ASLEEP, /* in l_waitq */
	LWP_ZOMBIE, /* never runs again */
};

struct lwp {
	int l_id;               /* in its process, from 1; kernel threads 0 */
	int l_tid;              /* Linux's: of all processes */
	struct proc *l_proc;    /* NULL: a kernel thread */
	struct cpu *l_cpu;      /* where it runs or ran last */
	char *l_kstack;         /* from kstack_alloc() */
	char *l_kstack_top;     /* l_kstack + KSTACK_BYTES */
	void *l_arch;           /* the architecture's: saved state, FP area */
	bool l_system;          /* payload code runs at system privilege */
	unsigned l_ast;         /* AST_*: to do on the way to user code */
	struct kcpc_ctx *l_cpc; /* the bound set's context, or NULL */
	struct kcpc_page *l_cpc_page; /* its counter page, or NULL */

	/* sched.c */
	enum lwp_state l_state;
	struct lwp *l_next, **l_prev; /* in the queue of l_cpu or l_waitq */
	struct waitq *l_waitq;        /* where it sleeps */
	struct timer l_timer;         /* ends a sleep */
	int l_wake_err; /* why a sleep ended: 0, ETIMEDOUT, EINTR */

	int l_bound; /* processor_bind(2): the only CPU it runs on; or -1 */

	/* where it starts, in the kernel */
	void (*l_fn)(void *);
	void *l_arg;

	/* of a process's LWP */
	struct lwp *l_sibling, **l_link; /* in p_lwps */
	struct lwp *l_hash_next, **l_hash_link;
	uintptr_t l_futex; /* it waits for, with these bits */
	uint32_t l_futex_bits;
	bool l_vforking; /* until its child runs a program or ends */

	/* signal.c */
	struct sigpend l_sigpend; /* sent to this LWP, not yet delivered */
	uint64_t l_sigwait;       /* what sigtimedwait(2) waits for */
	uint64_t l_sigsaved;      /* the mask after sigsuspend(2), */
	bool l_sigrestore;        /* which is to come back */
	bool l_restart;           /* the system call is to be made again */
	struct sigkept l_kept;    /* the mask: bit n - 1, signal n is blocked */
	uintptr_t l_clear_tid;    /* set_tid_address(2) */
	uintptr_t l_entry_pc, l_entry_sp;
	struct trapframe *l_tf;   /* of its way into the kernel */
	struct cpuset l_affinity; /* CPUs it may run on */
};

/*
 * A new LWP, not yet runnable, that will call fn(arg) in the kernel; its
 * process p, or NULL for a kernel thread.  NULL where memory is out.
 */
struct lwp *lwp_create(struct proc *p, void (*fn)(void *), void *arg);
/* Free one that never ran. */
void lwp_free(struct lwp *l);
/*
 * A zombie has left its stack: free it, and of its process, if it was the
 * last, what nobody needs any more.
 */
void lwp_gone(struct lwp *l);
/* To run on CPU c alone, or where its affinity lets it (NULL). */
void lwp_bind(struct lwp *l, struct cpu *c);
/* LWPs of processes that exist now. */
extern unsigned nlwp;

#endif /* KERN_PROC_LWP_H */
