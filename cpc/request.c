/* Adds a request to a set: checks it, copies it, packs it for the kernel. */
#include "cpc/cpci.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The request that the caller wants to add. */
struct wanted {
	const char *w_event;
	struct cpc_event w_ev;
	uint64_t w_preset;
	uint_t w_flags;
	int w_picnum;   /* -1: any */
	uint_t w_nattr; /* attributes with different names */
	cpc_attr_t w_attr[CPC_MAX_ATTRS];
	int w_id[CPC_MAX_ATTRS]; /* enum cpc_attr_id, or ID_* */
};

#define ID_PICNUM    (-1)
#define ID_UNKNOWN   (-2)
#define ID_CORE_TYPE (-3)

static bool
is_core_type(const cpc_t *cpc, const char *name)
{
	return cpc->c_ntypes != 0 && name != NULL &&
	       strcmp(name, "core_type") == 0;
}

/* `pm` is the PMU that the request counts on. */
static int
attr_id(const cpc_t *cpc, const struct cpc_pmu *pm, const char *name)
{
	if (name == NULL)
		return ID_UNKNOWN;
	if (strcmp(name, "picnum") == 0)
		return ID_PICNUM;
	if (is_core_type(cpc, name))
		return ID_CORE_TYPE;
	for (unsigned i = 0; i < CPC_ATTR_IDS; i++) {
		if ((pm->pm_attrs >> i & 1) != 0 &&
		    strcmp(name, machine_attr((enum cpc_attr_id)i)) == 0)
			return (int)i;
	}
	return ID_UNKNOWN;
}

static int
refuse(int *subcode, int why)
{
	*subcode = why;
	return EINVAL;
}

/* Add an attribute.  It replaces an earlier one of the same name. */
static void
attr_put(struct wanted *w, const cpc_attr_t *attr, int id)
{
	uint_t i;

	for (i = 0; i < w->w_nattr && w->w_id[i] != id; i++)
		;
	w->w_attr[i] = *attr;
	w->w_id[i] = id;
	if (i == w->w_nattr)
		w->w_nattr++;
}

static int
check_attrs(cpc_t *cpc, struct wanted *w, uint_t nattrs,
    const cpc_attr_t *attrs, int *subcode)
{
	const struct machine *mc =
	    cpci_machine_of(cpc, CPC_EVENT_TYPE(w->w_ev.ce_flags));
	int id;

	if (nattrs > CPC_MAX_ATTRS || (nattrs > 0 && attrs == NULL))
		return EINVAL;
	for (uint_t i = 0; i < nattrs; i++) {
		id = attr_id(cpc, &mc->mc_pmu, attrs[i].ca_name);
		if (id == ID_UNKNOWN)
			return refuse(subcode, CPC_INVALID_ATTRIBUTE);
		attr_put(w, &attrs[i], id);
		machine_set_attr(mc, id, attrs[i].ca_val, &w->w_ev);
	}
	return 0;
}

static int
check_picnum(cpc_t *cpc, struct wanted *w, int *subcode)
{
	const struct machine *mc =
	    cpci_machine_of(cpc, CPC_EVENT_TYPE(w->w_ev.ce_flags));
	uint_t i;

	for (i = 0; i < w->w_nattr && w->w_id[i] != ID_PICNUM; i++)
		;
	if (i == w->w_nattr)
		return 0;
	if (w->w_attr[i].ca_val >=
	    (cpc->c_ntypes != 0 ? mc->mc_pmu.pm_npic : cpc->c_npic))
		return refuse(subcode, CPC_INVALID_PICNUM);
	w->w_picnum = (int)w->w_attr[i].ca_val;
	if ((w->w_ev.ce_flags & CPC_EVENT_RAW) == 0 &&
	    (w->w_ev.ce_pics & 1ULL << w->w_picnum) == 0) {
		cpc_syscall(CPC_OP_UNRESOLVED, 0, 0, 0, 0);
		*subcode = CPC_PIC_NOT_CAPABLE;
		return EINVAL;
	}
	return 0;
}

/* Set *type to the value of the attribute core_type, counted from 1; or 0. */
static int
find_core_type(const cpc_t *cpc, uint_t nattrs, const cpc_attr_t *attrs,
    unsigned *type, int *subcode)
{
	*type = 0;
	for (uint_t i = 0; attrs != NULL && i < nattrs; i++) {
		if (!is_core_type(cpc, attrs[i].ca_name))
			continue;
		if (attrs[i].ca_val >= cpc->c_ntypes)
			return refuse(subcode, CPC_ATTRIBUTE_OUT_OF_RANGE);
		*type = (unsigned)attrs[i].ca_val + 1;
	}
	return 0;
}

/* Do attribute, name, handle and set ask for different core types? */
static bool
types_conflict(
    const cpc_t *cpc, const struct wanted *w, unsigned type, unsigned of_set)
{
	unsigned named = CPC_EVENT_TYPE(w->w_ev.ce_flags);
	unsigned handle = cpc->c_machine.mc_pmu.pm_type;

	return (type != 0 && handle != 0 && type != handle) ||
	       (named != 0 && of_set != 0 && named != of_set);
}

static int
check_request(cpc_t *cpc, struct wanted *w, unsigned of_set, uint_t nattrs,
    const cpc_attr_t *attrs, int *subcode)
{
	/* A handle of one core type resolves names for it. */
	bool one = cpc->c_machine.mc_pmu.pm_type != 0;
	bool typed = one || cpc->c_ntypes != 0;
	unsigned type = 0;
	int err;

	if (typed &&
	    (err = find_core_type(cpc, nattrs, attrs, &type, subcode)) != 0)
		return err;
	if (!cpci_event(cpc, one ? 0 : type, w->w_event, &w->w_ev))
		return refuse(subcode, CPC_INVALID_EVENT);
	if (typed && types_conflict(cpc, w, type, of_set))
		return refuse(subcode, CPC_CONFLICTING_REQS);
	if ((w->w_flags & ~CPC_REQ_ALL_FLAGS) != 0)
		return refuse(subcode, CPC_REQ_INVALID_FLAGS);
	if ((err = check_attrs(cpc, w, nattrs, attrs, subcode)) != 0)
		return err;
	return check_picnum(cpc, w, subcode);
}

