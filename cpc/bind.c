/*
 * What acts on the calling LWP's context.  The kernel knows which set that
 * holds; the library only names one.
 */
#include "cpc/cpci.h"

#include <errno.h>

/* A result of the door, as the public functions give it. */
static int
result(intptr_t r)
{
	if (r < 0) {
		errno = (int)-r;
		return -1;
	}
	return 0;
}

int
cpc_bind_curlwp(cpc_t *cpc, cpc_set_t *set, uint_t flags)
{
	struct cpci_set *cs;
	int subcode = -1;
	intptr_t r = -EINVAL;
	sigset_t mask;

	if (cpc == NULL)
		return result(-EINVAL);
	cpci_lock(cpc, &mask);
	if ((flags & ~CPC_BIND_LWP_INHERIT) == 0 &&
	    (cs = cpci_set(cpc, set)) != NULL && cs->cs_nreqs > 0) {
		cs->cs_bound_once = true;
		cpci_page_find();
		r = cpc_syscall(CPC_OP_BIND, (uintptr_t)cs->cs_pack,
		    cs->cs_pack_bytes, flags, (uintptr_t)&subcode);
	}
	cpci_unlock(cpc, &mask);
	return r == 0 ? 0 : cpci_fail(cpc, "cpc_bind_curlwp", (int)-r, subcode);
}

int
cpc_bind_cpu(cpc_t *cpc, processorid_t id, cpc_set_t *set, uint_t flags)
{
	struct cpci_set *cs;
	int subcode = -1;
	intptr_t r = -EINVAL;
	sigset_t mask;

	if (cpc == NULL)
		return result(-EINVAL);
	cpci_lock(cpc, &mask);
	if (flags == 0 && (cs = cpci_set(cpc, set)) != NULL &&
	    cs->cs_nreqs > 0) {
		cs->cs_bound_once = true;
		/* A negative id is one no processor has, as it is. */
		r = cpc_syscall(CPC_OP_BIND_CPU, (uintptr_t)cs->cs_pack,
		    cs->cs_pack_bytes, (uintptr_t)id, (uintptr_t)&subcode);
	}
	cpci_unlock(cpc, &mask);
	return r == 0 ? 0 : cpci_fail(cpc, "cpc_bind_cpu", (int)-r, subcode);
}

int
cpc_unbind(cpc_t *cpc, cpc_set_t *set)
{
	struct cpci_set *cs;
	intptr_t r = -EINVAL;
	sigset_t mask;

	if (cpc == NULL)
		return result(-EINVAL);
	/* The lock waits for a bind of the set on another LWP. */
	cpci_lock(cpc, &mask);
	if ((cs = cpci_set(cpc, set)) != NULL)
		r = cpc_syscall(CPC_OP_RELE, cs->cs_id, 0, 0, 0);
	cpci_unlock(cpc, &mask);
	return result(r);
}

int
cpc_request_info(cpc_t *cpc, cpc_set_t *set, int index, cpc_reqinfo_t *info)
{
	struct cpc_where w;
	intptr_t r;

	if (!cpci_is_set(cpc, set) || index < 0 || info == NULL)
		return result(-EINVAL);
	r = cpc_syscall(
	    CPC_OP_WHERE, cpci_id(set), (uintptr_t)index, (uintptr_t)&w, 0);
	if (r == 0) {
		info->ri_picnum = w.cw_pic;
		info->ri_width = w.cw_width;
		info->ri_code = w.cw_code;
		info->ri_index = w.cw_index;
	}
	return result(r);
}

int
cpc_request_preset(cpc_t *cpc, int index, uint64_t preset)
{
	if (cpc == NULL || index < 0)
		return result(-EINVAL);
	return result(
	    cpc_syscall(CPC_OP_PRESET, (uintptr_t)index, preset, 0, 0));
}

int
cpc_set_restart(cpc_t *cpc, cpc_set_t *set)
{
	if (cpc == NULL || (set != NULL && !cpci_is_set(cpc, set)))
		return result(-EINVAL);
	return result(cpc_syscall(CPC_OP_RESTART, cpci_id(set), 0, 0, 0));
}

int
cpc_enable(cpc_t *cpc)
{
	return result(
	    cpc != NULL ? cpc_syscall(CPC_OP_ENABLE, 0, 0, 0, 0) : -EINVAL);
}

int
cpc_disable(cpc_t *cpc)
{
	return result(
	    cpc != NULL ? cpc_syscall(CPC_OP_DISABLE, 0, 0, 0, 0) : -EINVAL);
}
