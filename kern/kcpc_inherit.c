/*
 * Inheritance: a new LWP of a process begins with a copy of its creator's
 * context, if that was bound with CPC_BIND_LWP_INHERIT and is valid.
 */
#include "kern/kcpc.h"

#include "kern/errno.h"
#include "kern/kcpc_impl.h"
#include "kern/lwp.h"
#include "kern/page.h"
#include "lib/string.h"

/* Where the copy counts from; true where it waits for a signal first. */
static bool
begin(struct kcpc_request *r)
{
	bool notify = (r->kr_flags & CPC_OVF_NOTIFY_EMT) != 0;

	r->kr_data = notify ? UINT64_MAX : r->kr_preset;
	return notify;
}

/* PICs, presets and what configure() made of the events are the creator's. */
static struct kcpc_ctx *
copy(const struct kcpc_ctx *from)
{
	size_t bytes = sizeof *from + from->kc_nreqs * sizeof from->kc_reqs[0];
	struct kcpc_ctx *ctx = kmalloc(bytes);
	unsigned i;

	if (ctx == NULL)
		return NULL;
	memcpy(ctx, from, bytes);
	ctx->kc_fold = (struct timer){ 0 };
	for (i = 0; i < ctx->kc_nreqs; i++) {
		ctx->kc_pcbe.ps_cfg[i] = &ctx->kc_reqs[i].kr_cfg;
		ctx->kc_reqs[i].kr_cfg.pc_datap = &ctx->kc_reqs[i].kr_data;
	}
	return ctx;
}

/*
 * A creator that is frozen, by an overflow too, has a frozen copy; that it is
 * to be signalled itself is its own affair.
 */
static bool
begin_all(struct kcpc_ctx *ctx)
{
	bool notify = false;
	unsigned i;

	ctx->kc_flags &= ~KCPC_CTX_SIGOVF;
	ctx->kc_hrtime = gethrtime();
	ctx->kc_vtick = 0;
	for (i = 0; i < ctx->kc_nreqs; i++)
		notify |= begin(&ctx->kc_reqs[i]);
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
	if ((ctx = copy(from)) == NULL)
		return EAGAIN; /* rather no LWP than one that is not counted */
	ctx->kc_lwp = child;
	child->l_cpc = ctx;
	kcpc_instance_add(ctx);
	if (begin_all(ctx))
		kcpc_signal(ctx);
	return 0;
}
