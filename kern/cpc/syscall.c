/*
 * The system call of include/sys/cpc.h: one function for each operation.
 * Arguments in user memory are first copied, then checked, then used.  Binds
 * are in op_bind.c.
 */
#include "kern/cpc/kcpc.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/platform/ksym.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"
#include "lib/string.h"

_Static_assert(CPC_MAX_REQS < 1 << 7, "CPC_PAGE_SET() has seven bits for it");

static intptr_t
op_access(const uintptr_t *)
{
	return kcpc_profiled(lwp_self()) ? -EAGAIN : -kcpc_lwp_check();
}

__attribute__((no_stack_protector)) static intptr_t
op_sample(const uintptr_t *a)
{
	struct {
		struct cpc_sample head;
		uint64_t value[PCBE_MAXPIC];
	} s;
	struct kcpc_ctx *ctx;
	int err;

	if (a[0] == 0)
		return -EINVAL;
	if (a[3] == CPC_TARGET_SELF)
		err = kcpc_sample(lwp_self(), a[0], a[2], &s.head);
	else if ((err = kcpc_target_ctx(a[3], a[0], &ctx)) == 0)
		err = kcpc_ctx_sample(ctx, a[2], &s.head);
	if (err != 0)
		return -err;
	/* The same as copyout(), one call less: sample is a hot path. */
	if (copyout_quietly(
		a[1], &s, sizeof s.head + a[2] * sizeof s.value[0]) != 0)
		return -usercopy_fault(a[1]);
	return 0;
}

static intptr_t
op_invalidate(const uintptr_t *a)
{
	struct kcpc_ctx *ctx;
	struct lwp *l;
	int err;

	if ((err = kcpc_target_lwp(a[3], &l)) == 0 &&
	    (err = kcpc_find(l, 0, &ctx)) == 0)
		kcpc_invalidate(ctx);
	return -err;
}

static intptr_t
op_rele(const uintptr_t *a)
{
	/* Out of line: a bind and an unbind then take 13 instructions less. */
	if (a[3] != CPC_TARGET_SELF)
		return -kcpc_target_rele(a[3], a[0]);
	return a[0] != 0 ? -kcpc_rele(lwp_self(), a[0]) : -EINVAL;
}

static intptr_t
op_enable(const uintptr_t *)
{
	struct kcpc_ctx *ctx;
	int err;

	if ((err = kcpc_find(lwp_self(), 0, &ctx)) != 0)
		return -err;
	if ((ctx->kc_flags & KCPC_CTX_FREEZE) == 0)
		return -EINVAL;
	ctx->kc_flags &= ~KCPC_CTX_FREEZE;
	kcpc_start(ctx);
	return 0;
}

static intptr_t
op_disable(const uintptr_t *)
{
	struct kcpc_ctx *ctx;
	int err;

	if ((err = kcpc_find(lwp_self(), 0, &ctx)) != 0)
		return -err;
	if ((ctx->kc_flags & KCPC_CTX_FREEZE) != 0)
		return -EINVAL;
	kcpc_stop(ctx);
	kcpc_freeze(ctx, 0);
	return 0;
}

/* The next bind of the pack continues the counts, with this level or not. */
static void
pack_level(struct kcpc_ctx *ctx, uint32_t level, bool count)
{
	for (unsigned i = 0; i < ctx->kc_nreqs; i++) {
		struct cpc_packreq *pr = &ctx->kc_pack->cp_req[i];

		pr->cr_flags = kcpc_request_flags(pr);
		pr->cr_flags =
		    count ? pr->cr_flags | level : pr->cr_flags & ~level;
		pr->cr_event.ce_flags &= ~CPC_EVENT_LEVELS;
		pr->cr_preset = *kcpc_count(ctx, i);
	}
}

