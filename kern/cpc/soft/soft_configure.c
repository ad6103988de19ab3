/*
 * Requests for the software PMU.  The shape gives the PICs of a CPU and the
 * events that they count.  A request becomes pc_sel.
 */
#include "kern/arch.h"
#include "kern/cpc/soft/soft_impl.h"
#include "kern/sched/cpu.h"

static const unsigned weights[SOFT_NALL] = {
	[SOFT_INSTRUCTIONS] = 1 * QUARTERS,
	[SOFT_CYCLES] = 3 * QUARTERS,
	[SOFT_BRANCHES] = 1,
	[SOFT_EC_REF] = 2,
	[SOFT_EC_HIT] = 1,
};

/*
 * umask=N adds N events to each instruction.  cmask=N counts 1 for an
 * instruction with at least N events.  anythr needs privilege and does nothing.
 */
#define ATTRS                                                                  \
	(1U << CPC_ATTR_UMASK | 1U << CPC_ATTR_CMASK | 1U << CPC_ATTR_ANYTHR)
/* The attributes of each model. */
static const uint32_t model_attrs[] = {
	[SOFT_PLAIN] = ATTRS,
	[SOFT_P4] = 1U << CPC_ATTR_EMASK | 1U << CPC_ATTR_SIBLING_USR |
	            1U << CPC_ATTR_SIBLING_SYS,
	[SOFT_ULTRA] = 0,
};

struct soft_shape soft_shape;

uint64_t
soft_pic_mask(void)
{
	return ~0ULL >> (64 - soft_shape.ns_width);
}

uint32_t
soft_first_pics(unsigned n)
{
	return (uint32_t)((1ULL << n) - 1);
}

bool
soft_has_types(void)
{
	return soft_shape.ns_pics2 != 0 && ncpu > 1;
}

unsigned
soft_this_type(void)
{
	if (!soft_has_types())
		return 0;
	return arch_curcpu()->c_id < (ncpu + 1) / 2 ? 1 : 2;
}

unsigned
soft_npics(unsigned type)
{
	unsigned n = soft_shape.ns_pics, n2 = soft_shape.ns_pics2;

	if (!soft_has_types())
		return n;
	return type == 1 ? n : type == 2 ? n2 : n < n2 ? n : n2;
}

uint32_t
soft_general_pics(unsigned type)
{
	return soft_first_pics(soft_npics(type) - soft_shape.ns_fixed);
}

static uint32_t
event_mask(unsigned event, unsigned type)
{
	uint32_t pics = type != 2 ? soft_shape.ns_event[event] : ~0U;

	if (type == 2 || (type == 0 && soft_has_types()))
		pics &= soft_shape.ns_event2[event];
	return pics;
}

uint32_t
soft_event_pics(unsigned event, unsigned type)
{
	const struct soft_model_event *fv;

	if (soft_shape.ns_model != SOFT_PLAIN) {
		fv = soft_model_event(soft_shape.ns_model, event);
		return fv->fv_pics[0] | fv->fv_pics[1];
	}
	if (event >= SOFT_NEVENT)
		return 0;
	uint32_t pics = event_mask(event, type) & soft_general_pics(type);
	if (event < soft_shape.ns_fixed)
		pics |=
		    1U << (soft_shape.ns_pics - soft_shape.ns_fixed + event);
	return pics;
}

/* Set *sel to the quarters of an event per instruction; 0 or a subcode. */
static int
event_weight(const struct cpc_event *ev, unsigned nattrs,
    const struct cpc_packattr *attrs, bool privileged, uint64_t *sel)
{
	uint64_t umask = 0, cmask = 0;
	unsigned weight;

	for (unsigned i = 0; i < nattrs; i++) {
		if (attrs[i].cpa_id == CPC_ATTR_UMASK)
			umask = attrs[i].cpa_value;
		else if (attrs[i].cpa_id == CPC_ATTR_CMASK)
			cmask = attrs[i].cpa_value;
		else if (!privileged)
			return CPC_ATTR_REQUIRES_PRIVILEGE;
	}
	if (umask > SOFT_FIELD_MAX || cmask > SOFT_FIELD_MAX)
		return CPC_ATTRIBUTE_OUT_OF_RANGE;
	weight = ev->ce_code < SOFT_CODE(0)
	             ? (unsigned)ev->ce_code * QUARTERS
	             : weights[ev->ce_code - SOFT_CODE(0)];
	weight += (unsigned)umask * QUARTERS;
	if (cmask != 0)
		weight = weight >= cmask * QUARTERS ? QUARTERS : 0;
	*sel = SEL(weight, 0, 0);
	return 0;
}

/*
 * The same for an event of a model.  A preset of PAPI counts without a mask.
 * Some events need an ESCR, which no other request of the set may have.
 */
