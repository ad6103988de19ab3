/*
 * Which unit masks go together, and which go without saying: libpfm4's rules.
 */
#include "events/masks.h"

#include "events/find.h"

#define EVENT_BITS  0xff
#define RAW_OFFCORE 38 /* bits */

static const struct event_umask *
mask_of(const struct work *w, unsigned place)
{
	return event_umask_at(w->wo_es, w->wo_row, place);
}

static unsigned
group_of(const struct event_umask *um)
{
	return um->um_group & 0xf;
}

static uint64_t
code_of(const struct event_umask *um)
{
	return ((uint64_t)um->um_high << 32 | um->um_code) >> 8;
}

/* The unit mask's bits and PICs; its own PICs go before the event's. */
static void
join(struct work *w, const struct event_umask *um)
{
	struct masks *ma = &w->wo_masks;

	ma->ma_flags |= um->um_flags;
	ma->ma_code |= code_of(um);
	ma->ma_pics &= events_pics(
	    w->wo_es, um->um_pics != 0 ? um->um_pics : w->wo_row->er_pics);
	if (group_of(um) > ma->ma_highest)
		ma->ma_highest = group_of(um);
}

/* Those that were named: what they sum up to is kept in registers here. */
static void
join_named(struct work *w)
{
	const struct event_umask *all = w->wo_es->es_db->ed_at[SECTION_UMASKS];
	const uint16_t *list =
	    (const uint16_t *)w->wo_es->es_db->ed_at[SECTION_LISTS] +
	    w->wo_row->er_list;
	const uint8_t *place = w->wo_sp->sp_umask;
	event_pics_t own = events_pics(w->wo_es, w->wo_row->er_pics);
	struct masks ma = { .ma_pics = ~0ULL };

	for (unsigned n = w->wo_sp->sp_numask; n > 0; n--) {
		const struct event_umask *um =
		    &all[list[*place++] & LIST_UMASK];
		uint32_t group = 1U << group_of(um);

		ma.ma_twice |= ma.ma_groups & group;
		ma.ma_groups |= group;
		ma.ma_alone |= um->um_flags & UM_ALONE ? group : 0;
		ma.ma_fixed |= um->um_fixed;
		ma.ma_wants |= um->um_wants;
		ma.ma_flags |= um->um_flags;
		ma.ma_code |= code_of(um);
		ma.ma_pics &=
		    um->um_pics != 0 ? events_pics(w->wo_es, um->um_pics) : own;
	}
	ma.ma_highest =
	    ma.ma_groups != 0 ? 31U - (unsigned)__builtin_clz(ma.ma_groups) : 0;
	w->wo_masks = ma;
}

/* Flags of rules that few unit masks have. */
#define RULES (UM_EVENT | UM_LAST_GROUP | UM_FIRST_GROUP | UM_NEEDS)

static enum event_error
take_rules(struct work *w, const struct event_umask *um)
{
	struct masks *ma = &w->wo_masks;
	int event = (int)(um->um_code & EVENT_BITS);

	if ((um->um_flags & UM_EVENT) != 0) {
		if (ma->ma_event != -1 && ma->ma_event != event)
			return EVENT_BAD_MIX;
		ma->ma_event = event;
	}
	if ((um->um_flags & UM_LAST_GROUP) != 0)
		ma->ma_last = group_of(um);
	if ((um->um_flags & UM_FIRST_GROUP) != 0)
		ma->ma_other = group_of(um);
	if ((um->um_flags & UM_NEEDS) != 0)
		ma->ma_needs |= 1U << (um->um_group >> 4);
	return EVENT_OK;
}

