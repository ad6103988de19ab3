/*
 * Counters of LWPs: contexts and what is done with them.
 *
 * A context is running (its LWP is on this CPU, the PICs count for it),
 * waiting (its LWP is not), frozen or invalid.  kcpc_start() and kcpc_stop()
 * are the only ways between the first and the others; what happens inside
 * allstop..program is on no one's account.
 */
#include "kern/kcpc.h"

#include "kern/arch.h"
#include "kern/errno.h"
#include "kern/kcpc_impl.h"
#include "kern/lock.h"
#include "kern/lwp.h"
#include "kern/timer.h"

#define IDLE_FLAGS (KCPC_CTX_FREEZE | KCPC_CTX_INVALID)

/*
 * A counter of 32 bits whose overflow cannot interrupt is folded this often:
 * it would take 43 events a nanosecond to go round in between.
 */
#define FOLD_NS (100 * 1000000)

/* Contexts by process and set: for kcpc_live() and kcpc_revoke(). */
#define NHASH 256
static struct kcpc_ctx *hash[NHASH];
static struct spinlock hash_lock;

static struct kcpc_stat stats;
static void (*notify)(struct lwp *);

void
kcpc_set_notify(void (*post)(struct lwp *))
{
	notify = post;
}

uint32_t
kcpc_caps(void)
{
	/* An interrupt that cannot become a SIGEMT is no capability. */
	return notify != NULL ? kcpc_ops->pcbe_caps : 0;
}

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

/*
 * A counter narrower than 64 bits went round.  Where the sample saw it go
 * down it has counted that; where it is past its old place already, only the
 * overflow told, once, tells.
 */
static void
account_wrap(struct kcpc_request *r, uint64_t old, uint64_t overflowed)
{
	bool down = r->kr_cfg.pc_last < old;
	bool told = (overflowed & 1ULL << r->kr_picnum) != 0;

	if (told && !down && !r->kr_wrapped)
		r->kr_data += r->kr_span;
	r->kr_wrapped = (r->kr_wrapped || down) && !told;
}

static void
fold_narrow(struct kcpc_ctx *ctx, uint64_t overflowed)
{
	uint64_t old[PCBE_MAXPIC];
	unsigned i;

	for (i = 0; i < ctx->kc_nreqs; i++)
		old[i] = ctx->kc_reqs[i].kr_cfg.pc_last;
	kcpc_ops->sample(&ctx->kc_pcbe);
	if ((kcpc_ops->pcbe_caps & PCBE_CAP_OVERFLOW_PRECISE) == 0)
		overflowed = 0;
	for (i = 0; i < ctx->kc_nreqs; i++)
		account_wrap(&ctx->kc_reqs[i], old[i], overflowed);
}

/*
 * Bring counts and clocks of a running context up to now.  `overflowed` was
 * read before, so that the sample covers what it tells.
 */
static void
kcpc_fold(struct kcpc_ctx *ctx, uint64_t overflowed)
{
	uint64_t tick = kcpc_ops->tick();

	if (ctx->kc_narrow)
		fold_narrow(ctx, overflowed);
	else
		kcpc_ops->sample(&ctx->kc_pcbe);
	ctx->kc_vtick += tick - ctx->kc_rawtick;
	ctx->kc_rawtick = tick;
}

/* Mark what overflowed and asked to be told.  False: no one did. */
static bool
mark_overflows(struct kcpc_ctx *ctx, uint64_t overflowed)
{
	struct kcpc_pic *kp;
	bool marked = false;

	for (overflowed &= ctx->kc_pcbe.ps_pics; overflowed != 0;
	     overflowed &= overflowed - 1) {
		kp = &ctx->kc_pics[__builtin_ctzll(overflowed)];
		if ((kp->kp_req->kr_flags & CPC_OVF_NOTIFY_EMT) == 0)
			continue;
		kp->kp_overflowed = true;
		marked = true;
	}
	return marked;
}

/*
 * Stop the PICs and take their counts.  An overflow no interrupt has told of
 * yet is this context's, not that of whoever runs when the interrupt comes:
 * if a notify request is among them the context freezes.  Returns what
 * overflowed.
 */
static uint64_t
kcpc_stop(struct kcpc_ctx *ctx)
{
	uint64_t overflowed;

	kcpc_ops->allstop();
	overflowed = kcpc_ops->overflow_bitmap();
	kcpc_fold(ctx, overflowed);
	kcpc_page_shut(ctx);
	timer_stop(&ctx->kc_fold);
	if (mark_overflows(ctx, overflowed)) {
		ctx->kc_hrtime = gethrtime();
		ctx->kc_flags |= KCPC_CTX_FREEZE | KCPC_CTX_SIGOVF;
		notify(ctx->kc_lwp);
	}
	return overflowed;
}

static void kcpc_fold_due(void *ctx);

