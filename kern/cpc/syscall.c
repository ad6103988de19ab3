/*
 * The system call of include/sys/cpc.h: one function for each operation.
 * Arguments in user memory are first copied, then checked, then used.
 */
#include "kern/cpc/kcpc.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/mm/page.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/control.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"
#include "lib/string.h"

_Static_assert(CPC_MAX_REQS < 1 << 7, "CPC_PAGE_SET() has seven bits for it");

/*
 * Find the requests and their attributes, which follow the header of the pack.
 * False if they do not fill the pack exactly.
 */
static bool
unpack_requests(
    const struct cpc_pack *pack, size_t bytes, struct kcpc_want *want)
{
	const char *at = (const char *)(pack + 1);
	unsigned i;

	bytes -= sizeof *pack;
	for (i = 0; i < pack->cp_nreqs; i++) {
		if (bytes < sizeof *want[i].kw_req)
			return false;
		want[i].kw_req = (const struct cpc_packreq *)at;
		at += sizeof *want[i].kw_req;
		bytes -= sizeof *want[i].kw_req;
		if (want[i].kw_req->cr_nattrs > CPC_MAX_ATTRS ||
		    bytes / sizeof *want[i].kw_attrs <
			want[i].kw_req->cr_nattrs)
			return false;
		want[i].kw_attrs = (const struct cpc_packattr *)at;
		at += want[i].kw_req->cr_nattrs * sizeof *want[i].kw_attrs;
		bytes -= want[i].kw_req->cr_nattrs * sizeof *want[i].kw_attrs;
	}
	return bytes == 0;
}

static bool
pack_unpack(const struct cpc_pack *pack, size_t bytes, struct kcpc_want *want)
{
	return bytes <= CPC_MAX_PACK_BYTES && pack->cp_nreqs <= CPC_MAX_REQS &&
	       unpack_requests(pack, bytes, want);
}

/* Bind a pack that names a set and has at least one request. */
typedef int bind_fn(struct lwp *l, const struct cpc_pack *pack, size_t bytes,
    uintptr_t how, int *subcode);

/*
 * A set cannot be bound to LWPs of the process and elsewhere: drop its binding
 * to a CPU, or to an LWP of another process.
 */
static void
drop_other_binding(const struct lwp *l, cpc_setid_t set)
{
	struct kcpc_ctx *ctx;

	if (kcpc_ncpuset == 0 && l->l_proc->p_controlled == NULL)
		return;
	ctx = kcpc_instance(l->l_proc, set);
	if (ctx != NULL && (ctx->kc_cpu != NULL || kcpc_is_pctx(ctx)))
		kcpc_revoke(l->l_proc, set);
}

/* May a request count user mode alone? */
static inline bool
may_count_user_only(const struct kcpc_want *want, unsigned n)
{
	const uint32_t others = CPC_COUNT_SYSTEM | CPC_COUNT_HV;
	unsigned i = 0;

	while (i < n && (want[i].kw_req->cr_flags & others) != 0 &&
	       (want[i].kw_req->cr_event.ce_flags & CPC_EVENT_LEVELS) == 0)
		i++;
	return i < n;
}

/*
 * Report requests that read 0 because no user code runs at system privilege,
 * once for each program.
 */
static void
say_user_only(const char *program, const struct kcpc_want *want, unsigned n)
{
	static char told[PROC_NAME_MAX];
	const uint32_t levels =
	    CPC_COUNT_USER | CPC_COUNT_SYSTEM | CPC_COUNT_HV;
	unsigned i = 0;

	while (i < n &&
	       (kcpc_request_flags(want[i].kw_req) & levels) != CPC_COUNT_USER)
		i++;
	if (i == n || strcmp(told, program) == 0)
		return;
	strlcpy(told, program, sizeof told);
	printf("barecpc: %s: request %u (event %#lx) counts user mode alone, "
	       "which never runs at system privilege: ask for "
	       "CPC_COUNT_SYSTEM\n",
	    program, i, (unsigned long)want[i].kw_req->cr_event.ce_code);
}

/*
 * Bind a set of a core type.  Others run while the LWP moves to a CPU of that
 * type: they may take the counters.
 */
