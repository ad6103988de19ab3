/*
 * Starts and stops the PICs for a context, on bind, switch and overflow.
 *
 * A context is in one of four states.  KCPC_CTX_FREEZE and KCPC_CTX_INVALID
 * are flags of the context; nothing but the LWP's place distinguishes the
 * first two.
 *
 *     running   not FREEZE, its LWP is on a CPU: the PICs count for it
 *     waiting   not FREEZE, its LWP is not on a CPU: counts rest in memory
 *     frozen    FREEZE: it does not count, and keeps its counts
 *     invalid   FREEZE and INVALID: it lost its PICs for good
 *
 * Each row is an event, each column the state before it; an entry is the
 * state after it.  "-" means that the event cannot happen in that state: the
 * calls come from the context's own LWP, which is on a CPU.
 *
 *     event                running       waiting      frozen       invalid
 *     -------------------  ------------  -----------  -----------  -----------
 *     bind: a new context begins running; the LWP's old one, in any state, goes
 *     start (cpc_enable)   EINVAL        -            running      EAGAIN
 *     stop (cpc_disable)   frozen        -            EINVAL       EAGAIN
 *     overflow, notify     frozen (1)    -            stray        stray
 *     overflow, other      running (2)   -            stray        stray
 *     switch out           waiting (3)   -            frozen       invalid
 *     switch in            -             running      frozen       invalid
 *     sample               running (4)   -            frozen       EAGAIN
 *     restart              running (5)   -            running (5)  EAGAIN
 *     invalidate           invalid       invalid      invalid      invalid
 *     switch in, on a CPU
 *      of another type (7) -             invalid      invalid      invalid
 *     inherit (the child)  waiting (6)   -            frozen       no context
 *     unbind, exec, exit   the context goes, whatever its state
 *
 * (1) The counts stay as the overflow left them, and SIGEMT is posted to the
 *     LWP.  docs/overflow.md follows it from the PIC to the handler.
 * (2) The PICs are stopped, folded and started again.
 * (3) Frozen if stop() finds a notify overflow whose interrupt is still to
 *     come: the overflow belongs to this context, not to the next LWP's.
 * (4) Frozen if the read finds a notify overflow, for the same reason.  On x86
 *     without global control no register shows overflows.  The read then gives
 *     the right counts, and the context stays running until the interrupt.
 * (5) From the presets.  A SIGEMT that is due is withdrawn.
 * (6) From the presets.  A set with a notify request begins frozen, at the
 *     value before the overflow, with SIGEMT due: the child presets it first.
 * (7) The set of a core type, whose LWP was bound elsewhere (owner.c).
 *
 * A PMI that comes late finds another context, or none: it is a stray, too.
 * With ps_nmi_pics the NMI handler also raises PMIs whose overflow is handled.
 *
 * A CPU's context is running until it is dropped: its notify requests are
 * ignored, and no LWP takes its CPU's PICs.  A profile's context is frozen from
 * kcpc_op_profile() to execve(2), and takes a sample where others get
 * SIGEMT (kern/cpc/profile/profile.c).
 *
 * Only this file calls the backend's program() and stop() for a context:
 * kcpc_start() and kcpc_restore() begin to count, kcpc_stop() and kcpc_save()
 * end it.  The folds and PMIs do both, and stay stopped if they froze the
 * context.  The witness (kern/cpc/test/witness.c) replaces the two operations.
 */
#include "kern/cpc/kcpc.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/cpc/profile/profile_impl.h"
#include "kern/cpc/test/witness.h"
#include "kern/proc/lwp.h"
#include "kern/sched/cpu.h"
#include "kern/sched/timer.h"
#include "kern/sched/xcall.h"

/*
 * A timer folds PICs whose overflow cannot interrupt this often.  A counter
 * of 32 bits would need 43 events a nanosecond to wrap in between.
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
	/* Without a function that posts SIGEMT, an interrupt is of no use. */
	if (notify == NULL)
		return 0;
	return kcpc_ops->pcbe_caps |
	       (kcpc_ops->pcbe_freezes && !witness_on ? CPC_CAP_OVERFLOW_FREEZE
						      : 0);
}

