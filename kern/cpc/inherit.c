/*
 * Inheritance: a new LWP of a process begins with a copy of its creator's
 * context, if that was bound with CPC_BIND_LWP_INHERIT and is not invalid.
 */
#include "kern/cpc/kcpc.h"

#include "kern/cpc/kcpc_impl.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"

/*
 * Set the count from which the copy of request i starts.  A notify request
 * starts one event before its overflow, and needs SIGEMT first: returns true.
 */
static bool
count_begin(struct kcpc_ctx *ctx, unsigned i)
{
	bool notify = ctx->kc_pcbe.ps_cfg[i].pc_notify;

	*kcpc_count(ctx, i) = notify ? UINT64_MAX : ctx->kc_reqs[i].kr_preset;
	return notify;
}

/* The copy of a frozen context is frozen.  True if SIGEMT is due. */
static bool
copy_begin(struct kcpc_ctx *ctx)
{
	bool notify = false;
	unsigned i;

	ctx->kc_own.cg_tick = 0;
	if ((ctx->kc_flags & KCPC_CTX_FREEZE) != 0)
		kcpc_freeze(ctx, 0);
	for (i = 0; i < ctx->kc_nreqs; i++)
		notify |= count_begin(ctx, i);
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
	/* A profile begins at execve(2), which ends this child. */
	if (from->kc_profile != NULL && !kcpc_profiled(parent))
		return 0;
	if ((ctx = kcpc_ctx_copy(from)) == NULL)
		return EAGAIN; /* an LWP that is not counted is worse than none
		                */
	ctx->kc_lwp = child;
	ctx->kc_proc =
	    child->l_proc; /* a new process, if a profile's LWP forked */
	child->l_cpc = ctx;
	kcpc_instance_add(ctx);
	kcpc_type_inherit(ctx, child);
	if (ctx->kc_profile != NULL)
		kcpc_profile_inherit(ctx);
	else if (copy_begin(ctx))
		kcpc_freeze(ctx, KCPC_CTX_SIGOVF);
	return 0;
}
