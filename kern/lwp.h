/*
 * A thread.  Included by kern/ and arch/.
 */
#ifndef KERN_LWP_H
#define KERN_LWP_H

#include <stdbool.h>
#include <stdint.h>

struct cpu;
struct kcpc_ctx;
struct proc;

struct lwp {
	int l_id; /* in its process, from 1; kernel threads 0 */
	struct proc *l_proc;    /* NULL: a kernel thread */
	struct cpu *l_cpu;      /* where it runs or ran last */
	char *l_kstack;         /* from kstack_alloc() */
	char *l_kstack_top;     /* l_kstack + KSTACK_BYTES */
	void *l_arch;           /* the architecture's: saved state, FP area */
	bool l_system;          /* payload code runs at system privilege */
	struct kcpc_ctx *l_cpc; /* the bound set's context, or NULL */
};

#endif /* KERN_LWP_H */
