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
 * Is the pack, of which CPC_MAX_PACK_BYTES were copied, a whole one?  Then each
 * request's attributes lie in it.
 */
static bool
is_whole(const struct cpc_pack *pack)
{
	if (CPC_PACK_BYTES(pack) > CPC_MAX_PACK_BYTES ||
	    pack->cp_nreqs > CPC_MAX_REQS)
		return false;
	for (unsigned i = 0; i < pack->cp_nreqs; i++) {
		const struct cpc_packreq *pr = &pack->cp_req[i];

		if (pr->cr_nattrs > CPC_MAX_ATTRS ||
		    pr->cr_attr > pack->cp_nattrs ||
		    pr->cr_nattrs > pack->cp_nattrs - pr->cr_attr)
			return false;
	}
	return true;
}

/*
 * A set cannot be bound to LWPs of the process and elsewhere: drop its binding
 * to a CPU, or to an LWP of another process.
 */
static void
drop_other_binding(const struct lwp *l, cpc_setid_t set)
{
	if (kcpc_ncpuset == 0 && l->l_proc->p_controlled == NULL)
		return;
	struct kcpc_ctx *ctx = kcpc_instance(l->l_proc, set);
	if (ctx != NULL && (ctx->kc_cpu != NULL || kcpc_is_pctx(ctx)))
		kcpc_revoke(l->l_proc, set);
}

/* May a request count user mode alone? */
static inline bool
may_count_user_only(const struct cpc_pack *pack)
{
	const uint32_t others = CPC_COUNT_SYSTEM | CPC_COUNT_HV;
	unsigned i = 0;

	while (i < pack->cp_nreqs && (pack->cp_req[i].cr_flags & others) != 0 &&
	       (pack->cp_req[i].cr_event.ce_flags & CPC_EVENT_LEVELS) == 0)
		i++;
	return i < pack->cp_nreqs;
}

/* Report once a program: requests for user code at system privilege read 0. */
static void
say_user_only(const char *program, const struct cpc_pack *pack)
{
	static char told[PROC_NAME_MAX];
	const uint32_t levels =
	    CPC_COUNT_USER | CPC_COUNT_SYSTEM | CPC_COUNT_HV;
	unsigned i = 0;

	while (i < pack->cp_nreqs && (kcpc_request_flags(&pack->cp_req[i]) &
					 levels) != CPC_COUNT_USER)
		i++;
	if (i == pack->cp_nreqs || strcmp(told, program) == 0)
		return;
	strlcpy(told, program, sizeof told);
	printf("barecpc: %s: request %u (event %#lx) counts user mode alone, "
	       "which never runs at system privilege: ask for "
	       "CPC_COUNT_SYSTEM\n",
	    program, i, (unsigned long)pack->cp_req[i].cr_event.ce_code);
}

/*
 * Bind a set of a core type.  Others run while the LWP moves to a CPU of that
 * type: they may take the counters, and change or destroy the set.
 */
static __attribute__((noinline)) int
bind_type(struct lwp *l, const struct cpc_pack *pack, const uintptr_t *a,
    struct cpc_refusal *rf)
{
	int err = kcpc_type_enter(l, pack->cp_type, rf);
	struct cpc_pack now;

	if (err != 0)
		return err;
	ASSERT(l->l_cpc == NULL); /* controllers bind to LWPs that rest */
	/* Others may have changed this while the LWP yielded. */
	drop_other_binding(l, pack->cp_set);
	/* Requests are only added to a pack. */
	if (copyin(&now, a[0], sizeof now) != 0 || now.cp_set != pack->cp_set ||
	    now.cp_nreqs != pack->cp_nreqs)
		err = ESTALE;
	else if (kcpc_profiled(l))
		err = EAGAIN;
	else if ((err = kcpc_lwp_check()) == 0)
		err = kcpc_bind(l, pack, (uint32_t)a[2], rf);
	if (err != 0)
		lwp_run_only(l, NULL);
	return err;
}

static int
bind_lwp(struct lwp *l, const struct cpc_pack *pack, const uintptr_t *a,
    struct cpc_refusal *rf)
{
	int err;

	if ((a[2] & ~CPC_BIND_LWP_INHERIT) != 0)
		return EINVAL;
	drop_other_binding(l, pack->cp_set);
	if (kcpc_profiled(l))
		return EAGAIN;
	if ((err = kcpc_lwp_check()) != 0)
		return err;
	/* Errors before this line leave the LWP's old binding. */
	kcpc_drop(l);
	if (!is_whole(pack))
		return EINVAL;
	if (l->l_system && may_count_user_only(pack))
		say_user_only(l->l_proc->p_name, pack);
	if (pack->cp_type != 0)
		return bind_type(l, pack, a, rf);
	return kcpc_bind(l, pack, (uint32_t)a[2], rf);
}

