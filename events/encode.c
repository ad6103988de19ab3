/*
 * From a name taken apart to registers, by libpfm4's rules of which unit
 * masks go together; tests/host/events_oracle.c holds the two against each
 * other.
 *
 * Intel SDM vol. 3B, "Architectural Performance Monitoring Version 1" and
 * Version 3; AMD APM vol. 2 (24593), "Performance Event-Select Registers";
 * Arm ARM (DDI 0487), "PMEVTYPER<n>_EL0".
 */
#include "events/events.h"

#define SEL_EVENT      0xffULL
#define SEL_UMASK      0xff00ULL
#define SEL_USR        (1ULL << 16)
#define SEL_OS         (1ULL << 17)
#define SEL_EDGE       (1ULL << 18)
#define SEL_INT        (1ULL << 20)
#define SEL_ANY        (1ULL << 21)
#define SEL_EN         (1ULL << 22)
#define SEL_INV        (1ULL << 23)
#define SEL_CMASK(v)   ((uint64_t)(v) << 24)
#define SEL_INTX       (1ULL << 32)
#define SEL_INTXCP     (1ULL << 33)
#define AMD_EVENT_HI   0xfULL << 32 /* bits 11:8 of the event */
#define AMD_GUEST      (1ULL << 40)
#define AMD_HOST       (1ULL << 41)
#define ARM_EXCL_USR   (1ULL << 31)
#define ARM_EXCL_SYS   (1ULL << 30)
#define ARM_EXCL_NOHYP (1ULL << 27)

#define CMASK_MAX   0xffU
#define LDLAT_MAX   0xffffU
#define LDLAT_MIN   3 /* where none is given */
#define FETHR_MAX   0xfffU
#define FETHR_MIN   1
#define FETHR_AT    8 /* in the front-end register */
#define NO_GROUP    0xffU
#define RAW_OFFCORE 38 /* bits */

/* The bits of the event select that a modifier has. */
static const uint64_t mod_bits[MOD_N] = {
	[MOD_K] = SEL_OS,
	[MOD_U] = SEL_USR,
	[MOD_E] = SEL_EDGE,
	[MOD_I] = SEL_INV,
	[MOD_C] = SEL_CMASK(CMASK_MAX),
	[MOD_T] = SEL_ANY,
	[MOD_INTX] = SEL_INTX,
	[MOD_INTXCP] = SEL_INTXCP,
	[MOD_H] = AMD_HOST,
	[MOD_G] = AMD_GUEST,
};

/* What the unit masks of a name have in common. */
struct masks {
	uint64_t ma_code; /* as it stands in a register from its bit 8 on */
	uint32_t ma_flags;
	uint32_t ma_fixed, ma_wants; /* modifiers */
	uint32_t ma_groups;          /* that have one, */
	uint32_t ma_twice;           /* and more than one */
	uint32_t ma_alone;           /* and one that stands alone */
	uint32_t ma_needs;           /* that must have one */
	unsigned ma_highest;         /* of the groups */
	unsigned ma_last;            /* no group behind this, or NONE */
	unsigned ma_other;           /* but 0 no group but this, or NONE */
	int ma_event;                /* that one of them brings, or -1 */
	event_pics_t ma_pics;
};
#define NONE 0xffU

/* The work on one name. */
struct work {
	const struct events *wo_es;
	struct event_spec *wo_sp;
	const struct event_row *wo_row;
	struct masks wo_masks;
};

static bool
given(const struct work *w, unsigned mod)
{
	return (w->wo_sp->sp_given >> mod & 1) != 0;
}

static const struct event_umask *
mask_of(const struct work *w, unsigned place)
{
	return events_umask(w->wo_es, w->wo_row, place);
}

static unsigned
group_of(const struct event_umask *um)
{
	return um->um_group & 0xf;
}

