/*
 * The state of encoding one name.  masks.c has the rules of unit masks,
 * encode.c and encode_netburst.c have the registers.  Included within events/.
 */
#pragma once

#include "events/events.h"

/* The unit masks of a name, combined. */
struct masks {
	uint64_t ma_code; /* register bits, from bit 8 on */
	uint32_t ma_flags;
	uint32_t ma_fixed;  /* as um_fixed */
	uint32_t ma_groups; /* bit n: group n has a unit mask */
	uint32_t ma_alone;  /* bit n: one with UM_ALONE */
	int ma_event;       /* UM_EVENT: the event's code, or -1 */
	unsigned ma_extra;  /* as um_extra; such a unit mask is alone */
	event_pics_t ma_pics;
};
struct work {
	const struct events *wo_es;
	struct event_spec *wo_sp;
	const struct event_row *wo_row;
	struct masks wo_masks; /* event_masks_take() sets it */
};

static inline bool
is_given(const struct work *w, unsigned mod)
{
	return (w->wo_sp->spc_given >> mod & 1) != 0;
}

/* Combine the unit masks that the name has, and check their rules. */
enum event_error event_masks_take(struct work *w);
/* Add the default unit masks, and check the rules of all. */
enum event_error event_masks_complete(struct work *w);

/* encode_netburst.c */
enum event_error event_encode_netburst(struct work *w, struct event_code *ec);
uint64_t event_netburst_mod(const struct event_code *ec, unsigned mod);
