/* Version 1: the event of an LWP of another process, which libpctx controls. */
#include "cpc/v1/v1.h"

#include <errno.h>

#include "cpc/cpci.h"
#include "cpc/pctx/pctx.h"

/* The identity of the event's set, of which each target LWP has its own. */
#define TARGET_SET(target) (1ULL << 63 | (target))

int
cpc_pctx_bind_event(pctx_t *pctx, id_t id, cpc_event_t *event, int flags)
{
	struct v1_pack pack;
	struct cpc_refusal rf;
	int err;

	if (pctx == NULL || flags != 0)
		return cpci_v1_result(-EINVAL);
	if (event == NULL)
		return cpc_pctx_rele(pctx, id);
	if ((err = cpci_v1_pack(event, 0, &pack)) != 0)
		return cpci_v1_result(-err);
	uint64_t target = CPC_TARGET(pctx->px_pid, id);
	pack.vk_head.cp_set = TARGET_SET(target);
	return cpci_v1_result(cpc_syscall(CPC_OP_BIND, (uintptr_t)&pack,
	    TARGET_SET(target), target, (uintptr_t)&rf));
}

int
cpc_pctx_take_sample(pctx_t *pctx, id_t id, cpc_event_t *event)
{
	int flags;

	if (pctx == NULL)
		return cpci_v1_result(-EINVAL);
	uint64_t target = CPC_TARGET(pctx->px_pid, id);
	return cpci_v1_sample(TARGET_SET(target), target, event, &flags);
}

int
cpc_pctx_rele(pctx_t *pctx, id_t id)
{
	if (pctx == NULL)
		return cpci_v1_result(-EINVAL);
	uint64_t target = CPC_TARGET(pctx->px_pid, id);
	intptr_t r = cpc_syscall(CPC_OP_RELE, TARGET_SET(target), 0, 0, target);
	return r == -EINVAL ? 0 : cpci_v1_result(r);
}

int
cpc_pctx_invalidate(pctx_t *pctx, id_t id)
{
	if (pctx == NULL)
		return cpci_v1_result(-EINVAL);
	return cpci_pctx_invalidate(pctx, id);
}
