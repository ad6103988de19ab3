/*
 * Counters of LWPs: contexts and what is done with them.
 *
 * A context is running (its LWP is on this CPU, the PICs count for it),
 * waiting (its LWP is not), frozen or invalid.  kern/kcpc_run.c is what takes
 * it into and out of the first.
 */
#include "kern/kcpc.h"

#include "kern/errno.h"
#include "kern/kcpc_impl.h"
#include "kern/lock.h"
#include "kern/lwp.h"

/* Contexts by process and set: for kcpc_live() and kcpc_revoke(). */
#define NHASH 256
static struct kcpc_ctx *hash[NHASH];
static struct spinlock hash_lock;

static struct kcpc_stat stats;

static struct kcpc_ctx **
hash_head(const struct proc *p, cpc_setid_t set)
{
	uint64_t h = ((uintptr_t)p >> 4 ^ set) * 0x9e3779b97f4a7c15;

	return &hash[h >> 56];
}

static void
hash_add(struct kcpc_ctx *ctx)
{
	struct kcpc_ctx **head = hash_head(ctx->kc_proc, ctx->kc_set);

	lock_acquire(&hash_lock);
	ctx->kc_next = *head;
	ctx->kc_link = head;
	if (ctx->kc_next != NULL)
		ctx->kc_next->kc_link = &ctx->kc_next;
	*head = ctx;
	stats.ks_contexts++;
	stats.ks_pics += (uint32_t)__builtin_popcount(
	    ctx->kc_pcbe.ps_pics | ctx->kc_pcbe.ps_extra);
	lock_release(&hash_lock);
}

static void
hash_remove(struct kcpc_ctx *ctx)
{
	lock_acquire(&hash_lock);
	*ctx->kc_link = ctx->kc_next;
	if (ctx->kc_next != NULL)
		ctx->kc_next->kc_link = ctx->kc_link;
	stats.ks_contexts--;
	stats.ks_pics -= (uint32_t)__builtin_popcount(
	    ctx->kc_pcbe.ps_pics | ctx->kc_pcbe.ps_extra);
	lock_release(&hash_lock);
}

static struct kcpc_ctx *
hash_find(const struct proc *p, cpc_setid_t set)
{
	struct kcpc_ctx *ctx;

	lock_acquire(&hash_lock);
	ctx = *hash_head(p, set);
	while (ctx != NULL && (ctx->kc_proc != p || ctx->kc_set != set))
		ctx = ctx->kc_next;
	lock_release(&hash_lock);
	return ctx;
}

bool
kcpc_running(const struct kcpc_ctx *ctx)
{
	return (ctx->kc_flags & KCPC_CTX_IDLE) == 0 &&
	       lwp_self() == ctx->kc_lwp;
}

int
kcpc_bind(struct lwp *l, cpc_setid_t set, const struct kcpc_want *want,
    unsigned n, uint32_t flags, int *subcode)
{
	struct kcpc_ctx *ctx;
	int err;

	/* Every payload has the privilege cpc_cpu. */
	if ((err = kcpc_ctx_create(want, n, true, &ctx, subcode)) != 0)
		return err;
	ctx->kc_set = set;
	ctx->kc_proc = l->l_proc;
	ctx->kc_lwp = l;
	if ((flags & CPC_BIND_LWP_INHERIT) != 0)
		ctx->kc_flags |= KCPC_CTX_LWPINHERIT;
	hash_add(ctx);

	l->l_cpc = ctx;
	ctx->kc_hrtime = gethrtime();
	ctx->kc_flags &= ~KCPC_CTX_FREEZE;
	kcpc_start(ctx);
	return 0;
}

void
kcpc_drop(struct lwp *l)
{
	struct kcpc_ctx *ctx = l->l_cpc;

	if (ctx == NULL)
		return;
	if (kcpc_running(ctx))
		kcpc_stop(ctx);
	l->l_cpc = NULL;
	hash_remove(ctx);
	kcpc_ctx_destroy(ctx);
}

void
kcpc_lwp_exit(struct lwp *l)
{
	kcpc_drop(l);
	kcpc_page_free(l);
}

