/*
 * Whose context does a call mean: the caller's, that of an LWP which it
 * controls, or a CPU's?
 *
 * A controller acts on the context of an LWP of another process.
 * The controller's library names the set, so kc_proc is the controller's
 * process.  The LWP is not running (kern/proc/control/control.h): its context
 * is waiting, frozen or invalid, and its counts are in memory.
 */
#include "kern/cpc/kcpc.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/mm/page.h"
#include "kern/platform/errno.h"
#include "kern/proc/control/control.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/cpu.h"

bool
kcpc_is_pctx(const struct kcpc_ctx *ctx)
{
	return ctx->kc_cpu == NULL && ctx->kc_lwp->l_proc != ctx->kc_proc;
}

int
kcpc_target_lwp(uintptr_t target, struct lwp **lp)
{
	return control_find_lwp((int)(target >> 32), (int)(uint32_t)target, lp);
}

static int
pctx_find(struct lwp *l, cpc_setid_t set, struct kcpc_ctx **ctxp)
{
	const struct kcpc_ctx *ctx = l->l_cpc;

	if (set == 0 || ctx == NULL || ctx->kc_set != set ||
	    ctx->kc_proc != lwp_self()->l_proc)
		return EINVAL;
	return kcpc_find(l, 0, ctxp);
}

int
kcpc_target_ctx(uintptr_t target, cpc_setid_t set, struct kcpc_ctx **ctxp)
{
	struct lwp *l = lwp_self();
	struct cpu *c;
	int err;

	*ctxp = NULL;
	if (CPC_TARGET_KIND(target) == CPC_TARGET_FD(0)) {
		if ((err = kcpc_shared_find(l, (uint32_t)target, &c)) != 0)
			return err;
		*ctxp = c->c_cpc;
		return *ctxp != NULL ? 0 : EINVAL;
	}
	if (target != CPC_TARGET_SELF) {
		if ((err = kcpc_target_lwp(target, &l)) != 0)
			return err;
		return pctx_find(l, set, ctxp);
	}
	if (set == 0)
		return EINVAL;
	err = kcpc_find(l, set, ctxp);
	return err == EINVAL ? kcpc_cpu_find(l, set, ctxp) : err;
}

int
kcpc_target_rele(uintptr_t target, cpc_setid_t set)
{
	struct kcpc_ctx *ctx;
	struct cpu *c;
	int err;

	if (CPC_TARGET_KIND(target) == CPC_TARGET_FD(0)) {
		err = kcpc_shared_find(lwp_self(), (uint32_t)target, &c);
		if (err == 0)
			kcpc_cpu_detach(c);
		return err;
	}
	err = kcpc_target_ctx(target, set, &ctx);
	if (ctx == NULL)
		return err;
	kcpc_drop(ctx->kc_lwp); /* an invalid one, too */
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
		lwp_run_only(l, NULL);
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

void
kcpc_released(const struct proc *by, struct proc *p)
{
	for (struct lwp *l = p->p_lwps; l != NULL; l = l->l_sibling) {
		if (l->l_cpc != NULL && l->l_cpc->kc_proc == by)
			kcpc_drop(l);
	}
}