static __attribute__((noinline)) int
bind_type(struct lwp *l, const struct cpc_pack *pack,
    const struct kcpc_want *want, uint32_t flags, int *subcode)
{
	int err = kcpc_type_enter(l, pack->cp_type, subcode);

	if (err != 0)
		return err;
	if ((err = kcpc_lwps_may_count()) == 0)
		err = kcpc_bind(
		    l, pack->cp_set, want, pack->cp_nreqs, flags, subcode);
	if (err != 0)
		kcpc_type_leave(l);
	return err;
}

static int
bind_lwp(struct lwp *l, const struct cpc_pack *pack, size_t bytes,
    uintptr_t flags, int *subcode)
{
	struct kcpc_want want[CPC_MAX_REQS];
	int err;

	if ((flags & ~CPC_BIND_LWP_INHERIT) != 0)
		return EINVAL;
	drop_other_binding(l, pack->cp_set);
	if (kcpc_profiled(l))
		return EAGAIN;
	if ((err = kcpc_lwps_may_count()) != 0)
		return err;
	/* Errors before this line leave the LWP's old binding; later ones not.
	 */
	kcpc_drop(l);
	if (!pack_unpack(pack, bytes, want))
		return EINVAL;
	if (l->l_system && may_count_user_only(want, pack->cp_nreqs))
		say_user_only(l->l_proc->p_name, want, pack->cp_nreqs);
	if (pack->cp_type != 0)
		return bind_type(l, pack, want, (uint32_t)flags, subcode);
	return kcpc_bind(
	    l, pack->cp_set, want, pack->cp_nreqs, (uint32_t)flags, subcode);
}

static int
bind_cpu(struct lwp *l, const struct cpc_pack *pack, size_t bytes,
    uintptr_t cpu, int *subcode)
{
	struct kcpc_want want[CPC_MAX_REQS];
	int err;

	kcpc_revoke(l->l_proc, pack->cp_set);
	if ((err = kcpc_cpu_judge(l, cpu, subcode)) != 0)
		return err;
	if (!pack_unpack(pack, bytes, want))
		return EINVAL;
	if (l->l_system && may_count_user_only(want, pack->cp_nreqs))
		say_user_only(l->l_proc->p_name, want, pack->cp_nreqs);
	return kcpc_cpu_bind(l, &cpus[cpu], pack, want, subcode);
}

/* How: /dev/cpc_shared's descriptor.  The pack's set means nothing here. */
static int
bind_shared(struct lwp *l, const struct cpc_pack *pack, size_t bytes,
    uintptr_t fd, int *subcode)
{
	struct kcpc_want want[CPC_MAX_REQS];
	struct kcpc_shared *sh;
	int err;

	if ((err = kcpc_shared_find(l, fd, &sh)) != 0)
		return err;
	if (!pack_unpack(pack, bytes, want))
		return EINVAL;
	return kcpc_shared_bind(sh, pack, want, subcode);
}

/* Find an LWP of a process that the caller controls: CPC_TARGET(). */
static int
target_lwp(uintptr_t target, struct lwp **lp)
{
	return control_find_lwp((int)(target >> 32), (int)(uint32_t)target, lp);
}

static int
bind_target(struct lwp *self, const struct cpc_pack *pack, size_t bytes,
    uintptr_t target, int *subcode)
{
	struct kcpc_want want[CPC_MAX_REQS];
	struct cpc_pack *kept;
	struct lwp *l;
	int err;

	if ((err = target_lwp(target, &l)) != 0)
		return err;
	kcpc_revoke(self->l_proc, pack->cp_set);
	if (kcpc_profiled(l))
		return EAGAIN;
	if ((err = kcpc_lwps_may_count()) != 0)
		return err;
	kcpc_drop(l);
	if (!pack_unpack(pack, bytes, want))
		return EINVAL;
	if (pack->cp_type != 0 &&
	    (err = kcpc_type_enter(l, pack->cp_type, subcode)) != 0)
		return err;
	err = ENOMEM;
	if ((kept = kmalloc(bytes)) == NULL)
		goto leave_type;
	memcpy(kept, pack, bytes);
	err = kcpc_pctx_bind(l, pack->cp_set, want, pack->cp_nreqs, subcode);
	if (err == 0) {
		l->l_cpc->kc_pack = kept;
		return 0;
	}
	kfree(kept);

leave_type:
	if (pack->cp_type != 0)
		kcpc_type_leave(l);
	return err;
}

/* Copy the subcode and the reason of a refusal to the program. */
static int
copyout_reason(uintptr_t uva, int subcode)
{
	struct cpc_refusal rf = { .cf_subcode = subcode };

	strlcpy(rf.cf_why, kcpc_reason_text(), sizeof rf.cf_why);
	return copyout(uva, &rf, sizeof rf);
}

