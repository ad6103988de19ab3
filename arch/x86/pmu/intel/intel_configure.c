/*
 * Turn a request into the contents of its PIC's registers, or refuse it.
 *
 * Intel SDM vol. 3B, "Architectural Performance Monitoring".
 */
#include "arch/x86/pmu/intel/intel_impl.h"
#include "arch/x86/pmu/pmu.h"
#include "arch/x86/pmu/regs.h"
#include "arch/x86/topology.h"

/* Bits that a name may set, on a machine with every feature. */
#define NAMED_BITS                                                             \
	(INTEL_RAW_MAX | EVTSEL_UMASK_MASK | EVTSEL_EDGE | EVTSEL_ANY |        \
	    EVTSEL_INV | EVTSEL_CMASK_MASK | EVTSEL_IN_TX | EVTSEL_IN_TXCP |   \
	    EVTSEL_EQ | EVTSEL_UMASK2)

/* Fixed PICs take only the attribute anythr. */
uint64_t
intel_attr_pics(
    uint64_t pics, unsigned nattrs, const struct cpc_packattr *attrs)
{
	uint64_t general = 0;
	unsigned i = 0;

	while (i < nattrs && attrs[i].cpa_id == CPC_ATTR_ANYTHR)
		i++;
	if (i == nattrs)
		return pics;
	for (unsigned pic = 0; pic < x86_pics.xs_n; pic++)
		general |= (uint64_t)(intel_fixed_of(pic) < 0) << pic;
	return pics & general;
}

/* The attributes that requests of the set may have. */
static inline uint32_t
offered_attrs(const struct pcbe_set *set)
{
	return set->ps_type == 0
	           ? intel_pcbe_ops.pcbe_attrs
	           : intel_pcbe_ops.pcbe_types[set->ps_type - 1].py_attrs;
}

static int
configure_fixed(struct pcbe_cfg *cfg, unsigned n, uint64_t code,
    unsigned nattrs, const struct cpc_packattr *attrs,
    const struct pcbe_set *set)
{
	uint64_t any = 0, ctrl = FIXED_CTRL_PMI;

	if (!intel_fixed_counts(n, code))
		return CPC_INVALID_EVENT;
	for (unsigned i = 0; i < nattrs; i++) {
		if (attrs[i].cpa_id != CPC_ATTR_ANYTHR)
			return CPC_INVALID_ATTRIBUTE;
	}
	int subcode = evtsel_add_attrs(
	    &any, offered_attrs(set), nattrs, attrs, set->ps_privileged);
	if ((cfg->pc_flags & CPC_COUNT_USER) != 0)
		ctrl |= FIXED_CTRL_USR;
	if ((cfg->pc_flags & CPC_COUNT_SYSTEM) != 0)
		ctrl |= FIXED_CTRL_OS;
	if (any != 0)
		ctrl |= FIXED_CTRL_ANY;
	cfg->pc_sel = ctrl << FIXED_CTRL_SHIFT(n);
	return subcode;
}

/*
 * The extra MSR that an attribute sets for this event select.  EXTRA_NONE: the
 * event does not use the attribute's register.
 */
static enum event_extra
extra_of(uint32_t attr, uint64_t sel)
{
	if (attr == CPC_ATTR_MSR_OFFCORE)
		return events_offcore(sel);
	if (attr == CPC_ATTR_MSR_LDLAT)
		return events_has_ldlat(sel) ? EXTRA_LDLAT : EXTRA_NONE;
	return events_has_frontend(sel) ? EXTRA_FRONTEND : EXTRA_NONE;
}

/* The attributes' names, as in cpc_walk_attrs(3CPC). */
static const char *const extra_names[] = { "msr_offcore", "msr_ldlat",
	"msr_frontend" };

struct wanted {
	enum event_extra extra;
	uint64_t value;
	unsigned cpu; /* ps_cpu */
};

/* Has a bound set on this core another value in that extra MSR?  Unused: 0. */
static bool
disagrees(const struct pcbe_set *bound, const void *arg)
{
	const struct wanted *w = arg;
	uint64_t has = bound->ps_extra_msr[w->extra];

	if (w->cpu != 0 && bound->ps_cpu != 0 &&
	    !cpuset_has(x86_core_threads(w->cpu - 1), bound->ps_cpu - 1))
		return false;
	return has != 0 && has != w->value;
}

/*
 * The request needs this value in an extra MSR.  Refuse a value that the
 * register does not take now: program() can only report it.
 */
static int
take_extra(struct pcbe_cfg *cfg, struct pcbe_set *set, enum event_extra extra,
    uint64_t value, struct cpc_refusal *rf)
{
	const struct x86_extra *x = &x86_extras[extra];
	uint64_t takes = intel_shape_of(set->ps_type)->is_extras[extra];
	const struct wanted wanted = { extra, value, set->ps_cpu };

	if (takes == 0)
		return pcbe_refuse(rf, CPC_RESOURCE_UNAVAIL,
		    "this CPU lacks %s (%#x)", x->xe_name, x->xe_msr);
	for (unsigned i = 0; i < set->ps_n; i++) {
		if (set->ps_cfg[i].pc_extra == extra &&
		    set->ps_extra_msr[extra] != value)
			return pcbe_refuse(rf, CPC_CONFLICTING_REQS,
			    "%s (%#x) is to be %#llx, and %#llx for request %u",
			    x->xe_name, x->xe_msr, (unsigned long long)value,
			    (unsigned long long)set->ps_extra_msr[extra], i);
	}
	if (intel_extras_shared && pcbe_any_bound(disagrees, &wanted))
		return pcbe_refuse(rf, CPC_CONFLICTING_REQS,
		    "the threads of a core share %s (%#x), and another set "
		    "needs another value: unbind that, or boot one thread "
		    "(cpus=)",
		    x->xe_name, x->xe_msr);
	if ((value & ~takes) != 0)
		return pcbe_refuse(rf, CPC_ATTRIBUTE_OUT_OF_RANGE,
		    "%s (%#x) does not take %#llx", x->xe_name, x->xe_msr,
		    (unsigned long long)value);
	cfg->pc_extra = extra;
	set->ps_extra_msr[extra] = value;
	return 0;
}

