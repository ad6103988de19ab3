/* A process: a run of a program.  Included by kern/, and by arch/ for p_as. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kern/file/file.h"
#include "kern/mm/as.h"
#include "kern/proc/control/stop_point.h"
#include "kern/proc/elf.h"
#include "kern/proc/lwp.h"
#include "kern/proc/signal.h"
#include "kern/sched/sched.h"
#include "kern/sched/timer.h"

struct archive_entry;
struct trapframe;

#define PROC_NAME_MAX 64

#define PROC_ARGS_MAX 80 /* as Solaris: PRARGSZ */

#define PROC_CPC_WORDS 16

/* Linux's numbers of setrlimit(2); private writable memory is data. */
enum { LIMIT_DATA = 2, LIMIT_STACK, LIMIT_CORE, LIMIT_FILES = 7, LIMITS = 16 };
/* No core is ever written, as any limit allows. */
#define LIMITS_OBEYED (7 << LIMIT_DATA | 1 << LIMIT_FILES)
struct limit {
	uint64_t li_soft, li_hard;
};

struct proc {
	int p_pid, p_pgid, p_sid; /* its number, group and session */
	char
	    p_name[PROC_NAME_MAX]; /* the program's path, as shown in the log */
	struct as *p_as;
	struct elf p_elf;    /* its program, for symbols */
	struct elf p_loader; /* of a dynamic program */
	const struct archive_entry *p_program;
	bool p_system;   /* runs at system privilege */
	bool p_cpc_cpu;  /* has the privilege cpc_cpu(5) (kern/cpc) */
	stop_fn *p_stop; /* called at stop points, or NULL */
	char p_args[PROC_ARGS_MAX]; /* its arguments, cut to fit */

	/* proc.c, proc_tree.c */
	struct proc *p_next; /* in allprocs */
	struct proc *p_hash_next, **p_hash_link;
	struct proc *p_parent;  /* NULL: the launcher */
	struct proc *p_sibling; /* in p_children of p_parent */
	struct proc *p_children;
	struct waitq p_child_wait; /* its LWPs wait for a child to end */
	struct waitq p_alone;      /* execve(2) waits for other LWPs to end */
	struct lwp *p_execer;      /* the LWP in execve(2), or NULL */
	struct lwp *p_vforker;     /* parent's LWP, waiting in vfork(2) */
	bool p_orphan;             /* no parent will wait for it */
	bool p_execed;             /* it made execve(2) since fork(2) */
	bool p_vforked; /* it runs in its parent's memory, until execve(2) */

	/* control.c */
	struct proc *p_controller; /* or NULL */
	struct proc *p_controlled; /* processes that it controls... */
	struct proc *p_also;       /* ...linked by this */
	struct waitq p_parked;     /* its LWPs wait for the controller */
	bool p_dies_with;          /* it is killed when it is released */
	bool p_wait_cancel;        /* the controller's wait ends at once */

	struct lwp *p_lwps; /* linked by l_sibling */
	unsigned p_nlwp;    /* alive */
	int p_next_id;      /* the next LWP's l_id */

	struct file *p_fd[NFD];
	uint64_t p_cloexec; /* bit n: execve(2) closes descriptor n */
	struct sigaction p_sig[NSIG + 1]; /* by signal number */
	struct sigpend p_sigpend;         /* sent to the process, not an LWP */
	unsigned p_nsigq;  /* queued signals of the process and its LWPs */
	uint64_t p_random; /* state of getrandom(2)'s generator */
	uint32_t p_umask;
	struct file *p_cwd; /* the working directory; NULL: the root */
	size_t p_stack_bytes;
	struct limit p_limit[LIMITS];
	uintptr_t p_vdso;      /* address of the vDSO's code */
	uintptr_t p_sigreturn; /* what handlers return to, or 0 */

	struct timer p_timeout;
	struct timer p_alarm;   /* setitimer(2) */
	hrtime_t p_alarm_every; /* its interval; 0: once */
	bool p_exiting;
	int p_status;  /* if p_exiting: exit status 0..255 or KILLED(signal) */
	bool p_done;   /* has no LWP left */
	int p_stopped; /* the signal that stopped it, or 0 */
	int p_job;     /* CLD_STOPPED or CLD_CONTINUED, until a wait(2) */
	unsigned p_membarriers; /* commands of membarrier(2) that it may use */

	/* usage.c: ticks on a CPU */
	uint64_t p_started;      /* not a count: the tick of proc_start() */
	uint64_t p_ran;          /* of LWPs that have ended, and others */
	uint64_t p_children_ran; /* of children that were waited for */

	struct waitq p_wait;

	bool p_said_efault; /* only the first bad address is reported */

	uint64_t p_cpc_pages[PROC_CPC_WORDS]; /* counter_page.c: slots in use */
};

/* The process of the running LWP; never NULL in a system call. */
static inline struct proc *
proc_self(void)
{
	return lwp_self()->l_proc;
}

