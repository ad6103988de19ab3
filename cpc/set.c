/*
 * Sets: create, destroy, add a request, change its preset, walk over requests.
 */
#include "cpc/cpci.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PACK_ROOM 256

/* Returns a destroyed set to use again, or a new one. */
static struct cpci_set *
set_new(cpc_t *cpc)
{
	struct cpci_set *cs = cpc->c_old_sets;

	if (cs != NULL) {
		cpc->c_old_sets = cs->cis_next;
		return cs;
	}
	if ((cs = calloc(1, sizeof *cs)) == NULL)
		return NULL;
	if ((cs->cis_pack = calloc(1, PACK_ROOM)) == NULL) {
		free(cs);
		return NULL;
	}
	cs->cis_pack->cip_room =
	    PACK_ROOM - offsetof(struct cpci_pack, cip_pack);
	return cs;
}

static void
set_keep(cpc_t *cpc, struct cpci_set *cs)
{
	cs->cis_next = cpc->c_old_sets;
	cpc->c_old_sets = cs;
}

cpc_set_t *
cpc_set_create(cpc_t *cpc)
{
	struct cpci_set *cs;
	cpc_set_t *set = NULL;
	sigset_t mask;

	if (cpc == NULL)
		return cpci_null();
	cpci_lock(cpc, &mask);
	if ((cs = set_new(cpc)) == NULL)
		goto unlock;
	if ((set = cpci_table_add(&cpc->c_sets, cs)) == NULL) {
		set_keep(cpc, cs);
		goto unlock;
	}
	cs->cis_id = cpci_id(set);
	__atomic_store_n(&cs->cis_nreqs, 0, __ATOMIC_RELAXED);
	cs->cis_newest = NULL;
	__atomic_store_n(&cs->cis_target, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&cs->cis_bound_once, false, __ATOMIC_RELAXED);
	cs->cis_pack->cip_pack.cp_nreqs = 0;
	cs->cis_pack->cip_pack.cp_type = 0;
	cs->cis_pack->cip_pack.cp_nattrs = 0;

unlock:
	cpci_unlock(cpc, &mask);
	return set;
}

void
cpci_pack_close(struct cpci_set *cs)
{
	__atomic_store_n(&cs->cis_pack->cip_pack.cp_set, 0, __ATOMIC_SEQ_CST);
}

void
cpci_pack_open(struct cpci_set *cs)
{
	__atomic_store_n(
	    &cs->cis_pack->cip_pack.cp_set, cs->cis_id, __ATOMIC_RELEASE);
}

void
cpci_set_end(cpc_t *cpc, struct cpci_set *cs)
{
	cpci_pack_close(cs);
	if (__atomic_load_n(&cs->cis_bound_once, __ATOMIC_SEQ_CST))
		cpc_syscall(CPC_OP_REVOKE, cs->cis_id, 0, 0, 0);
	cpci_req_release(cs->cis_newest);
	set_keep(cpc, cs);
}

void
cpci_sets_free(cpc_t *cpc)
{
	struct cpci_set *cs;
	struct cpci_pack *pk;

	while ((cs = cpc->c_old_sets) != NULL) {
		cpc->c_old_sets = cs->cis_next;
		free(cs->cis_pack);
		free(cs);
	}
	while ((pk = cpc->c_old_packs) != NULL) {
		cpc->c_old_packs = pk->cip_next;
		free(pk);
	}
}

int
cpc_set_destroy(cpc_t *cpc, cpc_set_t *set)
{
	struct cpci_set *cs = NULL;
	sigset_t mask;

	if (cpc != NULL) {
		cpci_lock(cpc, &mask);
		if ((cs = cpci_table_remove(&cpc->c_sets, set)) != NULL)
			cpci_set_end(cpc, cs);
		cpci_unlock(cpc, &mask);
	}
	return cs != NULL ? 0 : cpci_invalid();
}

/* Returns true if the set is bound on any LWP. */
static bool
set_live(const struct cpci_set *cs)
{
	return __atomic_load_n(&cs->cis_bound_once, __ATOMIC_SEQ_CST) &&
	       cpc_syscall(CPC_OP_LIVE, cs->cis_id, 0, 0, 0) != 0;
}

int
cpc_set_add_request(cpc_t *cpc, cpc_set_t *set, const char *event,
    uint64_t preset, uint_t flags, uint_t nattrs, const cpc_attr_t *attrs)
{
	int err = EINVAL, subcode = -1, index = 0;
	char why[CPC_MAX_EVENT_LEN] = "";
	struct cpci_set *cs;
	sigset_t mask;

	if (cpc == NULL)
		return cpci_invalid();
	cpci_lock(cpc, &mask);
	if ((cs = cpci_set(cpc, set)) != NULL) {
		index = cs->cis_nreqs;
		cpci_pack_close(cs);
		if (!set_live(cs))
			err = cpci_req_add(cpc, cs, event, preset, flags,
			    nattrs, attrs, &subcode);
		cpci_pack_open(cs);
	}
	cpci_unlock(cpc, &mask);
	if (err == 0)
		return index;
	if (subcode == CPC_INVALID_EVENT)
		cpci_event_why(cpc, event, why, sizeof why);
	else if (subcode == CPC_CONFLICTING_REQS)
		strcpy(why,
		    "a set counts on one core type: put requests of another "
		    "one in a set of their own");
	return cpci_fail(cpc, "cpc_set_add_request", err, subcode, why);
}

int
cpc_set_request_preset(cpc_t *cpc, cpc_set_t *set, int index, uint64_t preset)
{
	struct cpci_req *r = NULL;
	struct cpci_set *cs;
	sigset_t mask;

	if (cpc != NULL) {
		cpci_lock(cpc, &mask);
		if ((cs = cpci_set(cpc, set)) != NULL)
			r = cs->cis_newest;
		while (r != NULL && r->cir_index != index)
			r = r->cir_older;
		if (r != NULL) {
			__atomic_store_n(
			    &r->cir_preset, preset, __ATOMIC_RELAXED);
			__atomic_store_n(
			    &cs->cis_pack->cip_pack.cp_req[index].cr_preset,
			    preset, __ATOMIC_RELAXED);
		}
		cpci_unlock(cpc, &mask);
	}
	return r != NULL ? 0 : cpci_invalid();
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
			newest = cpci_req_hold(cs->cis_newest);
		cpci_unlock(cpc, &mask);
	}
	if (cs == NULL) {
		cpci_invalid();
		return;
	}
	for (r = newest; r != NULL; r = r->cir_older)
		action(arg, r->cir_index, r->cir_event,
		    __atomic_load_n(&r->cir_preset, __ATOMIC_RELAXED),
		    r->cir_flags, (int)r->cir_nattrs, r->cir_attrs);
	cpci_req_release(newest);
}