/* Packs up to this size are copied to the stack, larger ones to the heap. */
#define PACK_SMALL 1024

static int
pack_and_bind(struct lwp *l, const uintptr_t *a, bind_fn *bind)
{
	uint64_t small[PACK_SMALL / sizeof(uint64_t)];
	struct cpc_pack head, *pack = (struct cpc_pack *)small;
	int err, subcode = -1;
	size_t copied;

	if (a[1] == 0)
		return EINVAL;
	if ((err = copyin(&head, a[0], sizeof head)) != 0)
		return err;
	if (head.cp_set != a[1])
		return ESTALE;
	if (head.cp_nreqs == 0 || head.cp_bytes < sizeof head)
		return EINVAL;
	copied = head.cp_bytes < CPC_MAX_PACK_BYTES ? head.cp_bytes
	                                            : CPC_MAX_PACK_BYTES;
	if (copied > sizeof small && (pack = kmalloc(copied)) == NULL)
		return ENOMEM;
	/* libcpc writes cp_set last: read it before the rest of the pack. */
	__sync_synchronize();
	if ((err = copyin(pack, a[0], copied)) != 0)
		goto free_pack;
	*pack = head;
	kcpc_reason_clear();
	err = bind(l, pack, head.cp_bytes, a[2], &subcode);
	if (err != 0 && subcode != -1 && copyout_reason(a[3], subcode) != 0)
		err = EFAULT;

free_pack:
	if (copied > sizeof small)
		kfree(pack);
	return err;
}

static intptr_t
bind_and_record(const uintptr_t *a, bind_fn *bind)
{
	int err = pack_and_bind(lwp_self(), a, bind);

	if (err != ESTALE) /* libcpc packs again and repeats the call */
		kcpc_asked(err != 0);
	return -err;
}

/*
 * The operations
 */

static intptr_t
op_bind(const uintptr_t *a)
{
	return bind_and_record(a, bind_lwp);
}

static intptr_t
op_bind_cpu(const uintptr_t *a)
{
	return bind_and_record(a, bind_cpu);
}

static intptr_t
op_shared_bind(const uintptr_t *a)
{
	return bind_and_record(a, bind_shared);
}

static intptr_t
op_shared_sample(const uintptr_t *a)
{
	struct {
		struct cpc_sample head;
		uint64_t value[PCBE_MAXPIC];
	} s;
	struct kcpc_shared *sh;
	int err;

	if ((err = kcpc_shared_find(lwp_self(), a[0], &sh)) != 0 ||
	    (err = kcpc_shared_sample(sh, a[2], &s.head)) != 0)
		return -err;
	return -copyout(a[1], &s, sizeof s.head + a[2] * sizeof s.value[0]);
}

static intptr_t
op_shared_rele(const uintptr_t *a)
{
	struct kcpc_shared *sh;
	int err;

	if ((err = kcpc_shared_find(lwp_self(), a[0], &sh)) == 0)
		kcpc_shared_rele(sh);
	return -err;
}

static intptr_t
where_copyout(const struct kcpc_ctx *ctx, const uintptr_t *a)
{
	struct cpc_where w;
	unsigned pic;

	if (a[1] >= ctx->kc_nreqs)
		return -EINVAL;
	pic = ctx->kc_pcbe.ps_cfg[a[1]].pc_pic;
	w.cw_pic = pic;
	w.cw_width = kcpc_ops->width(pic);
	w.cw_index = kcpc_ops->read_index(pic);
	w.cw_flags = ctx->kc_pcbe.ps_cfg[a[1]].pc_flags;
	w.cw_bind = (ctx->kc_flags & KCPC_CTX_LWPINHERIT) != 0
	                ? CPC_BIND_LWP_INHERIT
	                : 0;
	w.cw_code = ctx->kc_reqs[a[1]].kr_code;
	return -copyout(a[2], &w, sizeof w);
}

static intptr_t
op_shared_where(const uintptr_t *a)
{
	struct kcpc_shared *sh;
	int err;

	if ((err = kcpc_shared_find(lwp_self(), a[0], &sh)) != 0)
		return -err;
	return where_copyout(kcpc_shared_ctx(sh), a);
}

