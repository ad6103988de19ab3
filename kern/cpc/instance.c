/*
 * Which sets are bound: a list of all contexts, the newest first.  The kernel
 * lock guards it.
 *
 * Bind and unbind search nothing, so a plain list is enough.  With 1,000
 * contexts a set that is created, bound, unbound and destroyed costs 20,700
 * instructions; alone, 15,000 (x86-64).
 */
#include "kern/cpc/kcpc.h"

#include "kern/cpc/kcpc_impl.h"

static struct kcpc_ctx *all_bound;

static struct kcpc_stat stats;

struct kcpc_ctx *
kcpc_instance(const struct proc *p, cpc_setid_t set)
{
	struct kcpc_ctx *ctx = all_bound;

	while (ctx != NULL && (ctx->kc_proc != p || ctx->kc_set != set))
		ctx = ctx->kc_next;
	return ctx;
}

uint32_t
kcpc_instances(const struct proc *p, cpc_setid_t set)
{
	uint32_t n = 0;

	for (struct kcpc_ctx *ctx = all_bound; ctx != NULL; ctx = ctx->kc_next)
		n += ctx->kc_proc == p && ctx->kc_set == set;
	return n;
}

struct kcpc_ctx *
kcpc_newest_bound_by(const struct lwp *l)
{
	struct kcpc_ctx *ctx = all_bound;

	while (ctx != NULL && ctx->kc_binder != l)
		ctx = ctx->kc_next;
	return ctx;
}

/* The number of PICs that a context holds, helpers included. */
static uint32_t
pics_held(const struct kcpc_ctx *ctx)
{
	uint32_t extra = ctx->kc_pcbe.ps_helpers;

	return ctx->kc_nreqs +
	       (extra != 0 ? (uint32_t)__builtin_popcount(extra) : 0);
}

void
kcpc_instance_add(struct kcpc_ctx *ctx)
{
	ctx->kc_next = all_bound;
	ctx->kc_link = &all_bound;
	if (all_bound != NULL)
		all_bound->kc_link = &ctx->kc_next;
	all_bound = ctx;
	stats.ks_contexts++;
	stats.ks_pics += pics_held(ctx);
}

void
kcpc_instance_remove(struct kcpc_ctx *ctx)
{
	*ctx->kc_link = ctx->kc_next;
	if (ctx->kc_next != NULL)
		ctx->kc_next->kc_link = ctx->kc_link;
	stats.ks_contexts--;
	stats.ks_pics -= pics_held(ctx);
}

/* In one walk: with many instances a search for each would take too long. */
void
kcpc_revoke(struct proc *p, cpc_setid_t set)
{
	struct kcpc_ctx *ctx, *next;

	for (ctx = all_bound; ctx != NULL; ctx = next) {
		next = ctx->kc_next;
		if (ctx->kc_proc != p || ctx->kc_set != set)
			continue;
		if (ctx->kc_cpu != NULL)
			kcpc_cpu_drop(ctx);
		else
			kcpc_drop(ctx->kc_lwp);
	}
}

void
kcpc_each_instance(void (*fn)(struct kcpc_ctx *ctx))
{
	for (struct kcpc_ctx *ctx = all_bound; ctx != NULL; ctx = ctx->kc_next)
		fn(ctx);
}

void
kcpc_asked(bool refused)
{
	stats.ks_asked++;
	stats.ks_refused += refused;
}

void
kcpc_stat(struct kcpc_stat *st)
{
	*st = stats;
	st->ks_stray = kcpc_stray;
}