/* Inlined: an overflow on arm64 then takes 384 instructions, not 392. */
static inline __attribute__((always_inline)) void
freeze_with(struct kcpc_ctx *ctx, uint32_t flags)
{
	hrtime_t now = gethrtime();
	struct cpc_page *cg = ctx->kc_pcbe.ps_page;

	ctx->kc_flags |= KCPC_CTX_FREEZE | flags;
	cg->cg_seq++;
	cg->cg_hrtime = now;
	kcpc_page_show(cg, 0, ctx->kc_page_set);
	if ((flags & KCPC_CTX_SIGOVF) != 0)
		notify(ctx->kc_lwp);
}

void
kcpc_freeze(struct kcpc_ctx *ctx, uint32_t flags)
{
	freeze_with(ctx, flags);
}

/* Separate from kcpc_save(), which so can end with a jump to stop(). */
void
kcpc_overflow(struct kcpc_ctx *ctx, uint64_t pics)
{
	if ((pics & ctx->kc_notify) != 0)
		freeze_with(ctx, KCPC_CTX_SIGOVF);
}

/* Flags of a context that stops more than PICs: a timer, a log of NMIs. */
#define SLOW_STOP (KCPC_CTX_NO_OVF_INTR | KCPC_CTX_PROFILE)

static void
stopped_slow(struct kcpc_ctx *ctx)
{
	if ((ctx->kc_flags & KCPC_CTX_NO_OVF_INTR) != 0)
		timer_stop(&ctx->kc_fold);
	if ((ctx->kc_flags & KCPC_CTX_PROFILE) != 0)
		kcpc_profile_nmi_samples(ctx);
	if (ctx->kc_perf != NULL)
		kcpc_perf->show(ctx, false);
}

/*
 * Stop the PICs and fold their counts.  The counter page keeps the set's name:
 * its LWP cannot read it before the kernel returns to the LWP.  By then the
 * caller has started, frozen or ended the context.
 */
static inline uint64_t
pics_stop(struct kcpc_ctx *ctx)
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
start_slow(struct kcpc_ctx *ctx)
{
	if ((ctx->kc_flags & KCPC_CTX_NO_OVF_INTR) != 0)
		timer_start(&ctx->kc_fold, arch_tick() + ns_to_tick(FOLD_NS),
		    fold_due, ctx);
	if (ctx->kc_perf == NULL) { /* the start is last: none counts more */
		kcpc_ops->program(&ctx->kc_pcbe);
		return;
	}
	kcpc_ops->program(&ctx->kc_pcbe);
	kcpc_perf->show(ctx, true);
}

static inline void
pics_start(struct kcpc_ctx *ctx)
{
	if ((ctx->kc_flags & SLOW_STOP) != 0)
		start_slow(ctx);
	else
		kcpc_ops->program(&ctx->kc_pcbe);
}

struct cpu *
kcpc_counting_cpu(const struct kcpc_ctx *ctx)
{
	struct cpu *c = ctx->kc_cpu;

	if ((ctx->kc_flags & KCPC_CTX_FREEZE) != 0)
		return NULL;
	if (c != NULL)
		return c;
	c = ctx->kc_lwp->l_cpu;
	return c->c_lwp == ctx->kc_lwp ? c : NULL;
}

static void
stop_here(void *ctx)
{
	pics_stop(ctx);
}

void
kcpc_stop(struct kcpc_ctx *ctx)
{
	struct cpu *c = kcpc_counting_cpu(ctx);

	if (c == arch_curcpu())
		pics_stop(ctx);
	else if (c != NULL)
		xcall(c, stop_here, ctx);
}

void
kcpc_start(struct kcpc_ctx *ctx)
{
	kcpc_page_show(ctx->kc_pcbe.ps_page, ctx->kc_page_set, 0);
	pics_start(ctx);
}

void
kcpc_fold(struct kcpc_ctx *ctx)
{
	pics_stop(ctx);
	if ((ctx->kc_flags & KCPC_CTX_FREEZE) == 0)
		pics_start(ctx);
}

