/*
 * The operations on the context of an LWP: bind, sample, release, inherit.
 * kern/cpc/cpu_ops.c has those on the context of a CPU.
 *
 * The head of kern/cpc/start_stop.c has the states of a context.
 */
#include "kern/cpc/kcpc.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/cpc/test/witness.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/cpu.h"

/*
 * The PICs for ps_nmi_pics: those of notify requests, if one of these counts at
 * system privilege.  The kernel itself can then make a PIC overflow, and the
 * NMI stops all PICs of the set.  Not with a witness that counts the kernel:
 * the NMI does not stop the witness, and the two counts would differ.
 */
static uint32_t
nmi_pics(const struct kcpc_ctx *ctx)
{
	for (unsigned i = 0; i < ctx->kc_nreqs; i++) {
		const struct pcbe_cfg *cfg = &ctx->kc_pcbe.ps_cfg[i];

		if (cfg->pc_notify && (cfg->pc_flags & CPC_COUNT_SYSTEM) != 0)
			return witness_counts(CPC_COUNT_SYSTEM)
			           ? 0
			           : ctx->kc_notify;
	}
	return 0;
}

/* Make the context of l, for a set of process p. */
static inline int
hang_context(struct lwp *l, struct proc *p, const struct cpc_pack *pack,
    struct kcpc_ctx **ctxp, struct cpc_refusal *rf)
{
	struct kcpc_ctx *ctx;

	int err = kcpc_ctx_create(pack, l->l_proc->p_cpc_cpu, 0,
	    l->l_cpc_page != NULL ? l->l_cpc_page->kg_page : NULL, &ctx, rf);
	if (err != 0)
		return err;
	ctx->kc_set = pack->cp_set;
	ctx->kc_proc = p;
	ctx->kc_lwp = l;
	if (ctx->kc_notify != 0) {
		ctx->kc_pcbe.ps_nmi_pics = nmi_pics(ctx);
		/* A witness must not stop. */
		if (!witness_on && !kcpc_ops->pcbe_no_freeze)
			ctx->kc_pcbe.ps_freeze = ctx->kc_notify;
	}
	if (pack->cp_type != 0)
		ctx->kc_flags |= KCPC_CTX_TYPED;
	kcpc_instance_add(ctx);
	l->l_cpc = ctx;
	*ctxp = ctx;
	return 0;
}

int
kcpc_hang(struct lwp *l, const struct cpc_pack *pack, struct cpc_refusal *rf)
{
	struct kcpc_ctx *ctx;

	return hang_context(l, lwp_self()->l_proc, pack, &ctx, rf);
}

int
kcpc_bind(struct lwp *l, const struct cpc_pack *pack, uint32_t flags,
    struct cpc_refusal *rf)
{
	struct kcpc_ctx *ctx;
	int err = hang_context(l, l->l_proc, pack, &ctx, rf);

	if (err != 0)
		return err;
	ctx->kc_page_set = CPC_PAGE_SET(pack->cp_set, pack->cp_nreqs);
	if ((flags & CPC_BIND_LWP_INHERIT) != 0)
		ctx->kc_flags |= KCPC_CTX_LWPINHERIT;
	kcpc_start(ctx);
	return 0;
}

void
kcpc_drop(struct lwp *l)
{
	struct kcpc_ctx *ctx = l->l_cpc;

	if (ctx == NULL)
		return;
	kcpc_stop(ctx);
	kcpc_page_shut(ctx);
	if (ctx->kc_profile != NULL)
		kcpc_profile_end(ctx);
	l->l_cpc = NULL;
	kcpc_instance_remove(ctx);
	kcpc_ctx_destroy(ctx);
	if (l->l_only != NULL)
		lwp_run_only(l, NULL);
}

void
kcpc_lwp_exit(struct lwp *l)
{
	kcpc_drop(l);
	kcpc_cpu_lwp_exit(l);
	kcpc_page_free(l);
}

void
kcpc_invalidate(struct kcpc_ctx *ctx)
{
	if (ctx->kc_cpu != NULL)
		return;
	kcpc_stop(ctx);
	ctx->kc_flags |= KCPC_CTX_FREEZE | KCPC_CTX_INVALID;
	kcpc_page_shut(ctx);
}

int
kcpc_find(struct lwp *l, cpc_setid_t set, struct kcpc_ctx **ctxp)
{
	struct kcpc_ctx *ctx = l->l_cpc;

	if (ctx == NULL ||
	    (set != 0 && (ctx->kc_set != set || ctx->kc_proc != l->l_proc)))
		return EINVAL;
	*ctxp = ctx;
	if ((ctx->kc_flags & KCPC_CTX_UNAVAILABLE) == 0)
		return 0;
	if ((ctx->kc_flags & KCPC_CTX_PROFILE) == 0)
		return EAGAIN;
	*ctxp = NULL;
	return EINVAL;
}