/* Allocate one block with the request, its attributes and all names. */
static struct cpci_req *
req_copy(const struct wanted *w)
{
	size_t bytes = sizeof(struct cpci_req) +
	               w->w_nattr * sizeof(cpc_attr_t) + strlen(w->w_event) + 1;
	struct cpci_req *r;

	for (uint_t i = 0; i < w->w_nattr; i++)
		bytes += strlen(w->w_attr[i].ca_name) + 1;
	if ((r = calloc(1, bytes)) == NULL)
		return NULL;
	r->cir_refs = 1;
	r->cir_preset = w->w_preset;
	r->cir_flags = w->w_flags;
	r->cir_nattrs = w->w_nattr;
	char *text = (char *)((cpc_attr_t *)(r + 1) + w->w_nattr);
	if (w->w_nattr > 0)
		r->cir_attrs = (cpc_attr_t *)(r + 1);
	for (uint_t i = 0; i < w->w_nattr; i++) {
		r->cir_attrs[i].ca_name = text;
		r->cir_attrs[i].ca_val = w->w_attr[i].ca_val;
		text = stpcpy(text, w->w_attr[i].ca_name) + 1;
	}
	r->cir_event = strcpy(text, w->w_event);
	return r;
}

/*
 * Make room for more bytes in the set's pack.  An outgrown pack stays
 * allocated and closed, because a bind may be about to pass it to the kernel.
 */
static bool
pack_grow(cpc_t *cpc, struct cpci_set *cs, size_t bytes)
{
	struct cpci_pack *old = cs->cis_pack, *pk;
	size_t room = old->cip_room, used = CPC_PACK_BYTES(&old->cip_pack);

	if (old->cip_pack.cp_nreqs == UINT16_MAX)
		return false;
	while (room < used + bytes)
		room *= 2;
	if (room == old->cip_room)
		return true;
	pk = calloc(1, offsetof(struct cpci_pack, cip_pack) + room);
	if (pk == NULL)
		return false;
	memcpy(&pk->cip_pack, &old->cip_pack, used);
	pk->cip_room = room;
	__atomic_store_n(&cs->cis_pack, pk, __ATOMIC_RELEASE);
	old->cip_next = cpc->c_old_packs;
	cpc->c_old_packs = old;
	return true;
}

/* The pack is closed.  The attributes move up to make room for the request. */
static void
pack_add(struct cpc_pack *pack, const struct wanted *w)
{
	struct cpc_packreq *pr = &pack->cp_req[pack->cp_nreqs];
	struct cpc_packattr *pa = (struct cpc_packattr *)(pr + 1);

	memmove(pa, pr, pack->cp_nattrs * sizeof *pa);
	*pr = (struct cpc_packreq){
		.cr_event = w->w_ev,
		.cr_preset = w->w_preset,
		.cr_flags = w->w_flags,
		.cr_picnum = w->w_picnum,
		.cr_attr = pack->cp_nattrs,
	};
	for (uint_t i = 0; i < w->w_nattr; i++) {
		if (w->w_id[i] < 0)
			continue;
		pa[pack->cp_nattrs++] = (struct cpc_packattr){
			.cpa_id = (uint32_t)w->w_id[i],
			.cpa_value = w->w_attr[i].ca_val,
		};
	}
	pr->cr_nattrs = pack->cp_nattrs - pr->cr_attr;
	pack->cp_nreqs++;
	if (CPC_EVENT_TYPE(w->w_ev.ce_flags) != 0)
		pack->cp_type = (uint16_t)CPC_EVENT_TYPE(w->w_ev.ce_flags);
}

int
cpci_req_add(cpc_t *cpc, struct cpci_set *cs, const char *event,
    uint64_t preset, uint_t flags, uint_t nattrs, const cpc_attr_t *attrs,
    int *subcode)
{
	struct wanted w;
	struct cpci_req *r;

	w.w_event = event;
	w.w_preset = preset;
	w.w_flags = flags;
	w.w_picnum = -1;
	w.w_nattr = 0;
	int err = check_request(
	    cpc, &w, cs->cis_pack->cip_pack.cp_type, nattrs, attrs, subcode);
	if (err != 0)
		return err;
	if (!pack_grow(cpc, cs,
		sizeof(struct cpc_packreq) +
		    w.w_nattr * sizeof(struct cpc_packattr)) ||
	    (r = req_copy(&w)) == NULL)
		return ENOMEM;
	r->cir_index = cs->cis_nreqs;
	r->cir_older = cs->cis_newest;
	cs->cis_newest = r;
	pack_add(&cs->cis_pack->cip_pack, &w);
	__atomic_store_n(&cs->cis_nreqs, cs->cis_nreqs + 1, __ATOMIC_RELAXED);
	return 0;
}

struct cpci_req *
cpci_req_hold(struct cpci_req *r)
{
	if (r != NULL)
		__atomic_add_fetch(&r->cir_refs, 1, __ATOMIC_RELAXED);
	return r;
}

void
cpci_req_release(struct cpci_req *r)
{
	struct cpci_req *older;

	while (r != NULL &&
	       __atomic_sub_fetch(&r->cir_refs, 1, __ATOMIC_ACQ_REL) == 0) {
		older = r->cir_older;
		free(r);
		r = older;
	}
}