/* Fold the PICs before they wrap unseen. */
static void
fold_due(void *arg)
{
	struct kcpc_ctx *ctx = arg;

	if (kcpc_running(ctx))
		kcpc_fold(ctx);
}

/*
 * Flags that a switch cannot ignore.  The slow paths are noinline: a switch of
 * an ordinary context then saves no register for them.  That is 11 instructions
 * of 381 on x86.
 */
#define SLOW_PATH (KCPC_CTX_FREEZE | KCPC_CTX_TYPED | SLOW_STOP)

static __attribute__((noinline)) uint64_t
save_slow(struct kcpc_ctx *ctx)
{
	if ((ctx->kc_flags & KCPC_CTX_PROFILE) != 0)
		kcpc_usage_off(ctx);
	if ((ctx->kc_flags & KCPC_CTX_FREEZE) != 0)
		return 0;
	uint64_t pics = kcpc_ops->stop(&ctx->kc_pcbe);
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
	if ((ctx->kc_flags & KCPC_CTX_PROFILE) != 0)
		kcpc_usage_on(ctx);
	/* The set of another core type must not touch this CPU's PICs. */
	if (!cpuset_has(&kcpc_types[ctx->kc_pcbe.ps_type].kt_cpus,
		arch_curcpu()->c_id)) {
		ctx->kc_flags |= KCPC_CTX_FREEZE | KCPC_CTX_INVALID;
		kcpc_page_shut(ctx);
		return;
	}
	if ((ctx->kc_flags & KCPC_CTX_FREEZE) == 0)
		pics_start(ctx);
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

bool
kcpc_sigemt_take(struct lwp *l, const struct trapframe *tf)
{
	struct kcpc_ctx *ctx = l->l_cpc;

	if (ctx == NULL)
		return false;
	uint32_t flags = ctx->kc_flags;
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

/* Atomic: an NMI calls it, and does not hold the kernel lock. */
static void
count_stray(unsigned n)
{
	__atomic_fetch_add(&kcpc_stray, n, __ATOMIC_RELAXED);
}

void
kcpc_pmi_late(void)
{
	count_stray(1);
}

/*
 * The PMI of a CPU's context, of a context that is not simply running, or of
 * none.  All PICs are stopped in any case, so that a stray PMI ends.  noinline:
 * an overflow on x86 takes 392 instructions, not 396.
 */
static __attribute__((noinline)) bool
pmi_slow(struct kcpc_ctx *ctx)
{
	uint64_t pics;

	if (arch_curcpu()->c_cpc != NULL)
		ctx = arch_curcpu()->c_cpc;
	bool running = ctx != NULL && kcpc_running(ctx);
	if (kcpc_ops == NULL)
		return false;
	if (running) {
		pics = pics_stop(ctx);
	} else {
		kcpc_ops->allstop();
		pics = kcpc_ops->overflow_bitmap();
	}
	count_stray(!running || (pics == 0 && ctx->kc_pcbe.ps_nmi_pics == 0));
	arch_pmi_rearm();
	if (running && (ctx->kc_flags & KCPC_CTX_FREEZE) == 0)
		pics_start(ctx);
	return pics != 0;
}

bool
kcpc_pmi(void)
{
	struct kcpc_ctx *ctx = lwp_self()->l_cpc;

	/* While any CPU is claimed, contexts of LWPs are invalid, thus slow. */
	if (ctx == NULL || (ctx->kc_flags & SLOW_PATH) != 0)
		return pmi_slow(ctx);
	uint64_t pics = kcpc_ops->stop(&ctx->kc_pcbe);
	/* Before the PICs run again: an overflow must find the PMI unmasked. */
	arch_pmi_rearm();
	if ((pics & ctx->kc_notify) != 0) {
		freeze_with(ctx, KCPC_CTX_SIGOVF);
		return true;
	}
	/* Two calls: program() then need not preserve the result. */
	if (pics == 0) {
		count_stray(ctx->kc_pcbe.ps_nmi_pics == 0);
		kcpc_ops->program(&ctx->kc_pcbe);
		return false;
	}
	kcpc_ops->program(&ctx->kc_pcbe);
	return true;
}