static int
bind_cpu(struct lwp *l, const struct cpc_pack *pack, uintptr_t cpu,
    struct cpc_refusal *rf)
{
	int err;

	kcpc_revoke(l->l_proc, pack->cp_set);
	if ((err = kcpc_cpu_check(l, cpu, rf)) != 0)
		return err;
	if (!is_whole(pack))
		return EINVAL;
	if (l->l_system && may_count_user_only(pack))
		say_user_only(l->l_proc->p_name, pack);
	return kcpc_cpu_bind(l, &cpus[cpu], pack, rf);
}

static int
bind_shared(struct lwp *l, const struct cpc_pack *pack, uintptr_t fd,
    struct cpc_refusal *rf)
{
	struct cpu *c;
	int err;

	if ((err = kcpc_shared_find(l, fd, &c)) != 0)
		return err;
	if (!is_whole(pack))
		return EINVAL;
	return kcpc_shared_bind(c, pack, rf);
}

static int
bind_target(struct lwp *self, const struct cpc_pack *pack, uintptr_t target,
    struct cpc_refusal *rf)
{
	struct cpc_pack *kept;
	struct lwp *l;
	int err;

	if ((err = kcpc_target_lwp(target, &l)) != 0)
		return err;
	kcpc_revoke(self->l_proc, pack->cp_set);
	if (kcpc_profiled(l))
		return EAGAIN;
	if ((err = kcpc_lwp_check()) != 0)
		return err;
	kcpc_drop(l);
	if (!is_whole(pack))
		return EINVAL;
	if (pack->cp_type != 0 &&
	    (err = kcpc_type_enter(l, pack->cp_type, rf)) != 0)
		return err;
	err = ENOMEM;
	if ((kept = kmalloc(CPC_PACK_BYTES(pack))) == NULL)
		goto leave_type;
	memcpy(kept, pack, CPC_PACK_BYTES(pack));
	err = kcpc_hang(l, pack, rf);
	if (err == 0) {
		l->l_cpc->kc_pack = kept;
		return 0;
	}
	kfree(kept);

leave_type:
	if (pack->cp_type != 0)
		lwp_run_only(l, NULL);
	return err;
}

static inline int
bind_pack(struct lwp *l, const struct cpc_pack *pack, const uintptr_t *a,
    struct cpc_refusal *rf)
{
	uintptr_t target = a[2];

	if (target >> 32 == 0)
		return bind_lwp(l, pack, a, rf);
	if (CPC_TARGET_KIND(target) == CPC_TARGET_CPU(0))
		return bind_cpu(l, pack, (uint32_t)target, rf);
	if (CPC_TARGET_KIND(target) == CPC_TARGET_FD(0))
		return bind_shared(l, pack, (uint32_t)target, rf);
	return bind_target(l, pack, target, rf);
}

/* Copy a refusal to the program, but not what its memory held before. */
static int
copyout_refusal(uintptr_t uva, struct cpc_refusal *rf)
{
	size_t said = strlen(rf->cf_why);

	memset(rf->cf_why + said, 0, sizeof rf->cf_why - said);
	return copyout(uva, rf, sizeof *rf);
}

/* Packs up to this size are copied to the stack, larger ones to the heap. */
#define PACK_SMALL 1024

static int
pack_and_bind(struct lwp *l, const uintptr_t *a)
{
	uint64_t small[PACK_SMALL / sizeof(uint64_t)];
	struct cpc_pack head, *pack = (struct cpc_pack *)small;
	struct cpc_refusal rf;
	int err;
	size_t copied;

	if (a[1] == 0)
		return EINVAL;
	if ((err = copyin(&head, a[0], sizeof head)) != 0)
		return err;
	if (head.cp_set != a[1])
		return ESTALE;
	if (head.cp_nreqs == 0)
		return EINVAL;
	copied = CPC_PACK_BYTES(&head);
	if (copied > CPC_MAX_PACK_BYTES)
		copied = CPC_MAX_PACK_BYTES;
	if (copied > sizeof small && (pack = kmalloc(copied)) == NULL)
		return ENOMEM;
	/* libcpc writes cp_set last: read it before the rest of the pack. */
	__sync_synchronize();
	if ((err = copyin(pack, a[0], copied)) != 0)
		goto free_pack;
	*pack = head;
	rf.cf_subcode = rf.cf_request = -1;
	rf.cf_why[0] = '\0';
	err = bind_pack(l, pack, a, &rf);
	if (err != 0 && rf.cf_subcode != -1 && copyout_refusal(a[3], &rf) != 0)
		err = EFAULT;

free_pack:
	if (copied > sizeof small)
		kfree(pack);
	return err;
}

intptr_t
kcpc_op_bind(const uintptr_t *a)
{
	int err = pack_and_bind(lwp_self(), a);

	if (err != ESTALE) /* libcpc packs again and repeats the call */
		kcpc_asked(err != 0);
	return -err;
}
