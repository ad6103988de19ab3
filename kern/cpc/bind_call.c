/*
 * The operations of the system call that bind a set.  They copy the program's
 * pack, check its form, and drop the bindings that it replaces.
 */
#include "kern/cpc/kcpc.h"

#include "kern/cpc/kcpc_impl.h"
#include "kern/mm/page.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"
#include "lib/string.h"

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

bool
kcpc_unpack(const struct cpc_pack *pack, struct kcpc_want *want)
{
	return pack_unpack(pack, pack->cp_bytes, want);
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
	ASSERT(l->l_cpc == NULL); /* controllers bind to LWPs that rest */
	/* Others may have changed this while the LWP yielded. */
	drop_other_binding(l, pack->cp_set);
	if (kcpc_profiled(l))
		err = EAGAIN;
	else if ((err = kcpc_lwps_may_count()) == 0)
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

static int
bind_target(struct lwp *self, const struct cpc_pack *pack, size_t bytes,
    uintptr_t target, int *subcode)
{
	struct kcpc_want want[CPC_MAX_REQS];
	struct cpc_pack *kept;
	struct lwp *l;
	int err;

	if ((err = kcpc_target(target, &l)) != 0)
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

intptr_t
kcpc_op_bind(const uintptr_t *a)
{
	return bind_and_record(a, bind_lwp);
}

intptr_t
kcpc_op_bind_cpu(const uintptr_t *a)
{
	return bind_and_record(a, bind_cpu);
}

intptr_t
kcpc_op_shared_bind(const uintptr_t *a)
{
	return bind_and_record(a, bind_shared);
}

intptr_t
kcpc_op_bind_pctx(const uintptr_t *a)
{
	return bind_and_record(a, bind_target);
}