static int
configure_model(struct pcbe_cfg *cfg, const struct cpc_event *ev,
    unsigned nattrs, const struct cpc_packattr *attrs,
    const struct pcbe_set *set, struct cpc_refusal *rf)
{
	unsigned event = (unsigned)ev->ce_code - SOFT_CODE(0), sibling = 0;
	const struct soft_model_event *fv =
	    soft_model_event(soft_shape.ns_model, event);
	unsigned escr = fv->fv_escr[(fv->fv_pics[0] >> cfg->pc_pic & 1) == 0];
	bool counts =
	    fv->fv_counted == 0 || (ev->ce_flags & CPC_EVENT_GENERIC) != 0;

	for (unsigned i = 0; i < nattrs; i++) {
		if (attrs[i].cpa_id == CPC_ATTR_EMASK) {
			if ((attrs[i].cpa_value & ~(uint64_t)fv->fv_emask) != 0)
				return CPC_ATTRIBUTE_OUT_OF_RANGE;
			counts = (attrs[i].cpa_value & fv->fv_counted) != 0;
			continue;
		}
		if (!set->ps_privileged)
			return CPC_ATTR_REQUIRES_PRIVILEGE;
		if (attrs[i].cpa_value != 0)
			sibling |= attrs[i].cpa_id == CPC_ATTR_SIBLING_USR
			               ? CPC_COUNT_USER
			               : CPC_COUNT_SYSTEM;
	}
	for (unsigned i = 0; i < set->ps_n && escr != 0; i++) {
		if (SEL_ESCR(set->ps_cfg[i].pc_sel) == escr)
			return pcbe_refuse(rf, CPC_RESOURCE_UNAVAIL,
			    "request %u has the ESCR by which PIC %u "
			    "counts this event",
			    i, cfg->pc_pic);
	}
	cfg->pc_sel = SEL(counts ? weights[event] : 0, escr, sibling);
	return 0;
}

/* Can the PIC count this event?  ev comes from a program, unchecked. */
static int
check_event(const struct cpc_event *ev, unsigned pic, unsigned type)
{
	bool general = (soft_general_pics(type) & 1U << pic) != 0;

	if (ev->ce_code < SOFT_CODE(0))
		return soft_shape.ns_raw && general ? 0 : CPC_INVALID_EVENT;
	if (ev->ce_code >= SOFT_CODE(SOFT_NALL) ||
	    (soft_event_pics((unsigned)ev->ce_code - SOFT_CODE(0), type) &
		1U << pic) == 0)
		return CPC_INVALID_EVENT;
	return 0;
}

static bool
filters_conflict(const struct pcbe_cfg *cfg, const struct pcbe_set *set)
{
	const unsigned filter = CPC_COUNT_USER | CPC_COUNT_SYSTEM;

	return soft_shape.ns_shared == SOFT_SHARED_FILTER && set->ps_n > 0 &&
	       ((cfg->pc_flags ^ set->ps_cfg[0].pc_flags) & filter) != 0;
}

/* Fixed PICs take no attributes. */
uint64_t
soft_attr_pics(uint64_t pics, unsigned, const struct cpc_packattr *)
{
	return soft_shape.ns_fixed == 0 ? pics : pics & soft_general_pics(0);
}

int
soft_configure(struct pcbe_cfg *cfg, const struct cpc_event *ev,
    unsigned nattrs, const struct cpc_packattr *attrs, struct pcbe_set *set,
    struct cpc_refusal *rf)
{
	uint32_t spare = set->ps_spare & ~set->ps_helpers;
	int subcode;

	if ((subcode = check_event(ev, cfg->pc_pic, set->ps_type)) != 0)
		return subcode;
	if (nattrs != 0 &&
	    (soft_general_pics(set->ps_type) & 1U << cfg->pc_pic) == 0)
		return CPC_INVALID_ATTRIBUTE;
	if (soft_shape.ns_model != SOFT_PLAIN)
		subcode = configure_model(cfg, ev, nattrs, attrs, set, rf);
	else
		subcode = event_weight(
		    ev, nattrs, attrs, set->ps_privileged, &cfg->pc_sel);
	if (subcode != 0)
		return subcode;
	if ((cfg->pc_flags & CPC_COUNT_HV) != 0 && !soft_shape.ns_hv)
		return CPC_HV_NO_ACCESS;
	if (filters_conflict(cfg, set))
		return pcbe_refuse(rf, CPC_CONFLICTING_REQS,
		    "all PICs count at the privileges of request 0");
	cfg->pc_aux = 0;
	if (soft_shape.ns_helpers && cfg->pc_notify) {
		if (spare == 0)
			return pcbe_refuse(rf, CPC_RESOURCE_UNAVAIL,
			    "overflow notification needs a second PIC as "
			    "helper; "
			    "none is free");
		cfg->pc_aux = spare & -spare;
		set->ps_helpers |= (uint32_t)cfg->pc_aux;
	}
	cfg->pc_mask = soft_pic_mask();
	return 0;
}

uint32_t
soft_attrs(void)
{
	return model_attrs[soft_shape.ns_model];
}
