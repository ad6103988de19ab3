/*
 * A process: one run of a program.  Included by kern/ and, for p_as, by
 * arch/.
 */
#ifndef KERN_PROC_H
#define KERN_PROC_H

#include <stdbool.h>
#include <stdint.h>

#include "kern/as.h"
#include "kern/elf.h"
#include "kern/file.h"
#include "kern/sched.h"
#include "kern/signal.h"
#include "kern/timer.h"

struct lwp;
struct trapframe;

#define PROC_NAME_MAX 64

struct proc {
	int p_pid;
	char p_name[PROC_NAME_MAX]; /* the program's path, cut to fit */
	struct as p_as;
	struct elf p_elf; /* the image it was made from: symbols */
	bool p_system;    /* runs at system privilege */

	struct lwp *p_lwps; /* by l_sibling; zombies are kept to the end */
	unsigned p_nlwp;    /* still alive */
	int p_next_id;      /* the next LWP's l_id */

	struct file *p_fd[NFD];
	struct sigaction p_sig[NSIG + 1]; /* by signal number */
	uint64_t p_random; /* state of getrandom(2)'s generator */
	size_t p_stack_bytes;

	struct timer p_timeout;
	bool p_exiting;
	int p_status; /* 0..255, valid once exiting */
	bool p_done;  /* no LWP is left; guarded by p_wait */
	struct waitq p_wait;

	bool p_efault;           /* this system call met a bad address, */
	uintptr_t p_efault_addr; /* this one */
	bool p_said_efault;      /* one is reported in a process */
};

/* The process of the running LWP; never NULL in a system call. */
struct proc *proc_self(void);

/*
 * Make a process of the program at path (in the archives), ready to start;
 * on failure prints why and returns NULL, nothing left behind.
 */
struct proc *proc_create(char *const argv[], unsigned argc, char *const envv[],
    unsigned envc, bool system);
/* Start it, and wait until it is gone; its exit status, 0..255. */
int proc_run(struct proc *p, unsigned timeout_s);
/* Free what is left of one that has run, or never did. */
void proc_free(struct proc *p);

/*
 * End the process: its LWPs exit on their way to user code.  The first
 * status counts.  Called in any context.
 */
void proc_kill(struct proc *p, int status);
/* End the calling LWP, which is the last or whose process is ending. */
_Noreturn void lwp_exit(void);

/*
 * Put the program into p's empty address space: segments, stack with
 * arguments, environment and auxiliary vector.  0, or an errno with *why.
 */
int exec_load(struct proc *p, char *const argv[], unsigned argc,
    char *const envv[], unsigned envc, uintptr_t *pc, uintptr_t *sp,
    const char **why, char *buf, size_t buflen);

#endif /* KERN_PROC_H */