static enum event_error
take_named(struct work *w)
{
	struct masks *ma = &w->wo_masks;
	enum event_error err = EVENT_OK;

	join_named(w);
	ma->ma_last = ma->ma_other = NO_GROUP;
	ma->ma_event = -1;
	if ((ma->ma_flags & RULES) != 0) {
		for (unsigned i = 0; i < w->wo_sp->sp_numask && err == EVENT_OK;
		     i++)
			err = take_rules(w, mask_of(w, w->wo_sp->sp_umask[i]));
	}
	if ((ma->ma_twice & ma->ma_alone) != 0 ||
	    (ma->ma_needs & ~ma->ma_groups) != 0 ||
	    ((w->wo_row->er_flags & ER_ONE_GROUP) != 0 &&
		(ma->ma_groups & (ma->ma_groups - 1)) != 0))
		return EVENT_BAD_MIX;
	return err;
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
	w->wo_masks = (struct masks){
		.ma_code = w->wo_sp->sp_rawmask,
		.ma_groups = (1U << w->wo_row->er_ngroup) - 1,
		.ma_pics = events_pics(w->wo_es, w->wo_row->er_pics),
		.ma_last = NO_GROUP,
		.ma_other = NO_GROUP,
		.ma_event = -1,
	};
	return EVENT_OK;
}

enum event_error
event_masks_take(struct work *w)
{
	return w->wo_sp->sp_raw ? take_raw(w) : take_named(w);
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
	unsigned fi_last; /* no group behind this, or NO_GROUP */
	bool fi_done;     /* nor any other */
};

/* Does a unit mask of another group forbid one of this? */
static bool
is_barred(const struct work *w, unsigned group, const struct filling *fi)
{
	unsigned other = w->wo_masks.ma_other;

	return (fi->fi_last != NO_GROUP && group > fi->fi_last) ||
	       (other != NO_GROUP && group != 0 && group != other);
}

/* The defaults of one group, see events/table.h. */
static enum event_error
add_defaults(
    struct work *w, unsigned group, const uint8_t *fill, struct filling *fi)
{
	unsigned head = *fill++, n = head & FILL_COUNT;
	enum event_error err;

	if (is_barred(w, group, fi))
		return (head & FILL_MAY_LACK) != 0 ? EVENT_OK
		                                   : EVENT_NEEDS_UMASK;
	if (n == 0)
		return (head & FILL_OPTIONAL) != 0 ? EVENT_OK
		                                   : EVENT_NEEDS_UMASK;
	for (; n > 0; n--, fill++) {
		if ((err = add_umask(w, *fill)) != EVENT_OK)
			return err;
		fi->fi_done = (w->wo_row->er_flags & ER_ONE_GROUP) != 0;
		if (fi->fi_done)
			return EVENT_OK;
		if ((mask_of(w, *fill)->um_flags & UM_LAST_GROUP) == 0)
			continue;
		if (fi->fi_last != NO_GROUP)
			return EVENT_NEEDS_UMASK;
		fi->fi_last = group;
	}
	return EVENT_OK;
}

/* Each group that has none takes its defaults. */
static enum event_error
fill_groups(struct work *w)
{
	const struct masks *ma = &w->wo_masks;
	const uint8_t *fill = event_fill(w->wo_es, w->wo_row);
	struct filling fi = { ma->ma_last, false };
	uint32_t had = ma->ma_groups;
	enum event_error err;

	if ((w->wo_row->er_flags & ER_ONE_GROUP) != 0 && had != 0)
		return EVENT_OK;
	for (unsigned g = 0; g < w->wo_row->er_ngroup && !fi.fi_done; g++) {
		if ((had >> g & 1) == 0 &&
		    (err = add_defaults(w, g, fill, &fi)) != EVENT_OK)
			return err;
		fill += 1 + (*fill & FILL_COUNT);
	}
	return EVENT_OK;
}

enum event_error
event_masks_complete(struct work *w)
{
	struct masks *ma = &w->wo_masks;
	enum event_error err = fill_groups(w);

	if (err != EVENT_OK)
		return err;
	if (ma->ma_other != NO_GROUP &&
	    (ma->ma_groups & ~(1U | 1U << ma->ma_other)) != 0)
		return EVENT_BAD_MIX;
	if (ma->ma_last != NO_GROUP && ma->ma_highest > ma->ma_last)
		return EVENT_BAD_MIX;
	if (ma->ma_pics == ~0ULL)
		ma->ma_pics = events_pics(w->wo_es, w->wo_row->er_pics);
	return EVENT_OK;
}
