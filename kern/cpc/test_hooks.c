/*
 * Test hooks of kcpc, by the system call of include/sys/cpc.h.  The other test
 * hooks of the kernel are in kern/sys/test_hooks.c.
 *
 * CPC_OP_TEST_DISTURB acts on a running context at a given tick, so that a test
 * can interrupt a direct read at any instruction.  CPC_OP_ADVANCE lets the
 * software PMU count.
 */
#include "kern/cpc/kcpc.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/sched/cpu.h"
#include "kern/sched/sched.h"
#include "kern/sched/timer.h"

/* Stop and start the PICs, as a switch of LWPs does. */
static void
switch_due(void *arg)
{
	struct kcpc_ctx *ctx = arg;

	if (kcpc_running(ctx))
		kcpc_refresh(ctx);
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

/* Move the LWP to the next CPU, as another LWP's processor_bind(2) would. */
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
		[CPC_DISTURB_SWITCH] = switch_due,
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

intptr_t
kcpc_test_advance(const uintptr_t *a)
{
	if (kcpc_ops->advance == NULL)
		return -ENOTSUP;
	kcpc_ops->advance(a[0], a[1] & (CPC_COUNT_USER | CPC_COUNT_SYSTEM));
	return 0;
}
