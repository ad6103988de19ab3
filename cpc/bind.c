/*
 * Calls on the calling LWP's context: bind, unbind, restart, enable, disable.
 * The kernel keeps the context; the library passes the identity of a set.
 */
#include "cpc/cpci.h"

#include <errno.h>
#include <stdio.h>

#include "cpc/pctx/pctx.h"

/* Turn a result of cpc_syscall() into a return value and errno. */
static int
set_errno(intptr_t r)
{
	if (r < 0)
		errno = (int)-r;
	return r < 0 ? -1 : 0;
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
	if (target != 0)
		__atomic_store_n(
		    &cpc->c_target, (pid_t)(target >> 32), __ATOMIC_RELAXED);
}

/*
 * Pass the set's pack to the kernel.  Returns -ESTALE if another thread is
 * changing the set or has destroyed it.
 */
static intptr_t
bind_pack(cpc_t *cpc, cpc_set_t *set, uintptr_t target, struct cpc_refusal *rf)
{
	struct cpci_set *cs = cpci_set(cpc, set);

	if (cs == NULL ||
	    __atomic_load_n(&cs->cis_nreqs, __ATOMIC_RELAXED) == 0)
		return -EINVAL;
	/*
	 * cpci_pack_close() and this store are SEQ_CST.  So either the kernel
	 * finds the pack closed, or the thread that closes it sees this.
	 */
	if (!__atomic_load_n(&cs->cis_bound_once, __ATOMIC_RELAXED))
		__atomic_store_n(&cs->cis_bound_once, true, __ATOMIC_SEQ_CST);
	struct cpci_pack *pk = __atomic_load_n(&cs->cis_pack, __ATOMIC_ACQUIRE);
	return cpc_syscall(CPC_OP_BIND, (uintptr_t)&pk->cip_pack, cpci_id(set),
	    target, (uintptr_t)rf);
}

static int
report_refusal(
    cpc_t *cpc, const char *fn, int err, const struct cpc_refusal *rf)
{
	char text[sizeof "request -2147483648: " + CPC_WHY_BYTES];
	const char *why = rf->cf_why;

	if (rf->cf_subcode != -1 && rf->cf_request != -1 && *why != '\0') {
		snprintf(
		    text, sizeof text, "request %d: %s", rf->cf_request, why);
		why = text;
	}
	return cpci_fail(cpc, fn, err, rf->cf_subcode, why);
}

/*
 * Bind a set, and report a failure as one of fn.
 *
 * Only a bind to the calling LWP takes no lock at first.  If it waits for a CPU
 * of a core type, the kernel looks again then whether the set is the same.  The
 * others may wait until a CPU runs the LWP, or note the target.  The lock keeps
 * the set from being destroyed in that time.
 */
static int
bind_set(cpc_t *cpc, const char *fn, cpc_set_t *set, uintptr_t target)
{
	struct cpc_refusal rf;
	intptr_t r = -ESTALE;
	sigset_t mask;

	rf.cf_subcode = -1;
	if (target >> 32 == 0) {
		cpci_page_find();
		r = bind_pack(cpc, set, target, &rf);
	}
	if (r == -ESTALE) {
		cpci_lock(cpc, &mask);
		r = bind_pack(cpc, set, target, &rf);
		if (r == 0 && CPC_TARGET_KIND(target) == CPC_TARGET_SELF &&
		    target >> 32 != 0)
			note_target(cpc, set, target);
		cpci_unlock(cpc, &mask);
	}
	return r == 0 ? 0 : report_refusal(cpc, fn, (int)-r, &rf);
}

int
cpc_bind_curlwp(cpc_t *cpc, cpc_set_t *set, uint_t flags)
{
	if (cpc == NULL || (flags & ~CPC_BIND_LWP_INHERIT) != 0)
		return cpci_invalid();
	return bind_set(cpc, "cpc_bind_curlwp", set, CPC_TARGET_SELF | flags);
}

/* A negative id becomes a large number, which no CPU has. */
int
cpc_bind_cpu(cpc_t *cpc, processorid_t id, cpc_set_t *set, uint_t flags)
{
	if (cpc == NULL || flags != 0)
		return cpci_invalid();
	return bind_set(cpc, "cpc_bind_cpu", set, CPC_TARGET_CPU(id));
}

int
cpc_bind_pctx(cpc_t *cpc, pctx_t *pctx, id_t id, cpc_set_t *set, uint_t flags)
{
	if (cpc == NULL || pctx == NULL || flags != 0)
		return cpci_invalid();
	return bind_set(
	    cpc, "cpc_bind_pctx", set, CPC_TARGET(pctx->px_pid, id));
}

int
cpci_sample_target(struct cpci_buf *cb)
{
	const struct cpci_set *cs = cpci_set(cb->cb_cpc, cb->cb_set_name);
	uint64_t target = cs != NULL ? target_of(cs) : 0;

	/* After pctx_release() the set has no LWP to sample. */
	if (target == 0 || !pctx_controls((pid_t)(target >> 32)))
		return cpci_invalid();
	return set_errno(cpc_syscall(CPC_OP_SAMPLE, cb->cb_set,
	    (uintptr_t)cb->cb_sample, (uintptr_t)cb->cb_n, target));
}

int
cpci_pctx_invalidate(pctx_t *pctx, id_t id)
{
	return set_errno(cpc_syscall(
	    CPC_OP_INVALIDATE, 0, 0, 0, CPC_TARGET(pctx->px_pid, id)));
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
		cpc_syscall(CPC_OP_RELE, cpci_id(set), 0, 0, target);
	return true;
}

int
cpc_unbind(cpc_t *cpc, cpc_set_t *set)
{
	sigset_t mask;

	if (!cpci_is_set(cpc, set))
		return cpci_invalid();
	/* Has a set of this handle been bound to another process? */
	if (__atomic_load_n(&cpc->c_target, __ATOMIC_RELAXED) != 0 &&
	    unbind_target(cpc, set))
		return 0;
	intptr_t r = cpc_syscall(CPC_OP_RELE, cpci_id(set), 0, 0, 0);
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

	if (!cpci_is_set(cpc, set) || info == NULL)
		return cpci_invalid();
	/* A negative index becomes a large number, which no request has. */
	intptr_t r = cpc_syscall(
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
		return cpci_invalid();
	return set_errno(
	    cpc_syscall(CPC_OP_PRESET, (uintptr_t)index, preset, 0, 0));
}

int
cpc_set_restart(cpc_t *cpc, cpc_set_t *set)
{
	if (cpc == NULL || (set != NULL && !cpci_is_set(cpc, set)))
		return cpci_invalid();
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