static intptr_t
op_where_pctx(const uintptr_t *a)
{
	struct kcpc_ctx *ctx;
	struct lwp *l;
	int err;

	if ((err = target_lwp(a[3], &l)) != 0)
		return -err;
	if (kcpc_pctx_find(l, a[0], &ctx) == EINVAL)
		return -EINVAL;
	return where_copyout(ctx, a);
}

static intptr_t
op_access(const uintptr_t *a)
{
	(void)a;
	return kcpc_profiled(lwp_self()) ? -EAGAIN : -kcpc_lwps_may_count();
}

static intptr_t
op_bind_pctx(const uintptr_t *a)
{
	return bind_and_record(a, bind_target);
}

__attribute__((no_stack_protector)) static intptr_t
op_sample(const uintptr_t *a)
{
	struct {
		struct cpc_sample head;
		uint64_t value[PCBE_MAXPIC];
	} s;
	int err;

	if (a[0] == 0)
		return -EINVAL;
	if ((err = kcpc_sample(lwp_self(), a[0], a[2], &s.head)) != 0)
		return -err;
	/* The same as copyout(), one call less: sample is a hot path. */
	if (arch_copyout(a[1], &s, sizeof s.head + a[2] * sizeof s.value[0]) !=
	    0)
		return -copy_refuse(a[1]);
	return 0;
}

static intptr_t
op_sample_pctx(const uintptr_t *a)
{
	struct {
		struct cpc_sample head;
		uint64_t value[PCBE_MAXPIC];
	} s;
	struct lwp *l;
	int err;

	if (a[0] == 0)
		return -EINVAL;
	if ((err = target_lwp(a[3], &l)) != 0 ||
	    (err = kcpc_pctx_sample(l, a[0], a[2], &s.head)) != 0)
		return -err;
	return -copyout(a[1], &s, sizeof s.head + a[2] * sizeof s.value[0]);
}

static intptr_t
op_rele_pctx(const uintptr_t *a)
{
	struct lwp *l;
	int err = target_lwp(a[3], &l);

	return err != 0 ? -err : -kcpc_pctx_rele(l, a[0]);
}

static intptr_t
op_invalidate_pctx(const uintptr_t *a)
{
	struct lwp *l;
	int err = target_lwp(a[3], &l);

	return err != 0 ? -err : -kcpc_pctx_invalidate(l);
}

static intptr_t
op_rele(const uintptr_t *a)
{
	return a[0] != 0 ? -kcpc_rele(lwp_self(), a[0]) : -EINVAL;
}

static intptr_t
op_enable(const uintptr_t *a)
{
	(void)a;
	return -kcpc_enable(lwp_self());
}

static intptr_t
op_disable(const uintptr_t *a)
{
	(void)a;
	return -kcpc_disable(lwp_self());
}

/* The next bind of the pack continues the counts, with this level or not. */
static void
pack_level(struct kcpc_ctx *ctx, uint32_t level, bool count)
{
	char *at = (char *)(ctx->kc_pack + 1);

	for (unsigned i = 0; i < ctx->kc_nreqs; i++) {
		struct cpc_packreq *pr = (struct cpc_packreq *)at;

		pr->cr_flags = kcpc_request_flags(pr);
		pr->cr_flags =
		    count ? pr->cr_flags | level : pr->cr_flags & ~level;
		pr->cr_event.ce_flags &= ~CPC_EVENT_LEVELS;
		pr->cr_preset = *kcpc_count(ctx, i);
		at += sizeof *pr + pr->cr_nattrs * sizeof(struct cpc_packattr);
	}
}

static intptr_t
op_level(const uintptr_t *a)
{
	struct kcpc_want want[CPC_MAX_REQS];
	struct lwp *l = lwp_self();
	struct cpc_pack *pack;
	struct kcpc_ctx *ctx;
	int err;

	if ((err = kcpc_find(l, 0, &ctx)) != 0)
		return -err;
	if (ctx->kc_pack == NULL ||
	    (a[0] != CPC_COUNT_USER && a[0] != CPC_COUNT_SYSTEM))
		return -EINVAL;
	kcpc_disable(l); /* it may be frozen already */
	pack_level(ctx, (uint32_t)a[0], a[1] != 0);
	pack = ctx->kc_pack;
	pack_unpack(pack, pack->cp_bytes, want);
	return -kcpc_pctx_again(ctx, want);
}

static intptr_t
op_preset(const uintptr_t *a)
{
	return -kcpc_preset(lwp_self(), a[0], a[1]);
}

