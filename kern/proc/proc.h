/*
 * A process: one run of a program.  Included by kern/ and, for p_as, by
 * arch/.
 */
#ifndef KERN_PROC_PROC_H
#define KERN_PROC_PROC_H

#include <stdbool.h>
#include <stdint.h>

#include "kern/file/file.h"
#include "kern/mm/as.h"
#include "kern/proc/elf.h"
#include "kern/proc/lwp.h"
#include "kern/proc/signal.h"
#include "kern/proc/stop_point.h"
#include "kern/sched/sched.h"
#include "kern/sched/timer.h"

struct trapframe;

#define PROC_NAME_MAX 64

#define PROC_CPC_WORDS 16

struct proc {
	int p_pid;
	char
	    p_name[PROC_NAME_MAX]; /* the program's path, as shown in the log */
	struct as p_as;
	struct elf p_elf; /* the image it was made from: symbols */
	bool p_system;    /* runs at system privilege */
	bool p_cpc_cpu;   /* has the privilege of that name: kcpc */
	stop_fn *p_stop;  /* who looks at it at stop points, or NULL */

	/* proc.c, proc_tree.c */
	struct proc *p_next; /* in allprocs */
	struct proc *p_hash_next, **p_hash_link;
	struct proc *p_parent;  /* NULL: the launcher */
	struct proc *p_sibling; /* in p_children of p_parent */
	struct proc *p_children;
	struct waitq p_child_wait; /* its LWPs, for a child to end */
	struct waitq p_alone;      /* execve(2), for the other LWPs to end */
	struct lwp *p_execer;      /* the LWP that is to be left, or NULL */
	struct lwp *p_vforker;     /* waits for this process to let go of it */
	bool p_orphan;             /* nobody asks how it ended */

	struct lwp *p_lwps; /* by l_sibling */
	unsigned p_nlwp;    /* still alive */
	int p_next_id;      /* the next LWP's l_id */

	struct file *p_fd[NFD];
	uint64_t p_cloexec; /* descriptors execve(2) closes, bit n for n */
	struct sigaction p_sig[NSIG + 1]; /* by signal number */
	struct sigpend p_sigpend;         /* sent to no LWP in particular */
	unsigned p_nsigq;                 /* of all these, how many */
	uint64_t p_random; /* state of getrandom(2)'s generator */
	size_t p_stack_bytes;

	struct timer p_timeout;
	struct timer p_alarm;   /* setitimer(2), */
	hrtime_t p_alarm_every; /* 0: once */
	bool p_exiting;
	int p_status; /* exit status 0..255 or KILLED(signal), once exiting */
	bool p_done;  /* no LWP is left */
	struct waitq p_wait;

	bool p_said_efault; /* one bad address is reported in a process */

	uint64_t p_cpc_pages[PROC_CPC_WORDS]; /* kcpc_page.c: places taken */
};

/* The process of the running LWP; never NULL in a system call. */
static inline struct proc *
proc_self(void)
{
	return lwp_self()->l_proc;
}

/* What is pending for the running LWP, blocked or not. */
static inline uint64_t
sig_pending(const struct lwp *l)
{
	return l->l_sigpend.sp_set | l->l_proc->p_sigpend.sp_set;
}

/*
 * Make a process of the program at path (in the archives), ready to start;
 * on failure prints why and returns NULL, nothing left behind.
 */
struct proc *proc_create(char *const argv[], unsigned argc, char *const envv[],
    unsigned envc, bool system, bool cpc_cpu);
/*
 * Fill p_elf from the program at path.  0, or an errno with *why, perhaps in
 * buf.
 */
int proc_find_program(struct proc *p, const char *path, const char **why,
    char *buf, size_t buflen);
/*
 * Start it, and wait until it is gone; its exit status, 0..255.  What it
 * forked and left behind ends with it.
 */
int proc_run(struct proc *p, unsigned timeout_s);
/* Free what is left of one that has ended, or never ran. */
void proc_free(struct proc *p);

/*
 * End the process: its LWPs exit on their way to user code.  The first
 * status counts: 0..255, or KILLED(signal).  Called in any context.
 */
void proc_kill(struct proc *p, int status);
#define KILLED(sig) (0x100 | (sig))
/* End the calling LWP; the last one ends its process. */
_Noreturn void lwp_exit(void);

/* All processes by p_next, those that have ended and are not yet freed too. */
extern struct proc *allprocs;

/*
 * find.c.  A number no process or LWP has had; a process is found by its
 * p_pid, an LWP by its l_tid, from name() to unname().
 */
int pid_alloc(void);
void proc_hash_insert(struct proc *p);
void proc_hash_remove(struct proc *p);
void lwp_hash_insert(struct lwp *l, int tid);
void lwp_hash_remove(struct lwp *l);
/* NULL where there is none, or it has ended. */
struct proc *proc_find(int pid);
struct lwp *lwp_find(int tid);

/*
 * proc_tree.c.  A copy of the current process, memory included, that has no
 * LWP yet; of the stack at sp what is in use and a little more.  0, ENOMEM.
 */
int proc_copy(uintptr_t sp, struct proc **copy);
/* The last LWP has begun to end: tell the parent. */
void proc_ended(struct proc *p);
/* It has left the process's memory. */
void proc_gone(struct proc *p);
/* No other LWP of the current process is left; EINTR: it ends itself. */
int proc_alone(void);
/* Whoever waits in vfork(2) for the current process may go on. */
void proc_release_parent(struct proc *p);
/* Free a child that has ended, or never ran. */
void proc_reap(struct proc *child);
/* End all processes but p, and wait until they are freed. */
void proc_end_others(struct proc *p);

/*
 * Put the program into p's empty address space: segments, stack with
 * arguments, environment and auxiliary vector.  0, or an errno with *why.
 */
int exec_load(struct proc *p, char *const argv[], unsigned argc,
    char *const envv[], unsigned envc, uintptr_t *pc, uintptr_t *sp,
    const char **why, char *buf, size_t buflen);

#endif /* KERN_PROC_PROC_H */
