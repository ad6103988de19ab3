/*
 * Contexts and PICs: counting for an LWP begins and ends here.
 *
 * kcpc_start() and kcpc_stop() are the only ways into and out of the state
 * in which the PICs count for a context; what happens inside
 * allstop..program is on no one's account.
 */
#include "kern/cpc/kcpc.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/sched/cpu.h"
#include "kern/sched/sched.h"
#include "kern/sched/timer.h"
#include "kern/sched/xcall.h"

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

static inline void
freeze(struct kcpc_ctx *ctx, uint32_t flags)
{
	hrtime_t now = gethrtime();
	struct cpc_page *cg = ctx->kc_pcbe.ps_page;

	ctx->kc_flags |= flags;
	cg->cg_hrtime = now;
	cg->cg_frozen = ctx->kc_set;
}

void
kcpc_freeze(struct kcpc_ctx *ctx)
{
	freeze(ctx, KCPC_CTX_FREEZE);
}

void
kcpc_signal(struct kcpc_ctx *ctx)
{
	freeze(ctx, KCPC_CTX_FREEZE | KCPC_CTX_SIGOVF);
	notify(ctx->kc_lwp);
}

/* What overflowed and asked to be told freezes the context. */
static inline bool
told(struct kcpc_ctx *ctx, uint64_t pics)
{
	struct cpc_page *cg = ctx->kc_pcbe.ps_page;

	if ((pics & ctx->kc_notify) == 0)
		return false;
	cg->cg_seq++;
	cg->cg_set = 0;
	kcpc_signal(ctx);
	return true;
}

/* Apart, so that the usual way is short. */
void
kcpc_overflow(struct kcpc_ctx *ctx, uint64_t pics)
{
	told(ctx, pics);
}

/* A context with more to stop than PICs. */
#define SLOW_STOP (KCPC_CTX_NO_OVF_INTR | KCPC_CTX_PROFILE)

static __attribute__((noinline)) void
stopped_slow(struct kcpc_ctx *ctx)
{
	if ((ctx->kc_flags & KCPC_CTX_NO_OVF_INTR) != 0)
		timer_stop(&ctx->kc_fold);
	if ((ctx->kc_flags & KCPC_CTX_PROFILE) != 0)
		kcpc_profile_nmi_samples(ctx);
}

/*
 * A switch of LWPs takes the PICs from one context and gives them to another;
 * what the page says is right again before its LWP can read it.
 */
static inline uint64_t
take(struct kcpc_ctx *ctx)
{
	uint64_t pics = kcpc_ops->stop(&ctx->kc_pcbe);

	if ((ctx->kc_flags & SLOW_STOP) != 0)
		stopped_slow(ctx);
	if (pics != 0)
		kcpc_overflow(ctx, pics);
	return pics;
}

static void fold_due(void *ctx);

static __attribute__((noinline)) void
give_no_ovf_intr(struct kcpc_ctx *ctx)
{
	timer_start(
	    &ctx->kc_fold, arch_tick() + ns_to_tick(FOLD_NS), fold_due, ctx);
	kcpc_ops->program(&ctx->kc_pcbe);
}

static inline void
give(struct kcpc_ctx *ctx)
{
	if ((ctx->kc_flags & KCPC_CTX_NO_OVF_INTR) != 0)
		give_no_ovf_intr(ctx);
	else
		kcpc_ops->program(&ctx->kc_pcbe);
}

uint64_t
kcpc_stop(struct kcpc_ctx *ctx)
{
	kcpc_page_shut(ctx);
	timer_stop(&ctx->kc_fold); /* a stir's, too */
	return take(ctx);
}

static void
stop_here(void *ctx)
{
	kcpc_stop(ctx);
}

void
kcpc_halt(struct kcpc_ctx *ctx)
{
	struct cpu *c = ctx->kc_cpu;

	if ((ctx->kc_flags & KCPC_CTX_FREEZE) != 0)
		return;
	if (c == NULL) {
		c = ctx->kc_lwp->l_cpu;
		if (c->c_lwp != ctx->kc_lwp)
			return; /* it waits */
	}
	if (c == arch_curcpu())
		kcpc_stop(ctx);
	else
		xcall(c, stop_here, ctx);
}

void
kcpc_start(struct kcpc_ctx *ctx)
{
	struct cpc_page *cg = ctx->kc_pcbe.ps_page;

	cg->cg_frozen = 0;
	cg->cg_set = ctx->kc_set;
	give(ctx);
}

void
kcpc_refresh(struct kcpc_ctx *ctx)
{
	take(ctx);
	if ((ctx->kc_flags & KCPC_CTX_FREEZE) == 0)
		give(ctx);
}

/* Take what the counters hold before they are too narrow for it. */
static void
fold_due(void *arg)
{
	struct kcpc_ctx *ctx = arg;

	if (kcpc_running(ctx))
		kcpc_refresh(ctx);
}

/* One that is frozen, or the like.  Apart, so that the usual way is short. */
#define SLOW_PATH (KCPC_CTX_FREEZE | SLOW_STOP)

static __attribute__((noinline)) uint64_t
save_slow(struct kcpc_ctx *ctx)
{
	uint64_t pics;

	if ((ctx->kc_flags & KCPC_CTX_FREEZE) != 0)
		return 0;
	pics = kcpc_ops->stop(&ctx->kc_pcbe);
	stopped_slow(ctx);
	return pics;
}