static intptr_t
op_restart(const uintptr_t *a)
{
	return -kcpc_restart(lwp_self(), a[0]);
}

static intptr_t
op_where(const uintptr_t *a)
{
	struct lwp *l = lwp_self();
	struct kcpc_ctx *ctx;

	if (a[0] == 0 || (kcpc_find(l, a[0], &ctx) == EINVAL &&
			     kcpc_cpu_find(l, a[0], &ctx) == EINVAL))
		return -EINVAL;
	return where_copyout(ctx, a);
}

static intptr_t
op_live(const uintptr_t *a)
{
	return kcpc_instances(lwp_self()->l_proc, a[0]);
}

static intptr_t
op_revoke(const uintptr_t *a)
{
	kcpc_revoke(lwp_self()->l_proc, a[0]);
	return 0;
}

static intptr_t
op_lwp_self(const uintptr_t *a)
{
	(void)a;
	return lwp_self()->l_id;
}

static intptr_t
op_page(const uintptr_t *a)
{
	return kcpc_page_get(lwp_self(), a);
}

static intptr_t
op_profile(const uintptr_t *a)
{
	return -kcpc_profile_attach(lwp_self(), a[0], a[1]);
}

static intptr_t
op_profile_stat(const uintptr_t *a)
{
	return -kcpc_profile_stat(a[0], a[1]);
}

static intptr_t
op_profile_image(const uintptr_t *a)
{
	return -kcpc_profile_image(a[0], a[1], a[2]);
}

static intptr_t
op_npic(const uintptr_t *a)
{
	(void)a;
	return kcpc_offer[0].ko_npic;
}

static intptr_t
op_caps(const uintptr_t *a)
{
	(void)a;
	return kcpc_caps();
}

static kcpc_op_fn *ops[] = {
	[CPC_OP_BIND] = op_bind,
	[CPC_OP_BIND_CPU] = op_bind_cpu,
	[CPC_OP_SAMPLE] = op_sample,
	[CPC_OP_BIND_PCTX] = op_bind_pctx,
	[CPC_OP_SAMPLE_PCTX] = op_sample_pctx,
	[CPC_OP_RELE_PCTX] = op_rele_pctx,
	[CPC_OP_INVALIDATE_PCTX] = op_invalidate_pctx,
	[CPC_OP_RELE] = op_rele,
	[CPC_OP_ENABLE] = op_enable,
	[CPC_OP_DISABLE] = op_disable,
	[CPC_OP_LEVEL] = op_level,
	[CPC_OP_TEST_DISTURB] = NULL, /* kern/sys/test_hooks.c */
	[CPC_OP_PRESET] = op_preset,
	[CPC_OP_RESTART] = op_restart,
	[CPC_OP_WHERE] = op_where,
	[CPC_OP_LIVE] = op_live,
	[CPC_OP_REVOKE] = op_revoke,
	[CPC_OP_LWP_SELF] = op_lwp_self,
	[CPC_OP_PAGE] = op_page,
	[CPC_OP_ADVANCE] = NULL, /* kern/sys/test_hooks.c */
	[CPC_OP_PROFILE] = op_profile,
	[CPC_OP_PROFILE_STAT] = op_profile_stat,
	[CPC_OP_PROFILE_IMAGE] = op_profile_image,
	[CPC_OP_ACCESS] = op_access,
	[CPC_OP_SHARED_BIND] = op_shared_bind,
	[CPC_OP_SHARED_SAMPLE] = op_shared_sample,
	[CPC_OP_SHARED_RELE] = op_shared_rele,
	[CPC_OP_SHARED_WHERE] = op_shared_where,
	[CPC_OP_WHERE_PCTX] = op_where_pctx,
	[CPC_OP_NPIC] = op_npic,
	[CPC_OP_CAPS] = op_caps,
	/* event_names.c */
	[CPC_OP_PMU] = kcpc_pmu,
	[CPC_OP_UNRESOLVED] = kcpc_unresolved,
	[CPC_OP_IMPL_NAME] = kcpc_impl_name,
	[CPC_OP_CPUREF] = kcpc_cpuref,
	[CPC_OP_KERNEL_SYMBOL] = kcpc_kernel_symbol,
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
	switch (op) {
	case CPC_OP_LWP_SELF:
		return op_lwp_self(a);
	case CPC_OP_NPIC:
		kcpc_asked(true);
		return -ENOSYS;
	default:
		return -ENOSYS;
	}
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
