/*
 * The system call: what programs hand in is copied, then checked, then used.
 */
#include "kern/kcpc.h"

#include "kern/arch.h"
#include "kern/cpu.h"
#include "kern/errno.h"
#include "kern/kcpc_impl.h"
#include "kern/lwp.h"
#include "kern/page.h"
#include "kern/usercopy.h"
#include "lib/string.h"

/*
 * Find n requests with their attributes in what lies behind the header.
 * False if they do not fill it exactly.
 */
static bool
unpack(const struct cpc_pack *pack, size_t bytes, struct kcpc_want *want)
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
take_apart(const struct cpc_pack *pack, size_t bytes, struct kcpc_want *want)
{
	return bytes <= CPC_MAX_PACK_BYTES && pack->cp_nreqs <= CPC_MAX_REQS &&
	       unpack(pack, bytes, want);
}

/* What a bind does with the pack, which has a set and a request at least. */
typedef int bind_fn(struct lwp *l, const struct cpc_pack *pack, size_t bytes,
    uintptr_t how, int *subcode);

/* A set is bound to LWPs or to a CPU. */
static void
leave_cpu(const struct lwp *l, cpc_setid_t set)
{
	struct kcpc_ctx *ctx;

	if (kcpc_ncpuset != 0 &&
	    (ctx = kcpc_instance(l->l_proc, set)) != NULL &&
	    ctx->kc_cpu != NULL)
		kcpc_cpu_drop(ctx);
}

static int
bind_lwp(struct lwp *l, const struct cpc_pack *pack, size_t bytes,
    uintptr_t flags, int *subcode)
{
	struct kcpc_want want[CPC_MAX_REQS];
	int err;

	if ((flags & ~CPC_BIND_LWP_INHERIT) != 0)
		return EINVAL;
	leave_cpu(l, pack->cp_set);
	if (kcpc_profiled(l))
		return EAGAIN;
	if ((err = kcpc_lwps_may_count()) != 0)
		return err;
	/* Past the tests that leave an old binding alone: it is gone now. */
	kcpc_drop(l);
	if (!take_apart(pack, bytes, want))
		return EINVAL;
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
	if (!take_apart(pack, bytes, want))
		return EINVAL;
	return kcpc_cpu_bind(
	    l, &cpus[cpu], pack->cp_set, want, pack->cp_nreqs, subcode);
}

/* Of a pack this long or shorter the copy is on the stack. */
#define PACK_SMALL 1024

static int
sys_bind(struct lwp *l, const uintptr_t *a, bind_fn *bind)
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
	/* What was there when the head was written is there now. */
	__sync_synchronize();
	if ((err = copyin(pack, a[0], copied)) != 0)
		goto free_pack;
	*pack = head;
	err = bind(l, pack, head.cp_bytes, a[2], &subcode);
	if (err != 0 && subcode != -1 &&
	    copyout(a[3], &subcode, sizeof subcode) != 0)
		err = EFAULT;

free_pack:
	if (copied > sizeof small)
		kfree(pack);
	return err;
}

static int
sys_sample(struct lwp *l, const uintptr_t *a)
{
	struct {
		struct cpc_sample head;
		uint64_t value[PCBE_MAXPIC];
	} s;
	int err;

	if (a[0] == 0)
		return EINVAL;
	if ((err = kcpc_sample(l, a[0], a[2], &s.head)) != 0)
		return err;
	/* As copyout(), a call the less. */
	if (arch_copyout(a[1], &s, sizeof s.head + a[2] * sizeof s.value[0]) !=
	    0)
		return copy_refuse(a[1]);
	return 0;
}

static __attribute__((noinline)) int
sys_where(struct lwp *l, const uintptr_t *a)
{
	struct kcpc_ctx *ctx;
	struct cpc_where w;
	unsigned pic;

	if (a[0] == 0 ||
	    (kcpc_find(l, a[0], &ctx) == EINVAL &&
		kcpc_cpu_find(l, a[0], &ctx) == EINVAL) ||
	    a[1] >= ctx->kc_nreqs)
		return EINVAL;
	pic = ctx->kc_pcbe.ps_cfg[a[1]].pc_pic;
	w.cw_pic = pic;
	w.cw_width = kcpc_ops->width(pic);
	w.cw_index = kcpc_ops->read_index(pic);
	w.cw_pad = 0;
	w.cw_code = ctx->kc_reqs[a[1]].kr_code;
	return copyout(a[2], &w, sizeof w);
}

