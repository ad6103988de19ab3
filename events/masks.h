/*
 * The work on one name between masks.c, which knows the rules of unit masks,
 * and encode.c, which knows registers.  Included within events/.
 */
#ifndef EVENTS_MASKS_H
#define EVENTS_MASKS_H

#include "events/events.h"

/* What the unit masks of a name have in common. */
struct masks {
	uint64_t ma_code; /* as it stands in a register from its bit 8 on */
	uint32_t ma_flags;
	uint32_t ma_fixed, ma_wants; /* modifiers */
	uint32_t ma_groups;          /* that have one, */
	uint32_t ma_alone;           /* and one that stands alone */
	uint32_t ma_needs;           /* that must have one */
	unsigned ma_highest;         /* of the groups */
	unsigned ma_last;            /* no group behind this, or NO_GROUP */
	unsigned ma_other;           /* but 0 no group but this, or NO_GROUP */
	int ma_event;                /* that one of them brings, or -1 */
	event_pics_t ma_pics;
};
#define NO_GROUP 0xffU

struct work {
	const struct events *wo_es;
	struct event_spec *wo_sp;
	const struct event_row *wo_row;
	struct masks wo_masks; /* of event_masks_take() */
};

static inline bool
given(const struct work *w, unsigned mod)
{
	return (w->wo_sp->spc_given >> mod & 1) != 0;
}

/* Those that were named. */
enum event_error event_masks_take(struct work *w);
/* Those that go without saying, and the rules of all. */
enum event_error event_masks_complete(struct work *w);

/* encode_netburst.c */
enum event_error event_encode_netburst(struct work *w, struct event_code *ec);
uint64_t event_netburst_mod(const struct event_code *ec, unsigned mod);

#endif /* EVENTS_MASKS_H */
