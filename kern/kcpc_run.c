/*
 * Contexts and PICs: counting for an LWP begins and ends here.
 *
 * kcpc_start() and kcpc_stop() are the only ways into and out of the state
 * in which the PICs count for a context; what happens inside
 * allstop..program is on no one's account.
 */
#include "kern/kcpc.h"

#include "kern/arch.h"
#include "kern/errno.h"
#include "kern/kcpc_impl.h"
#include "kern/lwp.h"
#include "kern/timer.h"

/*
 * A counter of 32 bits whose overflow cannot interrupt is folded this often:
 * it would take 43 events a nanosecond to go round in between.
 */
#define FOLD_NS (100 * 1000000)

static void (*notify)(struct lwp *);
uint64_t kcpc_stray;

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

void
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

void
kcpc_signal(struct kcpc_ctx *ctx)
{
	ctx->kc_flags |= KCPC_CTX_FREEZE | KCPC_CTX_SIGOVF;
	notify(ctx->kc_lwp);
}

uint64_t
kcpc_stop(struct kcpc_ctx *ctx)
{
	uint64_t overflowed;

	kcpc_ops->allstop();
	overflowed = kcpc_ops->overflow_bitmap();
	kcpc_fold(ctx, overflowed);
	kcpc_page_shut(ctx);
	timer_stop(&ctx->kc_fold);
	if ((overflowed & ctx->kc_notify) != 0) {
		ctx->kc_hrtime = gethrtime();
		kcpc_signal(ctx);
	}
	return overflowed;
}

static void kcpc_fold_due(void *ctx);

void
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

void
kcpc_page_fill(struct lwp *l)
{
	struct kcpc_ctx *ctx = l->l_cpc;

	if (ctx == NULL || !kcpc_running(ctx))
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

	if (ctx != NULL && (ctx->kc_flags & KCPC_CTX_IDLE) == 0)
		kcpc_start(ctx);
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
	if (!kcpc_running(ctx))
		return EINVAL;
	timer_start(&ctx->kc_fold, arch_tick() + ticks,
	    freeze ? freeze_due : kcpc_fold_due, ctx);
	return 0;
}

bool
kcpc_overflowed(struct lwp *l)
{
	struct kcpc_ctx *ctx = l->l_cpc;

	if (ctx == NULL || (ctx->kc_flags & KCPC_CTX_SIGOVF) == 0)
		return false;
	ctx->kc_flags &= ~KCPC_CTX_SIGOVF;
	return (ctx->kc_flags & KCPC_CTX_INVALID) == 0;
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
	if (ctx != NULL && kcpc_running(ctx)) {
		overflowed = kcpc_stop(ctx);
	} else {
		kcpc_ops->allstop();
		overflowed = kcpc_ops->overflow_bitmap();
		kcpc_stray += overflowed != 0;
	}
	/* While nothing counts, so that no overflow finds it shut. */
	arch_pmi_rearm();
	if (ctx != NULL && kcpc_running(ctx))
		kcpc_start(ctx);
	return overflowed != 0;
}