/* The unit mask's bits and PICs; its own PICs go before the event's. */
static void
join(struct work *w, const struct event_umask *um)
{
	struct masks *ma = &w->wo_masks;
	event_pics_t pics = events_pics(w->wo_es, um->um_pics);

	ma->ma_flags |= um->um_flags;
	ma->ma_code |= ((uint64_t)um->um_high << 32 | um->um_code) >> 8;
	ma->ma_pics &=
	    pics != 0 ? pics : events_pics(w->wo_es, w->wo_row->er_pics);
	if (group_of(um) > ma->ma_highest)
		ma->ma_highest = group_of(um);
}

/* The groups' rules about a unit mask that was named. */
static enum event_error
take(struct work *w, const struct event_umask *um)
{
	struct masks *ma = &w->wo_masks;
	unsigned group = group_of(um);
	int event = (int)(um->um_code & SEL_EVENT);

	if ((w->wo_row->er_flags & ER_ONE_GROUP) != 0 &&
	    (ma->ma_groups & ~(1U << group)) != 0)
		return EVENT_BAD_MIX;
	ma->ma_twice |= ma->ma_groups & 1U << group;
	ma->ma_groups |= 1U << group;
	if ((um->um_flags & UM_ALONE) != 0)
		ma->ma_alone |= 1U << group;
	if ((um->um_flags & UM_EVENT) != 0) {
		if (ma->ma_event != -1 && ma->ma_event != event)
			return EVENT_BAD_MIX;
		ma->ma_event = event;
	}
	if ((um->um_flags & UM_LAST_GROUP) != 0)
		ma->ma_last = group;
	if ((um->um_flags & UM_FIRST_GROUP) != 0)
		ma->ma_other = group;
	if ((um->um_flags & UM_NEEDS) != 0)
		ma->ma_needs |= 1U << (um->um_group >> 4);
	ma->ma_fixed |= um->um_fixed;
	ma->ma_wants |= um->um_wants;
	join(w, um);
	return EVENT_OK;
}

static enum event_error
take_raw(struct work *w)
{
	unsigned bits = 8;

	if ((w->wo_row->er_flags & (ER_EXTRA | ER_FRONTEND)) == ER_EXTRA)
		bits = (w->wo_es->es_pmu->ep_flags & PMU_OFFCORE16) != 0
		           ? 16
		           : RAW_OFFCORE;
	if (w->wo_sp->sp_rawmask >> bits != 0)
		return EVENT_BAD_PART;
	w->wo_masks.ma_code = w->wo_sp->sp_rawmask;
	w->wo_masks.ma_groups = (1U << w->wo_row->er_ngroup) - 1;
	w->wo_masks.ma_pics = events_pics(w->wo_es, w->wo_row->er_pics);
	return EVENT_OK;
}

static enum event_error
take_all(struct work *w)
{
	struct masks *ma = &w->wo_masks;
	enum event_error err;

	ma->ma_last = ma->ma_other = NONE;
	ma->ma_event = -1;
	ma->ma_pics = ~0ULL;
	if (w->wo_sp->sp_raw)
		return take_raw(w);
	for (unsigned i = 0; i < w->wo_sp->sp_numask; i++) {
		err = take(w, mask_of(w, w->wo_sp->sp_umask[i]));
		if (err != EVENT_OK)
			return err;
	}
	if ((ma->ma_twice & ma->ma_alone) != 0 ||
	    (ma->ma_needs & ~ma->ma_groups) != 0)
		return EVENT_BAD_MIX;
	return EVENT_OK;
}

static enum event_error
add_umask(struct work *w, unsigned place)
{
	struct event_spec *sp = w->wo_sp;
	unsigned i;

	if (sp->sp_numask == EVENT_MAXUMASK)
		return EVENT_BAD_MIX;
	for (i = sp->sp_numask++; i > 0 && sp->sp_umask[i - 1] > place; i--)
		sp->sp_umask[i] = sp->sp_umask[i - 1];
	sp->sp_umask[i] = (uint8_t)place;
	join(w, mask_of(w, place));
	return EVENT_OK;
}

