/*
 * The operations of kcpc that lower parts of the kernel call.  kern/cpc/kcpc.h
 * describes each.  Included by kern/sched and kern/proc, which call them, and
 * by kern/cpc/init/register.c, which registers them.
 *
 * kcpc_register() sets the table before the first CPU idles.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/proc/lwp.h"

struct cpu;
struct kcpc_ctx;
struct proc;
struct trapframe;

struct counting_ops {
	/* a switch of LWPs: counting_switch_out() calls the first two */
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
	bool (*sigemt_take)(struct lwp *l, const struct trapframe *tf);
	bool (*sigemt_due)(const struct lwp *l);
};
extern const struct counting_ops *counting;

/* An LWP leaves its CPU: its context, if it has one, counts no more. */
static inline void
counting_switch_out(const struct lwp *l)
{
	uint64_t pics;

	if (l->l_cpc != NULL && (pics = counting->save(l->l_cpc)) != 0)
		counting->overflow(l->l_cpc, pics);
}
