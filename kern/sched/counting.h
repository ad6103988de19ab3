/*
 * What the lower parts of the kernel tell kcpc, as one table of operations
 * that kern/cpc registers.  Included by kern/sched, kern/proc and kern/file,
 * which call it, and by kern/cpc/init.c.  kern/cpc/kcpc.h says what each does.
 *
 * kcpc_register() sets it before the first CPU idles.
 */
#ifndef KERN_SCHED_COUNTING_H
#define KERN_SCHED_COUNTING_H

#include <stdbool.h>
#include <stdint.h>

struct cpu;
struct kcpc_ctx;
struct lwp;
struct trapframe;

struct counting_ops {
	/* a switch of LWPs: kcpc_save(), kcpc_overflow(), kcpc_restore() */
	uint64_t (*save)(struct kcpc_ctx *ctx);
	void (*overflow)(struct kcpc_ctx *ctx, uint64_t pics);
	void (*restore)(struct kcpc_ctx *ctx);
	/* CPUs */
	void (*cpu_init)(unsigned cpu);
	void (*cpu_online)(struct cpu *c);
	void (*idle)(bool idle); /* the idle loop begins or ends to wait */
	/* the life of an LWP */
	int (*inherit)(const struct lwp *parent, struct lwp *child);
	int (*fork)(const struct lwp *parent, struct lwp *child);
	void (*lwp_exit)(struct lwp *l);
	/* traps and signals */
	bool (*read_fault)(struct trapframe *tf);
	void (*page_interrupted)(struct lwp *l);
	bool (*overflowed)(struct lwp *l, const struct trapframe *tf);
	bool (*signal_due)(const struct lwp *l);
};
extern const struct counting_ops *counting;

#endif /* KERN_SCHED_COUNTING_H */
