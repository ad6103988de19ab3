/*
 * Sets bound to CPUs.  They count everything that runs on the CPU, the kernel
 * and the idle loop included.  A switch of LWPs does not touch a CPU's context.
 * kern/cpc/owner.c says when a set can be bound to a CPU.
 */
#include "kern/cpc/kcpc.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/file/file.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/cpu.h"
#include "kern/sched/sched.h"
#include "kern/sched/xcall.h"

/*
 * Move the current LWP to CPU c and bind it there.  Others run in between:
 * EAGAIN if they bound the LWP elsewhere, or bound a set to c.
 */
static int
processor_move(struct lwp *l, struct cpu *c)
{
	lwp_bind(l, c);
	l->l_cpc_moves = true;
	while (arch_curcpu() != c && l->l_bound == (int)c->c_id)
		sched_yield();
	l->l_cpc_moves = false;
	return l->l_bound == (int)c->c_id ? kcpc_cpu_free(c) : EAGAIN;
}

/* Bind the LWP to this CPU, or to none if it is offline or -1. */
static void
bind_online(struct lwp *l, int cpu)
{
	if (cpu >= 0 && cpuset_has(sched_cpus(), (unsigned)cpu))
		lwp_bind(l, &cpus[cpu]);
	else
		lwp_bind(l, NULL);
}

/* The set of the newest context that the LWP bound to a CPU, or 0. */
static cpc_setid_t
newest_set(const struct lwp *l)
{
	const struct kcpc_ctx *ctx = kcpc_newest_bound_by(l);

	return ctx != NULL ? ctx->kc_set : 0;
}

/*
 * A context that the LWP bound to a CPU is gone, or was not bound.  The LWP is
 * bound again to the CPU of its newest other one.  After the last it is bound
 * to where it was before the first, if that is online.  An LWP that moves to
 * the CPU of a new set stays on its way.
 */
static void
binder_restore(struct lwp *l)
{
	const struct kcpc_ctx *ctx = kcpc_newest_bound_by(l);

	if (l->l_cpc_moves)
		return;
	bind_online(
	    l, ctx != NULL ? (int)ctx->kc_cpu->c_id : l->l_bound_before);
}

void
kcpc_cpu_attach(struct cpu *c, struct kcpc_ctx *ctx)
{
	ctx->kc_cpu = c;
	c->c_cpc = ctx;
	ctx->kc_notify = 0; /* an overflow does not freeze it */
	ctx->kc_pcbe.ps_user_read = false;
	kcpc_instance_add(ctx);
	kcpc_start(ctx);
}

void
kcpc_cpu_detach(struct cpu *c)
{
	struct kcpc_ctx *ctx = c->c_cpc;

	if (ctx == NULL)
		return;
	kcpc_stop(ctx);
	c->c_cpc = NULL;
	kcpc_instance_remove(ctx);
	kcpc_ctx_destroy(ctx);
}

int
kcpc_cpu_bind(struct lwp *l, struct cpu *c, const struct cpc_pack *pack,
    struct cpc_refusal *rf)
{
	int err, was = l->l_bound;
	cpc_setid_t set = pack->cp_set, newest = newest_set(l);
	struct kcpc_ctx *ctx;

	if ((err = kcpc_type_check(pack->cp_type, c, rf)) != 0 ||
	    (err = kcpc_ctx_create(pack, true, c->c_id + 1, NULL, &ctx, rf)) !=
		0)
		return err;
	if (newest == 0)
		l->l_bound_before = was;
	if ((err = processor_move(l, c)) != 0)
		goto restore;
	kcpc_revoke(l->l_proc, set); /* others may have bound it since */
	ctx->kc_set = set;
	ctx->kc_proc = l->l_proc;
	ctx->kc_binder = l;
	kcpc_cpu_claim(c);
	kcpc_cpu_attach(c, ctx);
	return 0;

restore:
	if (l->l_bound == (int)c->c_id) { /* else it is another LWP's choice */
		if (newest_set(l) == newest)
			bind_online(l, was);
		else /* `was` may be the choice of a set that has ended */
			binder_restore(l);
	}
	kcpc_ctx_destroy(ctx);
	return err;
}

void
kcpc_cpu_drop(struct kcpc_ctx *ctx)
{
	struct cpu *c = ctx->kc_cpu;
	struct lwp *l = ctx->kc_binder;

	kcpc_cpu_detach(c);
	kcpc_cpu_release(c);
	binder_restore(l);
}

int
kcpc_cpu_find(struct lwp *l, cpc_setid_t set, struct kcpc_ctx **ctxp)
{
	struct kcpc_ctx *ctx = arch_curcpu()->c_cpc;

	/* On the CPU that it counts for, which is usual, search nothing. */
	if (ctx == NULL || ctx->kc_proc != l->l_proc || ctx->kc_set != set)
		ctx = kcpc_instance(l->l_proc, set);
	if (ctx == NULL || ctx->kc_cpu == NULL || ctx->kc_binder != l)
		return EINVAL;
	*ctxp = ctx;
	return l->l_bound == (int)ctx->kc_cpu->c_id &&
	               arch_curcpu() == ctx->kc_cpu
	           ? 0
	           : EAGAIN;
}

void
kcpc_cpu_lwp_exit(struct lwp *l)
{
	for (unsigned i = 0; i < ncpu && kcpc_ncpuset != 0; i++) {
		if (cpus[i].c_cpc != NULL && cpus[i].c_cpc->kc_binder == l)
			kcpc_cpu_drop(cpus[i].c_cpc);
	}
}

/*
 * Counters of a CPU that a descriptor of /dev/cpc_shared has claimed.  Source:
 * cpc_shared_open(3CPC).
 *
 * open(2) claims the CPU to which the LWP is bound, and the last close releases
 * it.  The descriptor, not an LWP, owns the context: any LWP that is bound to
 * the CPU may use it, and no processor binding is changed.
 */

int
kcpc_shared_open(struct file *f)
{
	struct lwp *l = lwp_self();
	struct cpc_refusal rf;
	int err;

	if (kcpc_ops == NULL)
		return ENXIO;
	if (l->l_bound < 0)
		return EINVAL;
	if ((err = kcpc_cpu_check(l, (uintptr_t)l->l_bound, &rf)) != 0)
		return err;
	f->f_shared = &cpus[l->l_bound];
	kcpc_cpu_claim(f->f_shared);
	return 0;
}

void
kcpc_shared_close(struct file *f)
{
	kcpc_cpu_detach(f->f_shared);
	kcpc_cpu_release(f->f_shared);
}

int
kcpc_shared_find(const struct lwp *l, uintptr_t fd, struct cpu **cp)
{
	struct file *f = fd < NFD ? file_get((int)fd) : NULL;
	struct cpu *c;

	if (f == NULL || f->f_kind != FILE_CPC_SHARED)
		return EBADF;
	*cp = c = f->f_shared;
	return l->l_bound == (int)c->c_id && arch_curcpu() == c ? 0 : EAGAIN;
}

int
kcpc_shared_bind(
    struct cpu *c, const struct cpc_pack *pack, struct cpc_refusal *rf)
{
	struct kcpc_ctx *ctx;
	int err;

	if ((err = kcpc_type_check(pack->cp_type, c, rf)) != 0 ||
	    (err = kcpc_ctx_create(pack, true, c->c_id + 1, NULL, &ctx, rf)) !=
		0)
		return err;
	kcpc_cpu_detach(c);
	kcpc_cpu_attach(c, ctx);
	return 0;
}
