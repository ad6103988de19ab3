/*
 * Encode a parsed name as register values.  Tests compare them with the
 * vendors' lists (vendor_answers.c) and with libpfm4 (spellings.c).
 *
 * Intel SDM vol. 3B, "Architectural Performance Monitoring Version 1" and
 * Version 3; AMD APM vol. 2 (24593), "Performance Event-Select Registers";
 * Arm ARM (DDI 0487), "PMEVTYPER<n>_EL0".
 */
#include "events/names/find.h"
#include "events/names/masks.h"
#include "events/select.h"

/*
 * Only PIC 2 has the bit.  On the others it raises #GP.
 * Intel SDM vol. 3B, "Performance Monitoring and Intel TSX".
 */
#define INTXCP_PICS (1U << 2)

#define CMASK_MAX 0xffU
#define LDLAT_MAX 0xffffU
#define LDLAT_MIN 3 /* if none is given */

/* The bits of each modifier in the event select. */
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

/* Is the latency valid?  0 is, if no unit mask takes a latency. */
static bool
is_latency(const struct work *w)
{
	uint32_t v = w->wo_sp->spc_value[MOD_LDLAT];

	return !is_given(w, MOD_LDLAT) ||
	       (v <= LDLAT_MAX &&
		   (v > 0 || (w->wo_masks.ma_flags & UM_LDLAT) == 0));
}

/* Set the given modifiers; without a level set both, user and system. */
static uint64_t
apply_mods(const struct work *w, uint64_t sel)
{
	const struct event_spec *sp = w->wo_sp;
	unsigned m;

	for (uint32_t left = sp->spc_given; left != 0; left &= left - 1) {
		m = (unsigned)__builtin_ctz(left);
		sel = (sel & ~mod_bits[m]) |
		      (mod_bits[m] & -mod_bits[m]) * sp->spc_value[m];
	}
	if ((sp->spc_given & (1U << MOD_K | 1U << MOD_U | 1U << MOD_H)) == 0)
		sel |= SEL_OS | SEL_USR;
	return sel;
}

/* Differs a given modifier from the one that a unit mask sets? */
static bool
contradicts_mask(const struct work *w, uint64_t sel)
{
	uint64_t own = w->wo_masks.ma_code << 8;
	uint32_t left = w->wo_masks.ma_fixed & w->wo_sp->spc_given;

	for (; left != 0; left &= left - 1) {
		if (((own ^ sel) & mod_bits[__builtin_ctz(left)]) != 0)
			return true;
	}
	return false;
}

/* The extra MSR of the unit mask, and its value. */
static enum event_error
encode_extra(struct work *w, struct event_code *ec)
{
	uint32_t latency = w->wo_sp->spc_value[MOD_LDLAT];
	bool takes = (w->wo_masks.ma_flags & UM_LDLAT) != 0;

	if ((w->wo_masks.ma_flags & UM_EXTRA) != 0) {
		ec->ec_extra = (enum event_extra)(
		    (w->wo_masks.ma_flags & UM_EXTRA) >> UM_EXTRA_SHIFT);
		/* Two unit masks combine to what no table has. */
		if (ec->ec_extra >= EXTRA_N ||
		    w->wo_masks.ma_extra >=
			w->wo_es->es_db->ed_bytes[SECTION_PICS] /
			    sizeof(event_pics_t))
			return EVENT_BAD_MIX;
		ec->ec_extra_value =
		    events_pics(w->wo_es, w->wo_masks.ma_extra);
		return EVENT_OK;
	}
	/* Names in full have `ldlat=0` if the event has no latency. */
	if (latency != 0 && !takes)
		return EVENT_BAD_PART;
	if (takes) {
		ec->ec_extra = EXTRA_LDLAT;
		ec->ec_extra_value = latency != 0 ? latency : LDLAT_MIN;
		w->wo_sp->spc_value[MOD_LDLAT] = (uint32_t)ec->ec_extra_value;
	}
	return EVENT_OK;
}

static enum event_error
check_mods(const struct work *w, uint64_t sel)
{
	if (!is_latency(w))
		return EVENT_BAD_VALUE;
	return contradicts_mask(w, sel) ? EVENT_TWO_VALUES : EVENT_OK;
}

static enum event_error
encode_intel(struct work *w, struct event_code *ec)
{
	const struct event_row *row = w->wo_row;
	uint64_t sel = apply_mods(w, row->er_code);
	enum event_error err;

	if (w->wo_sp->spc_given != 0 && (err = check_mods(w, sel)) != EVENT_OK)
		return err;
	if ((err = event_masks_complete(w)) != EVENT_OK)
		return err;
	if ((err = encode_extra(w, ec)) != EVENT_OK)
		return err;
	if (w->wo_masks.ma_event != -1)
		sel = (sel & ~SEL_EVENT) | (uint64_t)w->wo_masks.ma_event;
	sel |= w->wo_masks.ma_code << 8;
	if ((w->wo_es->es_pmu->ep_flags & PMU_EDGE_CMASK) != 0 &&
	    is_given(w, MOD_E) && (w->wo_masks.ma_fixed >> MOD_E & 1) == 0 &&
	    (sel & mod_bits[MOD_E]) != 0 && (sel & mod_bits[MOD_C]) == 0)
		return EVENT_BAD_PART;
	if ((sel & SEL_INTXCP) != 0)
		w->wo_masks.ma_pics &= INTXCP_PICS;
	ec->ec_select = sel | SEL_EN | SEL_INT;
	return EVENT_OK;
}

