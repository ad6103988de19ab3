/*
 * Counters of CPUs: sets that count whatever runs on a CPU, the kernel and
 * the idle loop included.
 *
 * As long as there is one, anywhere, no LWP has the counters: contexts of
 * LWPs become invalid with the first, and none can be bound before the last
 * is gone.  So a CPU's PICs have one owner, and a switch of LWPs, which acts
 * on valid contexts of LWPs alone, leaves a CPU's context to itself.
 */
#include "kern/cpc/kcpc.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
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

/* Is a CPU other than c, of c's PMU, online, and, if asked, counting? */
static bool
has_sibling(const struct cpu *c, bool counting)
{
	const struct cpuset *with, *online = sched_cpus();

	if (kcpc_ops->siblings == NULL)
		return false;
	with = kcpc_ops->siblings(c->c_id);
	for (unsigned i = cpuset_next(with, online, 0); i < MAXCPU;
	     i = cpuset_next(with, online, i + 1)) {
		if (i != c->c_id && (!counting || cpus[i].c_cpc != NULL))
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
kcpc_cpu_judge(const struct lwp *l, uintptr_t cpu, int *subcode)
{
	if (cpu >= ncpu) {
		*subcode = CPC_PBIND_FAILED;
		return EINVAL;
	}
	if (!is_online(&cpus[cpu])) {
		*subcode = CPC_PBIND_FAILED;
		return ENOSYS;
	}
	if (!l->l_proc->p_cpc_cpu)
		return EACCES;
	if (cpus[cpu].c_cpc != NULL)
		return EAGAIN;
	return has_sibling(&cpus[cpu], true) ? EACCES : 0;
}

/* Back to where it was bound before, if that can still be. */
static void
processor_restore(struct lwp *l, int was)
{
	if (was >= 0 && is_online(&cpus[was]))
		lwp_bind(l, &cpus[was]);
	else
		lwp_bind(l, NULL);
}

/*
 * Go to CPU c and stay there.  Others have run on the way: EAGAIN where they
 * moved the LWP elsewhere, or have the counters of c now.
 */
static int
processor_take(struct lwp *l, struct cpu *c)
{
	lwp_bind(l, c);
	while (arch_curcpu() != c) {
		if (l->l_bound != (int)c->c_id)
			return EAGAIN;
		sched_yield();
	}
	if (c->c_cpc != NULL)
		return EAGAIN;
	return has_sibling(c, true) ? EACCES : 0;
}

/* The set that the binder bound to another CPU after this one, if any. */
static struct kcpc_ctx *
bound_next(const struct kcpc_ctx *ctx)
{
	struct kcpc_ctx *next = NULL, *o;

	for (unsigned i = 0; i < ncpu; i++) {
		o = cpus[i].c_cpc;
		if (o != NULL && o->kc_lwp == ctx->kc_lwp &&
		    o->kc_nth > ctx->kc_nth &&
		    (next == NULL || o->kc_nth < next->kc_nth))
			next = o;
	}
	return next;
}

/*
 * The context goes.  Its binder may have bound another, and then was bound
 * where it was for the sake of this one alone.
 */
static void
binder_restore(const struct kcpc_ctx *ctx)
{
	struct kcpc_ctx *next = bound_next(ctx);

	if (next != NULL && next->kc_was_bound == (int)ctx->kc_cpu->c_id)
		next->kc_was_bound = ctx->kc_was_bound;
	processor_restore(ctx->kc_lwp, ctx->kc_was_bound);
}

/* The current LWP is on CPU c: its counters are the context's from now on. */
static void
claim(struct lwp *l, struct cpu *c, struct kcpc_ctx *ctx)
{
	static uint64_t nbound;

	if (kcpc_ncpuset++ == 0)
		kcpc_each_instance(kcpc_invalidate);
	ctx->kc_nth = nbound++;
	ctx->kc_cpu = c;
	ctx->kc_lwp = l;
	ctx->kc_notify = 0; /* nobody is told: the count goes on */
	ctx->kc_pcbe.ps_user_read = false;
	c->c_cpc = ctx;
	kcpc_instance_add(ctx);
	kcpc_start(ctx);
}

int
kcpc_cpu_bind(struct lwp *l, struct cpu *c, cpc_setid_t set,
    const struct kcpc_want *want, unsigned n, int *subcode)
{
	int err, was = l->l_bound;
	struct kcpc_ctx *ctx;

	if ((err = kcpc_ctx_create(want, n, true, &ctx, subcode)) != 0)
		return err;
	if ((err = processor_take(l, c)) != 0)
		goto restore;
	kcpc_revoke(l->l_proc, set); /* others may have bound it meanwhile */
	ctx->kc_set = set;
	ctx->kc_proc = l->l_proc;
	ctx->kc_was_bound = was;
	claim(l, c, ctx);
	return 0;

restore:
	processor_restore(l, was);
	kcpc_ctx_destroy(ctx);
	return err;
}

void
kcpc_cpu_drop(struct kcpc_ctx *ctx)
{
	kcpc_halt(ctx);
	ctx->kc_cpu->c_cpc = NULL;
	kcpc_ncpuset--;
	binder_restore(ctx);
	kcpc_instance_remove(ctx);
	kcpc_ctx_destroy(ctx);
}

int
kcpc_cpu_find(struct lwp *l, cpc_setid_t set, struct kcpc_ctx **ctxp)
{
	struct kcpc_ctx *ctx = kcpc_instance(l->l_proc, set);

	if (ctx == NULL || ctx->kc_cpu == NULL || ctx->kc_lwp != l)
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
		if (cpus[i].c_cpc != NULL && cpus[i].c_cpc->kc_lwp == l)
			kcpc_cpu_drop(cpus[i].c_cpc);
	}
}