/* The signals pending for the running LWP, blocked or not. */
static inline uint64_t
sig_pending(const struct lwp *l)
{
	return l->l_sigpend.sp_set | l->l_proc->p_sigpend.sp_set;
}

/*
 * Create a process of the program argv[0] in the archives, ready to start.  On
 * failure prints why and returns NULL.
 */
struct proc *proc_create(char *const argv[], unsigned argc, char *const envv[],
    unsigned envc, bool system, bool cpc_cpu);
/*
 * Fill p_program, p_elf and p_loader.  e is NULL if there is no such file.
 * Returns 0, or an errno with the reason in *why, which may point into buf.
 */
int proc_use_program(struct proc *p, const struct archive_entry *e,
    const char **why, char *buf, size_t buflen);
/* Start p.  timeout_s 0: no time limit. */
void proc_start(struct proc *p, unsigned timeout_s);
/* Wait until p ends.  Returns its exit status, 0..255. */
int proc_wait(struct proc *p);
/* Free a process that has ended or never ran. */
void proc_free(struct proc *p);

/*
 * Order all LWPs of a process to exit before they return to user code.  Only
 * the first status counts: 0..255, or KILLED(signal).  Callable in any context.
 */
void proc_kill(struct proc *p, int status);
#define KILLED(sig) (0x100 | (sig))
/* End the calling LWP.  The last one ends its process. */
_Noreturn void lwp_exit(void);

/* All processes, linked by p_next, until they are freed. */
extern struct proc *allprocs;

/*
 * id_hash.c.  pid_alloc() returns a number that no process or LWP ever had.
 * Between insert and remove a process is found by its p_pid, an LWP by its
 * l_tid.
 */
int pid_alloc(void);
void proc_hash_insert(struct proc *p);
void proc_hash_remove(struct proc *p);
void lwp_hash_insert(struct lwp *l, int tid);
void lwp_hash_remove(struct lwp *l);
/* NULL if it does not exist or, for a process, has ended. */
struct proc *proc_find(int pid);
struct lwp *lwp_find(int tid);
/* The LWP of p with this l_id, or NULL. */
static inline struct lwp *
lwp_by_id(const struct proc *p, int id)
{
	struct lwp *l = p->p_lwps;

	while (l != NULL && l->l_id != id)
		l = l->l_sibling;
	return l;
}
/* The process of this number or of an LWP of this number, even an ended one. */
struct proc *proc_find_any(int id);

/*
 * usage.c.  Count times on CPUs from now on, until the programs of a line have
 * ended.  Before that, each process counts as if one LWP of it always ran.
 */
void proc_account(void);
void proc_account_end(void);
/* Ticks for which the LWPs of p ran. */
uint64_t proc_ran(const struct proc *p);

/*
 * proc_tree.c.  Copy the current process; the copy has no LWP yet.  Its memory
 * is a copy, too, or for vfork(2) the same memory.  Only the used part of the
 * stack at sp is copied, and some spare.  Returns 0 or ENOMEM.
 */
int proc_copy(uintptr_t sp, bool shares, struct proc **copy);
/* Send SIGCHLD to the parent of p, and end its waits. */
void proc_tell_parent(struct proc *p, int code, int status);
/* Called when the last LWP of p begins to exit: notify the parent. */
void proc_ended(struct proc *p);
/* Called when the last LWP of p has left its stack: free p's memory. */
void proc_gone(struct proc *p);
/*
 * Make all other LWPs of the current process exit, and wait for that.  Returns
 * EINTR if the calling LWP must exit instead.
 */
int proc_alone(void);
/* End the wait of the parent in vfork(2) for p, if there is one. */
void proc_release_parent(struct proc *p);
/* Free a child that has ended or never ran. */
void proc_reap(struct proc *child);
/*
 * End all processes that programs forked, and wait until they are freed.  Call
 * it when all processes of proc_create() have ended.
 */
void proc_end_others(void);
/*
 * Load the program of p_elf into p's empty address space: segments, and a stack
 * with arguments, environment and auxiliary vector, whose AT_EXECFN is path.
 * Sets its first *pc and *sp.  Returns 0, or an errno with the reason in *why.
 */
int exec_load(struct proc *p, const char *path, char *const argv[],
    unsigned argc, char *const envv[], unsigned envc, uintptr_t *pc,
    uintptr_t *sp, const char **why, char *buf, size_t buflen);

/* fork.c: the system calls that create LWPs and processes. */
intptr_t sys_clone(const uintptr_t *a);
intptr_t sys_fork(const uintptr_t *a);
intptr_t sys_vfork(const uintptr_t *a);

/* fault.c: write "0x401234 (main+0x14)", or the address if it has no symbol. */
#define FAULT_WHERE_MAX 112
void fault_where(const struct proc *p, uintptr_t pc, char *buf, size_t len);
