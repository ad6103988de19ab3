/*
 * The operations of kcpc that lower parts of the kernel call.  kern/cpc/kcpc.h
 * describes each.  Included by kern/sched and kern/proc, which call them, and
 * by kern/cpc/init/register.c, which registers them.
 *
 * kcpc_register() sets the table before the first CPU idles.
 */
#ifndef KERN_SCHED_COUNTING_H
#define KERN_SCHED_COUNTING_H

#include <stdbool.h>
#include <stdint.h>

struct cpu;
struct kcpc_ctx;
struct lwp;
struct proc;
struct trapframe;

struct counting_ops {
	/* a switch of LWPs */
	uint64_t (*save)(struct kcpc_ctx *ctx);
	void (*overflow)(struct kcpc_ctx *ctx, uint64_t pics);
	void (*restore)(struct kcpc_ctx *ctx);
	/* CPUs */
	void (*cpu_init)(unsigned cpu);
	void (*cpu_online)(struct cpu *c);
	void (*idle)(bool idle); /* the CPU begins or ends to wait for work */
	/* the life of an LWP */
	int (*inherit)(const struct lwp *parent, struct lwp *child);
	int (*fork)(const struct lwp *parent, struct lwp *child);
	void (*vforked)(const struct lwp *parent);
	void (*lwp_exit)(struct lwp *l);
	/* a controller and the process that it no longer controls */
	void (*released)(const struct proc *by, struct proc *p);
	/* traps and signals */
	bool (*read_fault)(struct trapframe *tf);
	void (*page_interrupted)(struct lwp *l);
	bool (*overflowed)(struct lwp *l, const struct trapframe *tf);
	bool (*signal_due)(const struct lwp *l);
};
extern const struct counting_ops *counting;

#endif /* KERN_SCHED_COUNTING_H */
