/*
 * Encode a name for NetBurst, which counts by two registers.  An ESCR selects
 * the event, and the counter's CCCR filters it.  No backend drives them: the
 * codes are for `encode` alone.
 * Intel SDM vol. 3B, "ESCR MSRs" and "CCCR MSRs" of processors based on
 * Intel NetBurst microarchitecture.  The values count both threads of a core.
 */
#include "events/names/masks.h"

#define ESCR_USR       (1U << 2 | 1U << 0)
#define ESCR_OS        (1U << 3 | 1U << 1)
#define ESCR_TAG       (1U << 4)
#define ESCR_TAG_AT    5
#define ESCR_MASK_AT   9
#define ESCR_MASK_BITS 16
#define ESCR_EVENT_AT  25

#define CCCR_ENABLE     (1U << 12)
#define CCCR_ESCR_AT    13
#define CCCR_ANY_THREAD (3U << 16)
#define CCCR_COMPARE    (1U << 18)
#define CCCR_COMPLEMENT (1U << 19)
#define CCCR_THR_AT     20
#define CCCR_THR_MAX    0xfU
#define CCCR_EDGE       (1U << 24)

/* The fields of a row's code. */
#define EVENT_SELECT(code) ((code)&0x3f)
#define ESCR_SELECT(code)  ((code) >> 8 & 7)

static uint64_t
escr_value(const struct work *w)
{
	const struct event_spec *sp = w->wo_sp;
	uint64_t masks = w->wo_masks.ma_code, tag = masks >> ESCR_MASK_BITS;
	uint64_t v = (uint64_t)EVENT_SELECT(w->wo_row->er_code)
	             << ESCR_EVENT_AT;

	v |= (masks & ((1U << ESCR_MASK_BITS) - 1)) << ESCR_MASK_AT;
	if (tag != 0)
		v |= tag << ESCR_TAG_AT | ESCR_TAG;
	if ((sp->spc_given & (1U << MOD_U | 1U << MOD_K)) == 0)
		return v | ESCR_USR | ESCR_OS;
	if (sp->spc_value[MOD_U] != 0)
		v |= ESCR_USR;
	if (sp->spc_value[MOD_K] != 0)
		v |= ESCR_OS;
	return v;
}

static uint64_t
cccr_value(const struct work *w)
{
	const uint32_t *value = w->wo_sp->spc_value;
	uint64_t v = CCCR_ENABLE | CCCR_ANY_THREAD |
	             ESCR_SELECT(w->wo_row->er_code) << CCCR_ESCR_AT;

	if (value[MOD_E] != 0)
		v |= CCCR_COMPARE | CCCR_EDGE;
	if (value[MOD_CMPL] != 0)
		v |= CCCR_COMPARE | CCCR_COMPLEMENT;
	if (value[MOD_THR] != 0)
		v |= CCCR_COMPARE | value[MOD_THR] << CCCR_THR_AT;
	return v;
}

enum event_error
event_encode_netburst(struct work *w, struct event_code *ec)
{
	enum event_error err = EVENT_OK;

	if (w->wo_sp->spc_value[MOD_THR] > CCCR_THR_MAX)
		return EVENT_BAD_VALUE;
	if (w->wo_masks.ma_groups == 0)
		err = event_masks_complete(w);
	ec->ec_select = escr_value(w);
	ec->ec_extra = EXTRA_CCCR;
	ec->ec_extra_value = cccr_value(w);
	return err;
}

uint64_t
event_netburst_mod(const struct event_code *ec, unsigned mod)
{
	switch (mod) {
	case MOD_K:
		return (ec->ec_select & ESCR_OS) != 0;
	case MOD_U:
		return (ec->ec_select & ESCR_USR) != 0;
	case MOD_E:
		return (ec->ec_extra_value & CCCR_EDGE) != 0;
	case MOD_CMPL:
		return (ec->ec_extra_value & CCCR_COMPLEMENT) != 0;
	default:
		return ec->ec_extra_value >> CCCR_THR_AT & CCCR_THR_MAX;
	}
}
