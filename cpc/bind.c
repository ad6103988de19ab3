/*
 * Calls on the calling LWP's context: bind, unbind, restart, enable, disable.
 * The kernel keeps the context; the library passes the identity of a set.
 */
#include "cpc/cpci.h"

#include <errno.h>

#include "cpc/pctx.h"

/* Turn a result of cpc_syscall() into a return value and errno. */
static int
set_errno(intptr_t r)
{
	if (r < 0) {
		errno = (int)-r;
		return -1;
	}
	return 0;
}

/*
 * The LWP of another process that the set is bound to, or 0.  Only the library
 * remembers it when the LWP is gone, or bound to another set.
 */
static uint64_t
target_of(const struct cpci_set *cs)
{
	return __atomic_load_n(&cs->cis_target, __ATOMIC_RELAXED);
}

/* Note the new target of a set.  Another thread may have destroyed the set. */
static void
note_target(cpc_t *cpc, cpc_set_t *set, uint64_t target)
{
	struct cpci_set *cs = cpci_set(cpc, set);

	if (cs != NULL)
		__atomic_store_n(&cs->cis_target, target, __ATOMIC_RELAXED);
}

/* Has a set of this handle been bound to another process? */
static bool
has_targets(const cpc_t *cpc)
{
	return __atomic_load_n(&cpc->c_target, __ATOMIC_RELAXED) != 0;
}

/*
 * Pass the set's pack to the kernel.  Returns -ESTALE if another thread is
 * changing the set or has destroyed it.
 */
static intptr_t
bind_pack(cpc_t *cpc, cpc_set_t *set, enum cpc_op op, uintptr_t how,
    struct cpc_refusal *rf)
{
	struct cpci_set *cs = cpci_set(cpc, set);
	struct cpci_pack *pk;

	if (cs == NULL ||
	    __atomic_load_n(&cs->cis_nreqs, __ATOMIC_RELAXED) == 0)
		return -EINVAL;
	/*
	 * cpci_pack_close() and this store are SEQ_CST.  So either the kernel
	 * finds the pack closed, or the thread that closes it sees this.
	 */
	if (!__atomic_load_n(&cs->cis_bound_once, __ATOMIC_RELAXED))
		__atomic_store_n(&cs->cis_bound_once, true, __ATOMIC_SEQ_CST);
	pk = __atomic_load_n(&cs->cis_pack, __ATOMIC_ACQUIRE);
	return cpc_syscall(
	    op, (uintptr_t)&pk->cip_pack, cpci_id(set), how, (uintptr_t)rf);
}

static intptr_t
bind_lwp(cpc_t *cpc, cpc_set_t *set, uintptr_t flags, struct cpc_refusal *rf)
{
	intptr_t r = bind_pack(cpc, set, CPC_OP_BIND, flags, rf);
	sigset_t mask;

	if (r == -ESTALE) {
		cpci_lock(cpc, &mask);
		r = bind_pack(cpc, set, CPC_OP_BIND, flags, rf);
		cpci_unlock(cpc, &mask);
	}
	return r;
}

int
cpc_bind_curlwp(cpc_t *cpc, cpc_set_t *set, uint_t flags)
{
	struct cpc_refusal rf;
	intptr_t r = -EINVAL;

	if (cpc == NULL)
		return set_errno(-EINVAL);
	cpci_page_find();
	rf.cf_subcode = -1;
	if ((flags & ~CPC_BIND_LWP_INHERIT) == 0)
		r = bind_lwp(cpc, set, flags, &rf);
	if (r != 0)
		return cpci_fail(
		    cpc, "cpc_bind_curlwp", (int)-r, rf.cf_subcode, rf.cf_why);
	return 0;
}

int
cpc_bind_cpu(cpc_t *cpc, processorid_t id, cpc_set_t *set, uint_t flags)
{
	struct cpc_refusal rf;
	intptr_t r = -EINVAL;
	sigset_t mask;

	if (cpc == NULL)
		return set_errno(-EINVAL);
	/*
	 * The LWP may wait until that CPU runs it.  The lock keeps the set
	 * from being destroyed in that time.  A negative id becomes a large
	 * number, which no CPU has.
	 */
	rf.cf_subcode = -1;
	cpci_lock(cpc, &mask);
	if (flags == 0)
		r = bind_pack(cpc, set, CPC_OP_BIND_CPU, (uintptr_t)id, &rf);
	cpci_unlock(cpc, &mask);
	return r == 0 ? 0
	              : cpci_fail(cpc, "cpc_bind_cpu", (int)-r, rf.cf_subcode,
			    rf.cf_why);
}

