/*
 * Sets, and the requests in them.
 */
#include "cpc/cpci.h"

#include <errno.h>
#include <stdlib.h>

cpc_set_t *
cpc_set_create(cpc_t *cpc)
{
	struct cpci_set *cs;
	cpc_set_t *set = NULL;
	sigset_t mask;

	if (cpc == NULL) {
		errno = EINVAL;
		return NULL;
	}
	cpci_lock(cpc, &mask);
	if ((cs = calloc(1, sizeof *cs)) == NULL)
		goto unlock;
	cs->cs_pack_room = 256;
	cs->cs_pack_bytes = sizeof(struct cpc_pack);
	if ((cs->cs_pack = calloc(1, cs->cs_pack_room)) == NULL)
		goto free_set;
	if ((set = cpci_table_add(&cpc->c_sets, cs)) == NULL)
		goto free_pack;
	cs->cs_id = cpci_id(set);
	((struct cpc_pack *)cs->cs_pack)->cp_set = cs->cs_id;
	goto unlock;

free_pack:
	free(cs->cs_pack);
free_set:
	free(cs);
unlock:
	cpci_unlock(cpc, &mask);
	return set;
}

void
cpci_set_free(struct cpci_set *cs)
{
	cpci_changed();
	if (cs->cs_bound_once)
		cpc_syscall(CPC_OP_REVOKE, cs->cs_id, 0, 0, 0);
	cpci_req_release(cs->cs_newest);
	free(cs->cs_pack);
	free(cs);
}

int
cpc_set_destroy(cpc_t *cpc, cpc_set_t *set)
{
	struct cpci_set *cs = NULL;
	sigset_t mask;

	if (cpc != NULL) {
		cpci_lock(cpc, &mask);
		if ((cs = cpci_table_remove(&cpc->c_sets, set)) != NULL)
			cpci_set_free(cs);
		cpci_unlock(cpc, &mask);
	}
	if (cs == NULL) {
		errno = EINVAL;
		return -1;
	}
	return 0;
}

/* Is it bound on any LWP? */
static bool
set_live(const struct cpci_set *cs)
{
	return cs->cs_bound_once &&
	       cpc_syscall(CPC_OP_LIVE, cs->cs_id, 0, 0, 0) != 0;
}

int
cpc_set_add_request(cpc_t *cpc, cpc_set_t *set, const char *event,
    uint64_t preset, uint_t flags, uint_t nattrs, const cpc_attr_t *attrs)
{
	int err = EINVAL, subcode = -1, index = 0;
	struct cpci_set *cs;
	sigset_t mask;

	if (cpc == NULL) {
		errno = EINVAL;
		return -1;
	}
	cpci_lock(cpc, &mask);
	if ((cs = cpci_set(cpc, set)) != NULL && !set_live(cs)) {
		index = cs->cs_nreqs;
		err = cpci_req_add(
		    cpc, cs, event, preset, flags, nattrs, attrs, &subcode);
	}
	cpci_unlock(cpc, &mask);
	return err == 0 ? index
	                : cpci_fail(cpc, "cpc_set_add_request", err, subcode);
}

static struct cpci_req *
req_find(struct cpci_set *cs, int index)
{
	struct cpci_req *r = cs->cs_newest;

	while (r != NULL && r->cr_index != index)
		r = r->cr_older;
	return r;
}

int
cpc_set_request_preset(cpc_t *cpc, cpc_set_t *set, int index, uint64_t preset)
{
	struct cpci_req *r = NULL;
	struct cpci_set *cs;
	sigset_t mask;

	if (cpc != NULL) {
		cpci_lock(cpc, &mask);
		if ((cs = cpci_set(cpc, set)) != NULL &&
		    (r = req_find(cs, index)) != NULL) {
			__atomic_store_n(
			    &r->cr_preset, preset, __ATOMIC_RELAXED);
			((struct cpc_packreq *)(cs->cs_pack + r->cr_at))
			    ->cr_preset = preset;
		}
		cpci_unlock(cpc, &mask);
	}
	if (r == NULL) {
		errno = EINVAL;
		return -1;
	}
	return 0;
}

void
cpc_walk_requests(cpc_t *cpc, cpc_set_t *set, void *arg,
    void (*action)(void *arg, int index, const char *event, uint64_t preset,
	uint_t flags, int nattrs, const cpc_attr_t *attrs))
{
	struct cpci_req *newest = NULL, *r;
	struct cpci_set *cs = NULL;
	sigset_t mask;

	if (cpc != NULL && action != NULL) {
		cpci_lock(cpc, &mask);
		if ((cs = cpci_set(cpc, set)) != NULL)
			newest = cpci_req_hold(cs->cs_newest);
		cpci_unlock(cpc, &mask);
	}
	if (cs == NULL) {
		errno = EINVAL;
		return;
	}
	for (r = newest; r != NULL; r = r->cr_older)
		action(arg, r->cr_index, r->cr_event,
		    __atomic_load_n(&r->cr_preset, __ATOMIC_RELAXED),
		    r->cr_flags, (int)r->cr_nattrs, r->cr_attrs);
	cpci_req_release(newest);
}