static enum event_error
encode_amd(struct work *w, struct event_code *ec)
{
	uint64_t code = w->wo_row->er_code, event;
	enum event_error err;

	if ((err = event_masks_complete(w)) != EVENT_OK)
		return err;
	event = (code & SEL_EVENT) | (code >> 8 & 0xf) << 32 |
	        (code >> 8 & SEL_UMASK);
	ec->ec_select = apply_mods(w, event) |
	                (w->wo_masks.ma_code << 8 & SEL_UMASK) | SEL_EN |
	                SEL_INT;
	return EVENT_OK;
}

/* The filters of PMEVTYPER<n>_EL0 exclude a level; EL2's includes it. */
static enum event_error
encode_arm(struct work *w, struct event_code *ec)
{
	const struct event_spec *sp = w->wo_sp;
	uint32_t levels = sp->spc_given;

	ec->ec_select = w->wo_row->er_code;
	w->wo_masks.ma_pics = events_pics(w->wo_es, w->wo_row->er_pics);
	if (w->wo_row->er_mods == 0)
		return EVENT_OK;
	ec->ec_select &= ~(ARM_EXCL_USR | ARM_EXCL_SYS | ARM_EXCL_NOHYP);
	if (sp->spc_value[MOD_U] == 0 && levels != 0)
		ec->ec_select |= ARM_EXCL_USR;
	if (sp->spc_value[MOD_K] == 0 && levels != 0)
		ec->ec_select |= ARM_EXCL_SYS;
	if (sp->spc_value[MOD_HV] == 0)
		ec->ec_select |= ARM_EXCL_NOHYP;
	return EVENT_OK;
}

enum event_error
events_encode(
    const struct events *es, struct event_spec *sp, struct event_code *ec)
{
	enum event_error err;
	struct work w;

	w.wo_es = es;
	w.wo_sp = sp;
	w.wo_row = sp->spc_row;
	*ec = (struct event_code){ .ec_given = sp->spc_given };
	if (sp->spc_value[MOD_C] > CMASK_MAX)
		return EVENT_BAD_VALUE;
	if ((err = event_masks_take(&w)) != EVENT_OK)
		return err;
	switch (es->es_pmu->ep_kind) {
	case EVENT_INTEL:
		err = encode_intel(&w, ec);
		break;
	case EVENT_AMD:
		err = encode_amd(&w, ec);
		break;
	case EVENT_NETBURST:
		err = event_encode_netburst(&w, ec);
		break;
	default:
		err = encode_arm(&w, ec);
		break;
	}
	ec->ec_pics = w.wo_masks.ma_pics;
	return err;
}

/* The event select of a unit mask that is alone. */
static uint64_t
select_of(const struct event_row *row, const struct event_umask *um)
{
	uint64_t code = (uint64_t)um->um_high << 32 | um->um_code;
	uint64_t sel = row->er_code;

	if ((um->um_flags & UM_EVENT) != 0)
		sel = (sel & ~SEL_EVENT) | (code & SEL_EVENT);
	return sel | (code & ~SEL_EVENT);
}

/* The PICs of a code's names, and of those that differ in modifiers alone. */
struct raw_pics {
	uint64_t rpi_select;
	event_pics_t rpi_same, rpi_alike;
};

/* Is it the same code? */
static bool
add_name(struct raw_pics *rp, uint64_t select, event_pics_t pics)
{
	uint64_t differ = (select ^ rp->rpi_select) & ~SEL_CONTROL;

	if (differ == 0)
		rp->rpi_same |= pics;
	if ((differ & (SEL_EVENT | SEL_UMASK | SEL_UMASK2)) == 0)
		rp->rpi_alike |= pics;
	return differ == 0;
}

void
events_raw_pics(const struct events *es, struct event_code *ec)
{
	struct raw_pics rp = { .rpi_select = ec->ec_select };
	const struct event_pmu *ep = es->es_pmu;
	const struct event_row *row, *end;
	const struct event_umask *um;

	if (ep == NULL || ep->ep_kind != EVENT_INTEL)
		return;
	end = event_row_at(es, ep->ep_nrow);
	/*
	 * Each raw name comes here.  So only rows with the event are walked,
	 * and a long list, whose unit masks have the same PICs, up to the code.
	 */
	for (row = event_row_at(es, 0); row < end; row++) {
		if ((row->er_models & ep->ep_model) == 0 ||
		    row->er_alias != 0 ||
		    (((row->er_code ^ ec->ec_select) & SEL_EVENT) != 0 &&
			(row->er_flags & ER_EVENTS) == 0))
			continue;
		if (row->er_nlist == 0)
			add_name(
			    &rp, row->er_code, events_pics(es, row->er_pics));
		for (unsigned n = 0; n < row->er_nlist; n++) {
			um = events_umask(es, row, n);
			if (um != NULL && um->um_alias == 0 &&
			    add_name(&rp, select_of(row, um),
				events_pics(es, um->um_pics != 0
						    ? um->um_pics
						    : row->er_pics)) &&
			    row->er_nlist > EVENT_SAME_PICS)
				break;
		}
	}
	if (rp.rpi_alike != 0)
		ec->ec_pics = rp.rpi_same != 0 ? rp.rpi_same : rp.rpi_alike;
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
		[EVENT_NEEDS_UMASK] = "needs a unit mask: 'list' prints them",
		[EVENT_NO_PRESET] = "no single event is exactly that",
	};

	return text[err];
}