uint64_t
kcpc_save(struct kcpc_ctx *ctx)
{
	if ((ctx->kc_flags & SLOW_PATH) != 0)
		return save_slow(ctx);
	return kcpc_ops->stop(&ctx->kc_pcbe);
}

static __attribute__((noinline)) void
restore_slow(struct kcpc_ctx *ctx)
{
	if ((ctx->kc_flags & KCPC_CTX_FREEZE) == 0)
		give(ctx);
}

void
kcpc_restore(struct kcpc_ctx *ctx)
{
	if ((ctx->kc_flags & SLOW_PATH) != 0) {
		restore_slow(ctx);
		return;
	}
	kcpc_ops->program(&ctx->kc_pcbe);
}

static void
freeze_due(void *arg)
{
	struct kcpc_ctx *ctx = arg;

	if (!kcpc_running(ctx))
		return;
	kcpc_stop(ctx);
	kcpc_freeze(ctx);
}

static void
invalidate_due(void *arg)
{
	struct kcpc_ctx *ctx = arg;

	if (kcpc_running(ctx))
		kcpc_invalidate(ctx);
}

/* As by another LWP's processor_bind(2). */
static void
migrate_due(void *arg)
{
	const struct kcpc_ctx *ctx = arg;
	const struct cpuset *online = sched_cpus();
	unsigned self = arch_curcpu()->c_id;
	unsigned next = cpuset_next(online, online, self + 1);

	if (next >= MAXCPU)
		next = cpuset_next(online, online, 0);
	if (!kcpc_running(ctx) || next >= MAXCPU || next == self)
		return;
	lwp_bind(ctx->kc_lwp, &cpus[next]);
}

int
kcpc_test_disturb(struct lwp *l, uint64_t ticks, uintptr_t how)
{
	static void (*const due[])(void *) = {
		[CPC_DISTURB_SWITCH] = fold_due,
		[CPC_DISTURB_FREEZE] = freeze_due,
		[CPC_DISTURB_INVALIDATE] = invalidate_due,
		[CPC_DISTURB_MIGRATE] = migrate_due,
	};
	struct kcpc_ctx *ctx;
	int err;

	if ((err = kcpc_find(l, 0, &ctx)) != 0)
		return err;
	if (how >= sizeof due / sizeof due[0] || !kcpc_running(ctx))
		return EINVAL;
	timer_start(&ctx->kc_fold, arch_tick() + ticks, due[how], ctx);
	return 0;
}

bool
kcpc_sigemt_take(struct lwp *l, const struct trapframe *tf)
{
	struct kcpc_ctx *ctx = l->l_cpc;
	uint32_t flags;

	if (ctx == NULL)
		return false;
	flags = ctx->kc_flags;
	ctx->kc_flags = flags & ~KCPC_CTX_SIGOVF;
	if ((flags & (KCPC_CTX_SIGOVF | KCPC_CTX_UNAVAILABLE)) ==
	    KCPC_CTX_SIGOVF)
		return true;
	if ((flags & (KCPC_CTX_SIGOVF | KCPC_CTX_INVALID)) == KCPC_CTX_SIGOVF)
		kcpc_profile_sample(ctx, tf);
	return false;
}

bool
kcpc_sigemt_due(const struct lwp *l)
{
	const struct kcpc_ctx *ctx = l->l_cpc;

	return ctx != NULL &&
	       (ctx->kc_flags & (KCPC_CTX_SIGOVF | KCPC_CTX_UNAVAILABLE)) ==
	           KCPC_CTX_SIGOVF;
}

/* In the kernel or, without its lock, in an NMI. */
static void
stray(unsigned n)
{
	__atomic_fetch_add(&kcpc_stray, n, __ATOMIC_RELAXED);
}

void
kcpc_pmi_late(void)
{
	stray(1);
}

/* Of a CPU's set, of one that has a timer besides, or of nobody's. */
static __attribute__((noinline)) bool
pmi_slow(struct kcpc_ctx *ctx)
{
	bool running;
	uint64_t pics;

	if (arch_curcpu()->c_cpc != NULL)
		ctx = arch_curcpu()->c_cpc;
	running = ctx != NULL && kcpc_running(ctx);
	if (kcpc_ops == NULL)
		return false;
	if (running) {
		pics = take(ctx);
	} else {
		kcpc_ops->allstop();
		pics = kcpc_ops->overflow_bitmap();
		stray(pics != 0);
	}
	arch_pmi_rearm();
	if (running && (ctx->kc_flags & KCPC_CTX_FREEZE) == 0)
		give(ctx);
	return pics != 0;
}

bool
kcpc_pmi(struct trapframe *tf)
{
	struct kcpc_ctx *ctx = lwp_self()->l_cpc;
	uint64_t pics;

	(void)tf;
	/* While a CPU has a set, those of LWPs are invalid. */
	if (ctx == NULL || (ctx->kc_flags & SLOW_PATH) != 0)
		return pmi_slow(ctx);
	pics = kcpc_ops->stop(&ctx->kc_pcbe);
	/* While nothing counts, so that no overflow finds it shut. */
	arch_pmi_rearm();
	if (told(ctx, pics))
		return true;
	/* Each with its answer, which then is not kept meanwhile. */
	if (pics == 0) {
		kcpc_ops->program(&ctx->kc_pcbe);
		return false;
	}
	kcpc_ops->program(&ctx->kc_pcbe);
	return true;
}
