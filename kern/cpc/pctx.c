/*
 * The operations of a controller on the context of an LWP that it controls.
 *
 * The controller's library names the set, so kc_proc is the controller's
 * process.  The LWP is not running (kern/proc/control.h): its context is
 * waiting, frozen or invalid, and its counts are in memory.
 */
#include "kern/cpc/kcpc.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/mm/page.h"
#include "kern/platform/errno.h"
#include "kern/proc/control.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/timer.h"

bool
kcpc_is_pctx(const struct kcpc_ctx *ctx)
{
	return ctx->kc_cpu == NULL && ctx->kc_lwp->l_proc != ctx->kc_proc;
}

int
kcpc_target(uintptr_t target, struct lwp **lp)
{
	return control_find_lwp((int)(target >> 32), (int)(uint32_t)target, lp);
}

int
kcpc_pctx_find(struct lwp *l, cpc_setid_t set, struct kcpc_ctx **ctxp)
{
	struct kcpc_ctx *ctx = l->l_cpc;

	if (set == 0 || ctx == NULL || ctx->kc_set != set ||
	    ctx->kc_proc != lwp_self()->l_proc)
		return EINVAL;
	return kcpc_find(l, 0, ctxp);
}

int
kcpc_pctx_sample(struct lwp *l, cpc_setid_t set, size_t n, struct cpc_sample *s)
{
	const struct cpc_page *cg;
	struct kcpc_ctx *ctx;
	int err;

	if ((err = kcpc_pctx_find(l, set, &ctx)) != 0)
		return err;
	if (n != ctx->kc_nreqs)
		return EINVAL;
	cg = ctx->kc_pcbe.ps_page;
	s->cs_hrtime = (ctx->kc_flags & KCPC_CTX_FREEZE) != 0 ? cg->cg_hrtime
	                                                      : gethrtime();
	s->cs_tick = cg->cg_tick;
	for (size_t i = 0; i < n; i++)
		s->cs_value[i] = cg->cg_req[i].cq_data;
	return 0;
}

int
kcpc_pctx_rele(struct lwp *l, cpc_setid_t set)
{
	struct kcpc_ctx *ctx;

	if (kcpc_pctx_find(l, set, &ctx) == EINVAL)
		return EINVAL;
	kcpc_drop(l);
	return 0;
}

int
kcpc_pctx_again(struct kcpc_ctx *ctx)
{
	struct cpc_pack *pack = ctx->kc_pack;
	uint64_t tick = ctx->kc_pcbe.ps_page->cg_tick;
	struct proc *by = ctx->kc_proc;
	struct lwp *l = ctx->kc_lwp;
	struct cpc_refusal rf; /* of no interest */

	ctx->kc_pack = NULL;
	kcpc_drop(l);
	if ((pack->cp_type != 0 &&
		kcpc_type_enter(l, pack->cp_type, &rf) != 0) ||
	    kcpc_hang(l, pack, &rf) != 0) {
		if (l->l_core_type != 0)
			kcpc_type_leave(l);
		kfree(pack);
		return EINVAL;
	}
	ctx = l->l_cpc;
	ctx->kc_proc = by;
	ctx->kc_pack = pack;
	ctx->kc_pcbe.ps_page->cg_tick = tick;
	kcpc_start(ctx);
	return 0;
}

int
kcpc_pctx_invalidate(struct lwp *l)
{
	struct kcpc_ctx *ctx;
	int err;

	if ((err = kcpc_find(l, 0, &ctx)) != 0)
		return err;
	kcpc_invalidate(ctx);
	return 0;
}

void
kcpc_released(const struct proc *by, struct proc *p)
{
	for (struct lwp *l = p->p_lwps; l != NULL; l = l->l_sibling) {
		if (l->l_cpc != NULL && l->l_cpc->kc_proc == by)
			kcpc_drop(l);
	}
}