int
cpc_bind_pctx(cpc_t *cpc, pctx_t *pctx, id_t id, cpc_set_t *set, uint_t flags)
{
	struct cpc_refusal rf;
	intptr_t r = -EINVAL;
	uint64_t target;
	sigset_t mask;

	if (cpc == NULL || pctx == NULL || flags != 0)
		return set_errno(-EINVAL);
	target = CPC_TARGET(pctx->px_pid, id);
	rf.cf_subcode = -1;
	cpci_lock(cpc, &mask);
	r = bind_pack(cpc, set, CPC_OP_BIND_PCTX, target, &rf);
	if (r == 0) {
		note_target(cpc, set, target);
		__atomic_store_n(
		    &cpc->c_target, pctx->px_pid, __ATOMIC_RELAXED);
	}
	cpci_unlock(cpc, &mask);
	return r == 0 ? 0
	              : cpci_fail(cpc, "cpc_bind_pctx", (int)-r, rf.cf_subcode,
			    rf.cf_why);
}

int
cpci_sample_target(struct cpci_buf *cb)
{
	const struct cpci_set *cs = cpci_set(cb->cb_cpc, cb->cb_set_name);
	uint64_t target = cs != NULL ? target_of(cs) : 0;

	/* After pctx_release() the set has no LWP to sample. */
	if (target == 0 || !pctx_controls((pid_t)(target >> 32)))
		return set_errno(-EINVAL);
	return set_errno(cpc_syscall(CPC_OP_SAMPLE_PCTX, cb->cb_set,
	    (uintptr_t)cb->cb_sample, (uintptr_t)cb->cb_n, target));
}

int
cpci_pctx_invalidate(pctx_t *pctx, id_t id)
{
	return set_errno(cpc_syscall(
	    CPC_OP_INVALIDATE_PCTX, 0, 0, 0, CPC_TARGET(pctx->px_pid, id)));
}

void
cpc_terminate(cpc_t *cpc)
{
	pid_t pid =
	    cpc != NULL ? __atomic_load_n(&cpc->c_target, __ATOMIC_RELAXED) : 0;
	int err = errno;

	if (pid != 0)
		pctx_control(BARECPC_CONTROL_CANCEL, pid, 0, NULL);
	errno = err;
}

/*
 * Unbind a set from an LWP of another process, unless it was bound here since.
 * False: it has no target.
 */
static bool
unbind_target(cpc_t *cpc, cpc_set_t *set)
{
	struct cpci_set *cs = cpci_set(cpc, set);
	uint64_t target = cs != NULL ? target_of(cs) : 0;

	if (target == 0)
		return false;
	note_target(cpc, set, 0);
	/* If this fails, the LWP is gone, or bound to another set. */
	if (cpc_syscall(CPC_OP_RELE, cpci_id(set), 0, 0, 0) != 0)
		cpc_syscall(CPC_OP_RELE_PCTX, cpci_id(set), 0, 0, target);
	return true;
}

int
cpc_unbind(cpc_t *cpc, cpc_set_t *set)
{
	sigset_t mask;
	intptr_t r;

	if (!cpci_is_set(cpc, set))
		return set_errno(-EINVAL);
	if (has_targets(cpc) && unbind_target(cpc, set))
		return 0;
	r = cpc_syscall(CPC_OP_RELE, cpci_id(set), 0, 0, 0);
	if (r == -EINVAL) {
		/* cpc_bind_cpu() of another LWP may be about to bind it. */
		cpci_lock(cpc, &mask);
		r = cpc_syscall(CPC_OP_RELE, cpci_id(set), 0, 0, 0);
		cpci_unlock(cpc, &mask);
	}
	return set_errno(r);
}

int
cpc_request_info(cpc_t *cpc, cpc_set_t *set, int index, cpc_reqinfo_t *info)
{
	struct cpc_where w;
	intptr_t r;

	if (!cpci_is_set(cpc, set) || info == NULL)
		return set_errno(-EINVAL);
	/* A negative index becomes a large number, which no request has. */
	r = cpc_syscall(
	    CPC_OP_WHERE, cpci_id(set), (uintptr_t)index, (uintptr_t)&w, 0);
	if (r == 0) {
		info->ri_picnum = w.cw_pic;
		info->ri_width = w.cw_width;
		info->ri_code = w.cw_code;
		info->ri_index = w.cw_index;
	}
	return set_errno(r);
}

int
cpc_request_preset(cpc_t *cpc, int index, uint64_t preset)
{
	if (cpc == NULL)
		return set_errno(-EINVAL);
	return set_errno(
	    cpc_syscall(CPC_OP_PRESET, (uintptr_t)index, preset, 0, 0));
}

int
cpc_set_restart(cpc_t *cpc, cpc_set_t *set)
{
	if (cpc == NULL || (set != NULL && !cpci_is_set(cpc, set)))
		return set_errno(-EINVAL);
	return set_errno(cpc_syscall(CPC_OP_RESTART, cpci_id(set), 0, 0, 0));
}

int
cpc_enable(cpc_t *cpc)
{
	return set_errno(
	    cpc != NULL ? cpc_syscall(CPC_OP_ENABLE, 0, 0, 0, 0) : -EINVAL);
}

int
cpc_disable(cpc_t *cpc)
{
	return set_errno(
	    cpc != NULL ? cpc_syscall(CPC_OP_DISABLE, 0, 0, 0, 0) : -EINVAL);
}