/* The sample of a context that does not count. */
static inline void
sample_page(const struct kcpc_ctx *ctx, hrtime_t now, struct cpc_sample *s)
{
	const struct cpc_page *cg = ctx->kc_pcbe.ps_page;

	s->cs_hrtime = now;
	s->cs_tick = cg->cg_tick;
	for (unsigned i = 0; i < ctx->kc_nreqs; i++)
		s->cs_value[i] = cg->cg_req[i].cq_data;
}

static inline int
sample_context(struct kcpc_ctx *ctx, size_t n, struct cpc_sample *s)
{
	if (n != ctx->kc_nreqs)
		return EINVAL;
	if ((ctx->kc_flags & KCPC_CTX_NO_OVF_INTR) != 0 && kcpc_running(ctx))
		kcpc_fold(ctx); /* the fold timer may be late */
	while ((ctx->kc_flags & KCPC_CTX_FREEZE) == 0) {
		s->cs_hrtime = gethrtime();
		if (kcpc_ops->sample(&ctx->kc_pcbe, s))
			return 0;
		kcpc_fold(ctx);
	}
	sample_page(ctx, ctx->kc_pcbe.ps_page->cg_hrtime, s);
	return 0;
}

__attribute__((no_stack_protector)) int
kcpc_sample(struct lwp *l, cpc_setid_t set, size_t n, struct cpc_sample *s)
{
	struct kcpc_ctx *ctx;

	int err = kcpc_find(l, set, &ctx);
	if (err == EINVAL && kcpc_ncpuset != 0)
		err = kcpc_cpu_find(l, set, &ctx);
	return err != 0 ? err : sample_context(ctx, n, s);
}

int
kcpc_ctx_sample(struct kcpc_ctx *ctx, size_t n, struct cpc_sample *s)
{
	if (!kcpc_is_pctx(ctx) || (ctx->kc_flags & KCPC_CTX_FREEZE) != 0)
		return sample_context(ctx, n, s);
	if (n != ctx->kc_nreqs)
		return EINVAL;
	sample_page(ctx, gethrtime(), s);
	return 0;
}

int
kcpc_rele(struct lwp *l, cpc_setid_t set)
{
	struct kcpc_ctx *ctx;

	/* An invalid context can still be released. */
	if (kcpc_find(l, set, &ctx) != EINVAL) {
		kcpc_drop(l);
		return 0;
	}
	/* Any LWP of the process may release a CPU's context. */
	ctx = kcpc_ncpuset != 0 ? kcpc_instance(l->l_proc, set) : NULL;
	if (ctx == NULL || ctx->kc_cpu == NULL)
		return EINVAL;
	kcpc_cpu_drop(ctx);
	return 0;
}

/*
 * Inheritance: a new LWP of a process begins with a copy of its creator's
 * context, if that was bound with CPC_BIND_LWP_INHERIT and is not invalid.
 */

/*
 * The copy of a frozen context is frozen.  A notify request starts one event
 * before its overflow, and needs SIGEMT first: returns true.
 */
static bool
copy_begin(struct kcpc_ctx *ctx)
{
	bool notify = false;

	ctx->kc_own.cg_tick = 0;
	if ((ctx->kc_flags & KCPC_CTX_FREEZE) != 0)
		kcpc_freeze(ctx, 0);
	for (unsigned i = 0; i < ctx->kc_nreqs; i++) {
		*kcpc_count(ctx, i) = ctx->kc_reqs[i].kr_preset;
		if (ctx->kc_pcbe.ps_cfg[i].pc_notify) {
			*kcpc_count(ctx, i) = UINT64_MAX;
			notify = true;
		}
	}
	return notify;
}

int
kcpc_inherit(const struct lwp *parent, struct lwp *child)
{
	const struct kcpc_ctx *from = parent->l_cpc;
	struct kcpc_ctx *ctx;

	if (from != NULL && from->kc_perf != NULL)
		return kcpc_perf->inherit(parent, child);
	if (from == NULL || (from->kc_flags & KCPC_CTX_LWPINHERIT) == 0 ||
	    (from->kc_flags & KCPC_CTX_INVALID) != 0)
		return 0;
	/* A profile begins at execve(2), which ends this child. */
	if (from->kc_profile != NULL && !kcpc_profiled(parent))
		return 0;
	if ((ctx = kcpc_ctx_copy(from)) == NULL)
		return EAGAIN; /* an uncounted LWP would make sums wrong */
	ctx->kc_lwp = child;
	/* This is a new process if a profile's LWP forked. */
	ctx->kc_proc = child->l_proc;
	child->l_cpc = ctx;
	kcpc_instance_add(ctx);
	kcpc_type_inherit(ctx, child);
	if (ctx->kc_profile != NULL)
		kcpc_profile_inherit(ctx);
	else if (copy_begin(ctx))
		kcpc_freeze(ctx, KCPC_CTX_SIGOVF);
	return 0;
}