/* Take the extra MSR of an event, which its name or an attribute sets. */
static int
note_extra(struct pcbe_cfg *cfg, const struct cpc_event *ev, unsigned nattrs,
    const struct cpc_packattr *attrs, struct pcbe_set *set,
    struct cpc_refusal *rf)
{
	enum event_extra extra = CPC_EVENT_EXTRA(ev->ce_flags);
	uint64_t value = ev->ce_extra;

	for (unsigned i = 0; i < nattrs; i++) {
		uint32_t attr = attrs[i].cpa_id;

		if (!evtsel_attr_is_extra(attr))
			continue;
		if ((extra = extra_of(attr, cfg->pc_sel)) == EXTRA_NONE)
			return pcbe_refuse(rf, CPC_INVALID_ATTRIBUTE,
			    "event %#x has no %s",
			    (unsigned)(cfg->pc_sel & INTEL_RAW_MAX),
			    extra_names[attr - CPC_ATTR_MSR_OFFCORE]);
		value = attrs[i].cpa_value;
	}
	return extra == EXTRA_NONE ? 0 : take_extra(cfg, set, extra, value, rf);
}

/* Can the library not have resolved a name or number to this code? */
static bool
is_impossible(const struct cpc_event *ev, unsigned pic)
{
	bool raw = (ev->ce_flags & CPC_EVENT_RAW) != 0;

	return (ev->ce_code & ~(raw ? (uint64_t)INTEL_RAW_MAX : NAMED_BITS)) !=
	           0 ||
	       (ev->ce_code & ~(uint64_t)(INTEL_NFIXED - 1)) ==
	           INTEL_FIXED_CODE(0) ||
	       ((ev->ce_code & EVTSEL_IN_TXCP) != 0 && pic != IN_TXCP_PIC) ||
	       CPC_EVENT_EXTRA(ev->ce_flags) >= EXTRA_N;
}

static bool
lacks_extra(const struct intel_shape *is, const struct cpc_event *ev)
{
	enum event_extra extra = CPC_EVENT_EXTRA(ev->ce_flags);

	return extra != EXTRA_NONE && is->is_extras[extra] == 0;
}

static int
configure_general(struct pcbe_cfg *cfg, const struct cpc_event *ev,
    unsigned nattrs, const struct cpc_packattr *attrs, struct pcbe_set *set,
    struct cpc_refusal *rf)
{
	const struct intel_shape *is = intel_shape_of(set->ps_type);

	if (is_impossible(ev, cfg->pc_pic)) {
		if ((ev->ce_flags & CPC_EVENT_RAW) == 0)
			return CPC_INVALID_EVENT;
		return pcbe_refuse(rf, CPC_INVALID_EVENT,
		    "an event's number is at most 0xff; with a "
		    "unit mask it is written r1c2");
	}
	if ((ev->ce_code & is->is_lacking) != 0)
		return pcbe_refuse(rf, CPC_RESOURCE_UNAVAIL,
		    "this CPU lacks bits %#llx of the event select",
		    (unsigned long long)(ev->ce_code & is->is_lacking));
	if ((ev->ce_code & EVTSEL_ANY) != 0 && !set->ps_privileged)
		return CPC_ATTR_REQUIRES_PRIVILEGE;
	cfg->pc_sel = ev->ce_code | evtsel_control(cfg->pc_flags);
	int subcode = evtsel_add_attrs(&cfg->pc_sel, offered_attrs(set), nattrs,
	    attrs, set->ps_privileged);
	if (subcode != 0)
		return subcode;
	/* A missing extra MSR is the better reason: note_extra() gives it. */
	if (!lacks_extra(is, ev) &&
	    (subcode = intel_general_check(is, cfg->pc_sel, rf)) != 0)
		return subcode;
	return note_extra(cfg, ev, nattrs, attrs, set, rf);
}

/*
 * Every request of a bind calls this.  It has no array on its stack, so it goes
 * without the stack protector, which would add 2 % to a bind.
 */
__attribute__((no_stack_protector)) int
intel_configure(struct pcbe_cfg *cfg, const struct cpc_event *ev,
    unsigned nattrs, const struct cpc_packattr *attrs, struct pcbe_set *set,
    struct cpc_refusal *rf)
{
	int fixed = intel_fixed_of(cfg->pc_pic);
	int subcode;

	if (fixed >= 0)
		subcode = configure_fixed(
		    cfg, (unsigned)fixed, ev->ce_code, nattrs, attrs, set);
	else
		subcode = configure_general(cfg, ev, nattrs, attrs, set, rf);
	if (subcode == 0)
		x86_pic_configure(cfg, set);
	return subcode;
}