/* Filling groups that have no unit mask. */
struct filling {
	unsigned fi_last; /* no group behind this, or NONE */
	bool fi_done;     /* nor any other */
};

/* Is nothing owed to the group of this unit mask? */
static bool
may_lack(const struct work *w, const struct filling *fi,
    const struct event_umask *um)
{
	const struct masks *ma = &w->wo_masks;
	unsigned group = group_of(um);

	return (fi->fi_last != NONE && group > fi->fi_last) ||
	       (um->um_flags & UM_OPTIONAL) != 0 ||
	       (ma->ma_other != NONE && group != 0 && group != ma->ma_other);
}

/* The defaults of one group. */
static enum event_error
add_defaults(struct work *w, unsigned group, struct filling *fi)
{
	const struct event_umask *um;
	bool added = false, lacks = false, owed = false;
	enum event_error err;

	for (unsigned i = 0; i < w->wo_row->er_nlist; i++) {
		if ((um = mask_of(w, i)) == NULL || group_of(um) != group)
			continue;
		if (may_lack(w, fi, um)) {
			lacks = true;
			continue;
		}
		owed = true;
		if ((um->um_flags & UM_DEFAULT) == 0)
			continue;
		if ((err = add_umask(w, i)) != EVENT_OK)
			return err;
		added = true;
		fi->fi_done = (w->wo_row->er_flags & ER_ONE_GROUP) != 0;
		if (fi->fi_done)
			return EVENT_OK;
		if ((um->um_flags & UM_LAST_GROUP) != 0) {
			if (fi->fi_last != NONE)
				return EVENT_NEEDS_UMASK;
			fi->fi_last = group;
		}
	}
	/* AMD: all of the group must be optional; Intel: one of it. */
	if (w->wo_es->es_pmu->ep_kind == EVENT_AMD)
		lacks = !owed;
	return added || lacks ? EVENT_OK : EVENT_NEEDS_UMASK;
}

static enum event_error
complete(struct work *w)
{
	struct masks *ma = &w->wo_masks;
	uint32_t missing = ((1U << w->wo_row->er_ngroup) - 1) ^ ma->ma_groups;
	struct filling fi = { ma->ma_last, false };
	enum event_error err;

	if ((w->wo_row->er_flags & ER_ONE_GROUP) != 0 && ma->ma_groups != 0)
		missing = 0;
	for (unsigned g = 0; g < EVENT_MAXGROUP && !fi.fi_done; g++) {
		if ((missing >> g & 1) != 0 &&
		    (err = add_defaults(w, g, &fi)) != EVENT_OK)
			return err;
	}
	if (ma->ma_other != NONE &&
	    (ma->ma_groups & ~(1U | 1U << ma->ma_other)) != 0)
		return EVENT_BAD_MIX;
	if (ma->ma_last != NONE && ma->ma_highest > ma->ma_last)
		return EVENT_BAD_MIX;
	if (ma->ma_pics == ~0ULL)
		ma->ma_pics = events_pics(w->wo_es, w->wo_row->er_pics);
	return EVENT_OK;
}

/* 0 only where no unit mask takes the threshold, as it means none then. */
static bool
within(const struct work *w, unsigned mod, uint32_t taker, uint32_t max)
{
	uint32_t v = w->wo_sp->sp_value[mod];

	return !given(w, mod) ||
	       (v <= max && (v > 0 || (w->wo_masks.ma_flags & taker) == 0));
}