static intptr_t
op_level(const uintptr_t *a)
{
	struct kcpc_ctx *ctx;
	int err;

	if ((err = kcpc_find(lwp_self(), 0, &ctx)) != 0)
		return -err;
	if (ctx->kc_pack == NULL ||
	    (a[0] != CPC_COUNT_USER && a[0] != CPC_COUNT_SYSTEM))
		return -EINVAL;
	op_disable(a); /* it may be frozen already */
	pack_level(ctx, (uint32_t)a[0], a[1] != 0);
	return -kcpc_pctx_again(ctx);
}

static intptr_t
op_preset(const uintptr_t *a)
{
	struct kcpc_ctx *ctx;
	int err;

	if ((err = kcpc_find(lwp_self(), 0, &ctx)) != 0)
		return -err;
	if (a[0] >= ctx->kc_nreqs)
		return -EINVAL;
	ctx->kc_reqs[a[0]].kr_preset = a[1];
	return 0;
}

static intptr_t
op_restart(const uintptr_t *a)
{
	struct kcpc_ctx *ctx;
	int err;

	if ((err = kcpc_find(lwp_self(), a[0], &ctx)) != 0)
		return -err;
	kcpc_stop(ctx); /* folds the ticks, which a restart keeps */
	for (unsigned i = 0; i < ctx->kc_nreqs; i++)
		*kcpc_count(ctx, i) = ctx->kc_reqs[i].kr_preset;
	ctx->kc_flags &= ~(KCPC_CTX_FREEZE | KCPC_CTX_SIGOVF);
	kcpc_start(ctx);
	return 0;
}

static intptr_t
op_where(const uintptr_t *a)
{
	struct kcpc_ctx *ctx;
	int err = kcpc_target_ctx(a[3], a[0], &ctx);
	struct cpc_where w = { .cw_bind = 0 };

	if (ctx == NULL || a[1] >= ctx->kc_nreqs)
		return ctx == NULL ? -err : -EINVAL;
	const struct pcbe_cfg *cfg = &ctx->kc_pcbe.ps_cfg[a[1]];
	w.cw_pic = cfg->pc_pic;
	w.cw_width = kcpc_ops->width(cfg->pc_pic);
	w.cw_index = kcpc_ops->read_index(cfg->pc_pic);
	w.cw_flags = cfg->pc_flags;
	if ((ctx->kc_flags & KCPC_CTX_LWPINHERIT) != 0)
		w.cw_bind = CPC_BIND_LWP_INHERIT;
	w.cw_code = ctx->kc_reqs[a[1]].kr_code;
	return -copyout(a[2], &w, sizeof w);
}

static intptr_t
op_live(const uintptr_t *a)
{
	return kcpc_instances(lwp_self()->l_proc, a[0]);
}

static intptr_t
op_revoke(const uintptr_t *a)
{
	/* No set has this name, but contexts that are no set's do. */
	if (a[0] == 0)
		return -EINVAL;
	kcpc_revoke(lwp_self()->l_proc, a[0]);
	return 0;
}

static intptr_t
op_lwp_self(const uintptr_t *)
{
	return lwp_self()->l_id;
}

static intptr_t
op_npic(const uintptr_t *)
{
	return kcpc_types[0].kt_npic;
}

static intptr_t
op_caps(const uintptr_t *)
{
	return kcpc_caps();
}

/*
 * Operations that describe the PMU.  The library resolves event names itself;
 * it needs the description to know for which PMU.
 */

/*
 * Copy a name to the buffer at a[1] of a[2] bytes.  Returns the bytes that the
 * name has, or -errno.
 */
static intptr_t
name_copyout(const uintptr_t *a, const char *name)
{
	size_t bytes = strlen(name) + 1;
	size_t fits = bytes < a[2] ? bytes : a[2];
	int err = fits > 0 ? copyout(a[1], name, fits) : 0;

	return err != 0 ? -err : (intptr_t)bytes;
}