/* Program the PICs for the LWP that is current on this CPU. */
static void
kcpc_start(struct kcpc_ctx *ctx)
{
	unsigned i;

	for (i = 0; i < ctx->kc_nreqs; i++)
		ctx->kc_reqs[i].kr_wrapped = false;
	if ((ctx->kc_pcbe.ps_pics & kcpc_ops->pcbe_mute) != 0)
		timer_start(&ctx->kc_fold, arch_tick() + ns_to_tick(FOLD_NS),
		    kcpc_fold_due, ctx);
	ctx->kc_rawtick = kcpc_ops->tick();
	kcpc_page_open(ctx);
	kcpc_ops->program(&ctx->kc_pcbe);
}

/* Take what the counters hold before they are too narrow for it. */
static void
kcpc_fold_due(void *arg)
{
	struct kcpc_ctx *ctx = arg;

	kcpc_stop(ctx);
	if ((ctx->kc_flags & KCPC_CTX_FREEZE) == 0)
		kcpc_start(ctx);
}

static bool
running(const struct kcpc_ctx *ctx)
{
	return (ctx->kc_flags & IDLE_FLAGS) == 0 && lwp_self() == ctx->kc_lwp;
}

void
kcpc_page_fill(struct lwp *l)
{
	struct kcpc_ctx *ctx = l->l_cpc;

	if (ctx == NULL || !running(ctx))
		return;
	kcpc_stop(ctx);
	if ((ctx->kc_flags & KCPC_CTX_FREEZE) == 0)
		kcpc_start(ctx);
}

void
kcpc_save(struct lwp *l)
{
	struct kcpc_ctx *ctx = l->l_cpc;

	if (ctx == NULL || (ctx->kc_flags & KCPC_CTX_FREEZE) != 0)
		return;
	if ((ctx->kc_flags & KCPC_CTX_INV_STOPPED) != 0)
		return;
	kcpc_stop(ctx);
	if ((ctx->kc_flags & KCPC_CTX_INVALID) != 0)
		ctx->kc_flags |= KCPC_CTX_INV_STOPPED;
}

void
kcpc_restore(struct lwp *l)
{
	struct kcpc_ctx *ctx = l->l_cpc;

	if (ctx != NULL && (ctx->kc_flags & IDLE_FLAGS) == 0)
		kcpc_start(ctx);
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
	if (running(ctx))
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
	if (running(ctx)) {
		kcpc_stop(ctx);
		ctx->kc_flags |= KCPC_CTX_INV_STOPPED;
	}
	ctx->kc_flags |= KCPC_CTX_INVALID;
}

/* The LWP's context, if it is one of `set` (0: of any), and valid. */
static int
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
	if (running(ctx)) {
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
	if (running(ctx))
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

static void
freeze_due(void *arg)
{
	struct kcpc_ctx *ctx = arg;

	kcpc_stop(ctx);
	ctx->kc_hrtime = gethrtime();
	ctx->kc_flags |= KCPC_CTX_FREEZE;
}

int
kcpc_stir(struct lwp *l, uint64_t ticks, bool freeze)
{
	struct kcpc_ctx *ctx;
	int err;

	if ((err = kcpc_find(l, 0, &ctx)) != 0)
		return err;
	if (!running(ctx))
		return EINVAL;
	timer_start(&ctx->kc_fold, arch_tick() + ticks,
	    freeze ? freeze_due : kcpc_fold_due, ctx);
	return 0;
}

bool
kcpc_overflowed(struct lwp *l)
{
	struct kcpc_ctx *ctx = l->l_cpc;
	unsigned i;

	if (ctx == NULL || (ctx->kc_flags & KCPC_CTX_SIGOVF) == 0)
		return false;
	ctx->kc_flags &= ~KCPC_CTX_SIGOVF;
	for (i = 0; i < ctx->kc_nreqs; i++)
		ctx->kc_pics[ctx->kc_reqs[i].kr_picnum].kp_overflowed = false;
	return (ctx->kc_flags & KCPC_CTX_INVALID) == 0;
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

bool
kcpc_pmi(struct trapframe *tf)
{
	struct lwp *l = lwp_self();
	struct kcpc_ctx *ctx = l != NULL ? l->l_cpc : NULL;
	uint64_t overflowed;

	(void)tf;
	if (kcpc_ops == NULL)
		return false;
	if (ctx != NULL && running(ctx)) {
		overflowed = kcpc_stop(ctx);
	} else {
		kcpc_ops->allstop();
		overflowed = kcpc_ops->overflow_bitmap();
		stats.ks_stray += overflowed != 0;
	}
	/* While nothing counts, so that no overflow finds it shut. */
	arch_pmi_rearm();
	if (ctx != NULL && running(ctx))
		kcpc_start(ctx);
	return overflowed != 0;
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
	lock_release(&hash_lock);
}