/* Put what was given, and user and system level where no level was. */
static uint64_t
apply_mods(const struct work *w, uint64_t sel)
{
	const struct event_spec *sp = w->wo_sp;
	unsigned m;

	for (uint32_t left = sp->sp_given; left != 0; left &= left - 1) {
		m = (unsigned)__builtin_ctz(left);
		sel = (sel & ~mod_bits[m]) |
		      (mod_bits[m] & -mod_bits[m]) * sp->sp_value[m];
	}
	if ((sp->sp_given & (1U << MOD_K | 1U << MOD_U | 1U << MOD_H)) == 0)
		sel |= SEL_OS | SEL_USR;
	return sel;
}

/* A modifier that the unit mask has by itself may be given only alike. */
static bool
contradicts(const struct work *w, uint64_t sel)
{
	uint64_t own = w->wo_masks.ma_code << 8;
	uint32_t left = w->wo_masks.ma_fixed & w->wo_sp->sp_given;

	for (; left != 0; left &= left - 1) {
		if (((own ^ sel) & mod_bits[__builtin_ctz(left)]) != 0)
			return true;
	}
	return false;
}

/* The front-end register's threshold: the mask's own, or the one given. */
static enum event_error
frontend(struct work *w, uint64_t *value)
{
	uint32_t own = *value >> FETHR_AT & FETHR_MAX;
	uint32_t threshold = w->wo_sp->sp_value[MOD_FETHR];

	if ((w->wo_masks.ma_flags & UM_FETHR) == 0)
		return EVENT_OK;
	if (own != 0) {
		if ((w->wo_masks.ma_fixed >> MOD_FETHR & 1) != 0 &&
		    given(w, MOD_FETHR) && threshold != own)
			return EVENT_TWO_VALUES;
		threshold = own;
	} else if (threshold == 0) {
		threshold = FETHR_MIN;
	}
	*value &= ~((uint64_t)FETHR_MAX << FETHR_AT);
	*value |= (uint64_t)threshold << FETHR_AT;
	return EVENT_OK;
}

/* Events B7H, BBH, 2AH and 2BH; B7H is both, by its unit mask. */
static enum event_extra
offcore_of(uint32_t code)
{
	unsigned event = code & SEL_EVENT;

	return event == 0xbb || event == 0x2b ||
	               (event == 0xb7 && (code & SEL_UMASK) == 0x200)
	           ? EXTRA_OFFCORE1
	           : EXTRA_OFFCORE0;
}

/* What goes to a second register leaves the first. */
static enum event_error
extra(struct work *w, struct event_code *ec)
{
	uint32_t latency = w->wo_sp->sp_value[MOD_LDLAT];
	bool takes = (w->wo_masks.ma_flags & UM_LDLAT) != 0;
	enum event_error err = EVENT_OK;

	if ((w->wo_row->er_flags & ER_EXTRA) != 0) {
		ec->ec_extra = offcore_of(w->wo_row->er_code);
		ec->ec_extra_value = w->wo_masks.ma_code;
		w->wo_masks.ma_code = 0;
	}
	if ((w->wo_row->er_flags & ER_FRONTEND) != 0) {
		ec->ec_extra = EXTRA_FRONTEND;
		err = frontend(w, &ec->ec_extra_value);
	}
	/* Canonical names say 0 where there is none. */
	if (latency != 0 && !takes)
		return EVENT_BAD_PART;
	if (takes) {
		ec->ec_extra = EXTRA_LDLAT;
		ec->ec_extra_value = latency != 0 ? latency : LDLAT_MIN;
		w->wo_sp->sp_value[MOD_LDLAT] = (uint32_t)ec->ec_extra_value;
	}
	return err;
}