static intptr_t
op_pmu(const uintptr_t *a)
{
	struct cpc_pmu pm = { .pm_kind = 0 };
	uintptr_t type = a[1];

	if (type > kcpc_ops->pcbe_ntypes)
		return -EINVAL;
	const struct kcpc_type *kt = &kcpc_types[type];
	kcpc_ops->describe(&pm, (unsigned)type);
	pm.pm_attrs = kt->kt_attrs;
	pm.pm_pics = (uint32_t)kt->kt_pics;
	pm.pm_npic = kt->kt_npic;
	pm.pm_ntypes = kcpc_ops->pcbe_ntypes;
	if (type != 0) {
		pm.pm_type = (uint32_t)type;
		strlcpy(pm.pm_name, kt->kt_name, sizeof pm.pm_name);
		memcpy(pm.pm_cpus, &kt->kt_cpus, sizeof pm.pm_cpus);
	}
	return -copyout(a[0], &pm, sizeof pm);
}

static intptr_t
op_unresolved(const uintptr_t *)
{
	kcpc_asked(true);
	return 0;
}

static intptr_t
op_impl_name(const uintptr_t *a)
{
	return name_copyout(a, kcpc_ops->impl_name());
}

static intptr_t
op_cpuref(const uintptr_t *a)
{
	return name_copyout(a, kcpc_ops->cpuref());
}

static intptr_t
op_kernel_symbol(const uintptr_t *a)
{
	uintptr_t offset;
	const char *name = ksym_lookup(a[0], &offset);

	return name[0] == '?' ? -EINVAL : name_copyout(a, name);
}

static kcpc_op_fn *ops[] = {
	[CPC_OP_BIND] = kcpc_op_bind,
	[CPC_OP_SAMPLE] = op_sample,
	[CPC_OP_INVALIDATE] = op_invalidate,
	[CPC_OP_RELE] = op_rele,
	[CPC_OP_ENABLE] = op_enable,
	[CPC_OP_DISABLE] = op_disable,
	[CPC_OP_LEVEL] = op_level,
	[CPC_OP_TEST_DISTURB] = NULL, /* kern/debug/test_hooks.c */
	[CPC_OP_PRESET] = op_preset,
	[CPC_OP_RESTART] = op_restart,
	[CPC_OP_WHERE] = op_where,
	[CPC_OP_LIVE] = op_live,
	[CPC_OP_REVOKE] = op_revoke,
	[CPC_OP_LWP_SELF] = op_lwp_self,
	[CPC_OP_PAGE] = kcpc_op_page,
	[CPC_OP_ADVANCE] = NULL, /* kern/debug/test_hooks.c */
	[CPC_OP_PROFILE] = kcpc_op_profile,
	[CPC_OP_PROFILE_STAT] = kcpc_op_profile_stat,
	[CPC_OP_PROFILE_IMAGE] = kcpc_op_profile_image,
	[CPC_OP_ACCESS] = op_access,
	[CPC_OP_NPIC] = op_npic,
	[CPC_OP_CAPS] = op_caps,
	[CPC_OP_PMU] = op_pmu,
	[CPC_OP_UNRESOLVED] = op_unresolved,
	[CPC_OP_IMPL_NAME] = op_impl_name,
	[CPC_OP_CPUREF] = op_cpuref,
	[CPC_OP_KERNEL_SYMBOL] = op_kernel_symbol,
};

void
kcpc_add_op(unsigned op, kcpc_op_fn *fn)
{
	ASSERT(op < sizeof ops / sizeof ops[0] && ops[op] == NULL);
	ops[op] = fn;
}

static intptr_t
op_without_pmu(uintptr_t op, const uintptr_t *a)
{
	if (op == CPC_OP_LWP_SELF)
		return op_lwp_self(a);
	if (op == CPC_OP_NPIC)
		kcpc_asked(true);
	return -ENOSYS;
}

intptr_t
kcpc_syscall(const uintptr_t *args)
{
	uintptr_t op = args[0];
	const uintptr_t *a = args + 1;

	if (kcpc_ops == NULL)
		return op_without_pmu(op, a);
	if (op >= sizeof ops / sizeof ops[0] || ops[op] == NULL)
		return -EINVAL;
	return ops[op](a);
}