void
kcpc_invalidate(struct lwp *l)
{
	struct kcpc_ctx *ctx = l->l_cpc;

	if (ctx == NULL)
		return;
	if (kcpc_running(ctx)) {
		kcpc_stop(ctx);
		ctx->kc_flags |= KCPC_CTX_INV_STOPPED;
	}
	ctx->kc_flags |= KCPC_CTX_INVALID;
}

int
kcpc_find(struct lwp *l, cpc_setid_t set, struct kcpc_ctx **ctxp)
{
	struct kcpc_ctx *ctx = l->l_cpc;

	if (ctx == NULL || (set != 0 && ctx->kc_set != set))
		return EINVAL;
	*ctxp = ctx;
	return (ctx->kc_flags & KCPC_CTX_INVALID) != 0 ? EAGAIN : 0;
}

int
kcpc_sample(struct lwp *l, cpc_setid_t set)
{
	struct kcpc_ctx *ctx;
	int err;

	if ((err = kcpc_find(l, set, &ctx)) != 0)
		return err;
	if (kcpc_running(ctx)) {
		kcpc_fold(ctx, 0);
		ctx->kc_hrtime = gethrtime();
	}
	return 0;
}

int
kcpc_rele(struct lwp *l, cpc_setid_t set)
{
	struct kcpc_ctx *ctx;

	/* An invalid context can still be released. */
	if (kcpc_find(l, set, &ctx) == EINVAL)
		return EINVAL;
	kcpc_drop(l);
	return 0;
}

int
kcpc_preset(struct lwp *l, uintptr_t index, uint64_t preset)
{
	struct kcpc_ctx *ctx;
	int err;

	if ((err = kcpc_find(l, 0, &ctx)) != 0)
		return err;
	if (index >= ctx->kc_nreqs)
		return EINVAL;
	ctx->kc_reqs[index].kr_preset = preset;
	return 0;
}

int
kcpc_restart(struct lwp *l, cpc_setid_t set)
{
	struct kcpc_ctx *ctx;
	unsigned i;
	int err;

	if ((err = kcpc_find(l, set, &ctx)) != 0)
		return err;
	if (kcpc_running(ctx))
		kcpc_stop(ctx); /* for the tick, which goes on */
	for (i = 0; i < ctx->kc_nreqs; i++) {
		ctx->kc_reqs[i].kr_data = ctx->kc_reqs[i].kr_preset;
		ctx->kc_pics[ctx->kc_reqs[i].kr_picnum].kp_overflowed = false;
	}
	ctx->kc_flags &= ~(KCPC_CTX_FREEZE | KCPC_CTX_SIGOVF);
	kcpc_start(ctx);
	return 0;
}

int
kcpc_enable(struct lwp *l)
{
	struct kcpc_ctx *ctx;
	int err;

	if ((err = kcpc_find(l, 0, &ctx)) != 0)
		return err;
	if ((ctx->kc_flags & KCPC_CTX_FREEZE) == 0)
		return EINVAL;
	ctx->kc_flags &= ~KCPC_CTX_FREEZE;
	kcpc_start(ctx);
	return 0;
}

int
kcpc_disable(struct lwp *l)
{
	struct kcpc_ctx *ctx;
	int err;

	if ((err = kcpc_find(l, 0, &ctx)) != 0)
		return err;
	if ((ctx->kc_flags & KCPC_CTX_FREEZE) != 0)
		return EINVAL;
	kcpc_stop(ctx);
	ctx->kc_hrtime = gethrtime();
	ctx->kc_flags |= KCPC_CTX_FREEZE;
	return 0;
}

bool
kcpc_live(struct proc *p, cpc_setid_t set)
{
	return hash_find(p, set) != NULL;
}

void
kcpc_revoke(struct proc *p, cpc_setid_t set)
{
	struct kcpc_ctx *ctx;

	while ((ctx = hash_find(p, set)) != NULL)
		kcpc_drop(ctx->kc_lwp);
}

void
kcpc_asked(bool refused)
{
	lock_acquire(&hash_lock);
	stats.ks_asked++;
	stats.ks_refused += refused;
	lock_release(&hash_lock);
}

void
kcpc_stat(struct kcpc_stat *st)
{
	lock_acquire(&hash_lock);
	*st = stats;
	st->ks_stray = kcpc_stray;
	lock_release(&hash_lock);
}