static enum event_error
encode_intel(struct work *w, struct event_code *ec)
{
	const struct event_row *row = w->wo_row;
	uint64_t sel = apply_mods(w, row->er_code);
	uint32_t wants = row->er_wants | w->wo_masks.ma_wants;
	enum event_error err;

	if (!within(w, MOD_LDLAT, UM_LDLAT, LDLAT_MAX) ||
	    !within(w, MOD_FETHR, UM_FETHR, FETHR_MAX))
		return EVENT_BAD_VALUE;
	if (contradicts(w, sel))
		return EVENT_TWO_VALUES;
	if ((err = complete(w)) != EVENT_OK)
		return err;
	if ((wants & ~w->wo_sp->sp_given) != 0)
		return EVENT_BAD_PART;
	if ((err = extra(w, ec)) != EVENT_OK)
		return err;
	if (w->wo_masks.ma_event != -1)
		sel = (sel & ~SEL_EVENT) | (uint64_t)w->wo_masks.ma_event;
	sel |= (row->er_code & SEL_UMASK) | w->wo_masks.ma_code << 8;
	if ((w->wo_es->es_pmu->ep_flags & PMU_EDGE_CMASK) != 0 &&
	    (sel & mod_bits[MOD_E]) != 0 && (sel & mod_bits[MOD_C]) == 0)
		return EVENT_BAD_PART;
	ec->ec_select = sel | SEL_EN | SEL_INT;
	return EVENT_OK;
}

static enum event_error
encode_amd(struct work *w, struct event_code *ec)
{
	uint64_t event = w->wo_row->er_code;
	enum event_error err;

	if ((err = complete(w)) != EVENT_OK)
		return err;
	ec->ec_select = apply_mods(w, (event & SEL_EVENT) | event >> 8 << 32) |
	                (w->wo_masks.ma_code << 8 & SEL_UMASK) | SEL_EN |
	                SEL_INT;
	return EVENT_OK;
}

/* PMEVTYPER<n>_EL0's filters exclude, but for that of EL2. */
static enum event_error
encode_arm(struct work *w, struct event_code *ec)
{
	const struct event_spec *sp = w->wo_sp;
	uint32_t levels = sp->sp_given;

	ec->ec_select = w->wo_row->er_code;
	w->wo_masks.ma_pics = events_pics(w->wo_es, w->wo_row->er_pics);
	if (w->wo_row->er_mods == 0)
		return EVENT_OK;
	ec->ec_select &= ~(ARM_EXCL_USR | ARM_EXCL_SYS | ARM_EXCL_NOHYP);
	if (sp->sp_value[MOD_U] == 0 && levels != 0)
		ec->ec_select |= ARM_EXCL_USR;
	if (sp->sp_value[MOD_K] == 0 && levels != 0)
		ec->ec_select |= ARM_EXCL_SYS;
	if (sp->sp_value[MOD_HV] == 0)
		ec->ec_select |= ARM_EXCL_NOHYP;
	return EVENT_OK;
}

enum event_error
events_encode(
    const struct events *es, struct event_spec *sp, struct event_code *ec)
{
	struct work w = { .wo_es = es, .wo_sp = sp, .wo_row = sp->sp_row };
	enum event_error err;

	*ec = (struct event_code){ .ec_given = sp->sp_given };
	if (!within(&w, MOD_C, 0, CMASK_MAX))
		return EVENT_BAD_VALUE;
	if ((err = take_all(&w)) != EVENT_OK)
		return err;
	switch (es->es_pmu->ep_kind) {
	case EVENT_INTEL:
		err = encode_intel(&w, ec);
		break;
	case EVENT_AMD:
		err = encode_amd(&w, ec);
		break;
	default:
		err = encode_arm(&w, ec);
		break;
	}
	ec->ec_pics = w.wo_masks.ma_pics;
	return err;
}

const char *
event_strerror(enum event_error err)
{
	static const char *const text[] = {
		[EVENT_OK] = "no error",
		[EVENT_UNKNOWN] = "no such event",
		[EVENT_BAD_PART] = "no such unit mask or modifier",
		[EVENT_BAD_VALUE] = "not a value of that modifier",
		[EVENT_TWO_VALUES] = "a modifier has two values",
		[EVENT_BAD_MIX] = "unit masks that do not go together",
		[EVENT_NEEDS_UMASK] = "needs a unit mask",
	};

	return text[err];
}
