/*
 * Sets bound to CPUs.  They count everything that runs on the CPU, the kernel
 * and the idle loop included.
 *
 * While any CPU is claimed, no LWP has counters.  The first claim makes all
 * contexts of LWPs invalid.  No set can be bound to an LWP again until the last
 * claim is gone.  So a CPU's PICs have one owner.  A switch of LWPs acts on
 * valid contexts of LWPs only and does not touch a CPU's context.
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

unsigned kcpc_ncpuset;

static bool
is_online(const struct cpu *c)
{
	return cpuset_has(sched_cpus(), c->c_id);
}

/*
 * Does c share its PMU with another CPU that is online?  With `counting`: and
 * that is claimed?
 */
static bool
has_sibling(const struct cpu *c, bool counting)
{
	const struct cpuset *with, *online = sched_cpus();

	if (kcpc_ops->siblings == NULL)
		return false;
	with = kcpc_ops->siblings(c->c_id);
	for (unsigned i = cpuset_next(with, online, 0); i < MAXCPU;
	     i = cpuset_next(with, online, i + 1)) {
		if (i != c->c_id && (!counting || cpus[i].c_claimed))
			return true;
	}
	return false;
}

int
kcpc_lwps_may_count(void)
{
	const struct cpuset *online = sched_cpus();

	if (kcpc_ncpuset != 0)
		return EAGAIN;
	if (kcpc_ops->siblings == NULL)
		return 0;
	for (unsigned i = cpuset_next(online, online, 0); i < MAXCPU;
	     i = cpuset_next(online, online, i + 1)) {
		if (has_sibling(&cpus[i], false))
			return EACCES;
	}
	return 0;
}

void
kcpc_cpu_online(struct cpu *c)
{
	if (kcpc_ops != NULL && has_sibling(c, false))
		kcpc_each_instance(kcpc_invalidate);
}

int
kcpc_cpu_judge(const struct lwp *l, uintptr_t cpu, struct cpc_refusal *rf)
{
	if (cpu >= ncpu)
		return kcpc_refuse(rf, CPC_PBIND_FAILED);
	if (!is_online(&cpus[cpu])) {
		kcpc_refuse(rf, CPC_PBIND_FAILED);
		return ENOSYS;
	}
	if (!l->l_proc->p_cpc_cpu)
		return EACCES;
	if (cpus[cpu].c_claimed)
		return EAGAIN;
	return has_sibling(&cpus[cpu], true) ? EACCES : 0;
}

/*
 * Move the current LWP to CPU c and bind it there.  Others run in between:
 * EAGAIN if they bound the LWP elsewhere, or bound a set to c.
 */
static int
processor_move(struct lwp *l, struct cpu *c)
{
	lwp_bind(l, c);
	while (arch_curcpu() != c && l->l_bound == (int)c->c_id)
		sched_yield();
	if (l->l_bound != (int)c->c_id || c->c_claimed)
		return EAGAIN;
	return has_sibling(c, true) ? EACCES : 0;
}

/*
 * A context that the LWP bound to a CPU is gone, or was not bound.  The LWP is
 * bound again to the CPU of its newest other one.  After the last it is bound
 * to where it was before the first, if that is online.
 */
static void
binder_restore(struct lwp *l)
{
	const struct kcpc_ctx *ctx = kcpc_newest_bound_by(l);
	int to = ctx != NULL ? (int)ctx->kc_cpu->c_id : l->l_bound_before;

	lwp_bind(l, to >= 0 && is_online(&cpus[to]) ? &cpus[to] : NULL);
}

void
kcpc_cpu_claim(struct cpu *c)
{
	if (kcpc_ncpuset++ == 0)
		kcpc_each_instance(kcpc_invalidate);
	c->c_claimed = true;
}

void
kcpc_cpu_release(struct cpu *c)
{
	c->c_claimed = false;
	kcpc_ncpuset--;
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
	int err;
	cpc_setid_t set = pack->cp_set;
	struct kcpc_ctx *ctx;

	if ((err = kcpc_type_judge(pack->cp_type, c, rf)) != 0 ||
	    (err = kcpc_ctx_create(pack, true, NULL, &ctx, rf)) != 0)
		return err;
	if (kcpc_newest_bound_by(l) == NULL)
		l->l_bound_before = l->l_bound;
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
	if (l->l_bound == (int)c->c_id) /* else it is another LWP's choice */
		binder_restore(l);
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
kcpc_shared_open(struct cpu **cp)
{
	struct lwp *l = lwp_self();
	struct cpc_refusal rf;
	int err;

	if (kcpc_ops == NULL)
		return ENXIO;
	if (l->l_bound < 0)
		return EINVAL;
	if ((err = kcpc_cpu_judge(l, (uintptr_t)l->l_bound, &rf)) != 0)
		return err;
	*cp = &cpus[l->l_bound];
	kcpc_cpu_claim(*cp);
	return 0;
}

void
kcpc_shared_close(struct cpu *c)
{
	kcpc_cpu_detach(c);
	kcpc_cpu_release(c);
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

	if ((err = kcpc_type_judge(pack->cp_type, c, rf)) != 0 ||
	    (err = kcpc_ctx_create(pack, true, NULL, &ctx, rf)) != 0)
		return err;
	kcpc_cpu_detach(c);
	kcpc_cpu_attach(c, ctx);
	return 0;
}
