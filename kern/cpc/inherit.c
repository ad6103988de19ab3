/*
 * Inheritance: a new LWP of a process begins with a copy of its creator's
 * context, if that was bound with CPC_BIND_LWP_INHERIT and is valid.
 */
#include "kern/cpc/kcpc.h"

#include "kern/cpc/kcpc_impl.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"

/* Where the copy counts from; true where it waits for a signal first. */
static bool
begin(struct kcpc_ctx *ctx, unsigned i)
{
	bool notify = ctx->kc_pcbe.ps_cfg[i].pc_notify;

	*kcpc_count(ctx, i) = notify ? UINT64_MAX : ctx->kc_reqs[i].kr_preset;
	return notify;
}

/* A creator that is frozen, by an overflow too, has a frozen copy. */
static bool
begin_all(struct kcpc_ctx *ctx)
{
	bool notify = false;
	unsigned i;

	ctx->kc_own->cg_tick = 0;
	if ((ctx->kc_flags & KCPC_CTX_FREEZE) != 0)
		kcpc_freeze(ctx);
	for (i = 0; i < ctx->kc_nreqs; i++)
		notify |= begin(ctx, i);
	return notify;
}

int
kcpc_inherit(const struct lwp *parent, struct lwp *child)
{
	const struct kcpc_ctx *from = parent->l_cpc;
	struct kcpc_ctx *ctx;

	if (from == NULL || (from->kc_flags & KCPC_CTX_LWPINHERIT) == 0 ||
	    (from->kc_flags & KCPC_CTX_INVALID) != 0)
		return 0;
	if ((ctx = kcpc_ctx_copy(from)) == NULL)
		return EAGAIN; /* rather no LWP than one that is not counted */
	ctx->kc_lwp = child;
	ctx->kc_proc = child->l_proc; /* another's, of a profile's fork */
	child->l_cpc = ctx;
	kcpc_instance_add(ctx);
	if (ctx->kc_profile != NULL)
		kcpc_profile_inherit(ctx);
	else if (begin_all(ctx))
		kcpc_signal(ctx);
	return 0;
}