/* The software PMU is told what no hardware sees. */
static int
sys_advance(const uintptr_t *a)
{
	if (kcpc_ops->advance == NULL)
		return ENOTSUP;
	kcpc_ops->advance(a[0], a[1] & (CPC_COUNT_USER | CPC_COUNT_SYSTEM));
	return 0;
}

static __attribute__((noinline)) int
op_bind(struct lwp *l, const uintptr_t *a, bind_fn *bind)
{
	int err = sys_bind(l, a, bind);

	if (err != ESTALE) /* it will ask again */
		kcpc_asked(err != 0);
	return err;
}

/*
 * Operations on contexts: 0 or an errno.  Those that are not done often are
 * not inline, so that the others save no registers for them.
 */
static int
context_op(struct lwp *l, uintptr_t op, const uintptr_t *a)
{
	switch (op) {
	case CPC_OP_BIND:
		return op_bind(l, a, bind_lwp);
	case CPC_OP_BIND_CPU:
		return op_bind(l, a, bind_cpu);
	case CPC_OP_SAMPLE:
		return sys_sample(l, a);
	case CPC_OP_RELE:
		return a[0] != 0 ? kcpc_rele(l, a[0]) : EINVAL;
	case CPC_OP_ENABLE:
		return kcpc_enable(l);
	case CPC_OP_DISABLE:
		return kcpc_disable(l);
	case CPC_OP_STIR:
		return kcpc_stir(l, a[0], a[1]);
	case CPC_OP_PRESET:
		return kcpc_preset(l, a[0], a[1]);
	case CPC_OP_RESTART:
		return kcpc_restart(l, a[0]);
	case CPC_OP_WHERE:
		return sys_where(l, a);
	case CPC_OP_ADVANCE:
		return sys_advance(a);
	default:
		return EINVAL;
	}
}

intptr_t
kcpc_syscall(const uintptr_t *args)
{
	struct lwp *l = lwp_self();
	const uintptr_t *a = args + 1;

	if (args[0] == CPC_OP_LWP_SELF)
		return l->l_id;
	if (kcpc_ops == NULL) {
		if (args[0] == CPC_OP_TABLE)
			return kcpc_table_op(args[0], a);
		if (args[0] == CPC_OP_NPIC)
			kcpc_asked(true);
		return -ENOSYS;
	}

	switch (args[0]) {
	case CPC_OP_LIST_EVENTS:
		return kcpc_list_events(a);
	case CPC_OP_LIST_ATTRS:
		return kcpc_list_attrs(a);
	case CPC_OP_IMPL_NAME:
		return kcpc_list_one(a, kcpc_ops->impl_name());
	case CPC_OP_CPUREF:
		return kcpc_list_one(a, kcpc_ops->cpuref());
	case CPC_OP_NPIC:
		return kcpc_npic;
	case CPC_OP_CAPS:
		return kcpc_caps();
	case CPC_OP_EVENT:
		return kcpc_event(a);
	case CPC_OP_LIVE:
		return kcpc_live(l->l_proc, a[0]);
	case CPC_OP_REVOKE:
		kcpc_revoke(l->l_proc, a[0]);
		return 0;
	case CPC_OP_PAGE:
		return kcpc_page_get(l, a);
	case CPC_OP_PROFILE:
		return -kcpc_profile_attach(l, a[0], a[1]);
	case CPC_OP_PROFILE_STAT:
		return -kcpc_profile_stat(a[0], a[1]);
	default:
		/* What is seldom asked for is asked for last. */
		return args[0] >= CPC_OP_EVENT_WHY ? kcpc_table_op(args[0], a)
		                                   : -context_op(l, args[0], a);
	}
}
