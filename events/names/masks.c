/* Which unit masks combine, and which are added by default: libpfm4's rules. */
#include "events/names/masks.h"

#include "events/names/find.h"

#define EVENT_BITS 0xff

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

/* The PICs of a unit mask: its own if it has any, else the event's. */
static event_pics_t
pics_of(const struct work *w, const struct event_umask *um)
{
	return events_pics(
	    w->wo_es, um->um_pics != 0 ? um->um_pics : w->wo_row->er_pics);
}

/* Add what only a unit mask that is alone has. */
static void
join_whole(struct masks *ma, const struct event_umask *um)
{
	if ((um->um_flags & UM_EVENT) != 0)
		ma->ma_event = (int)(um->um_code & EVENT_BITS);
	ma->ma_extra = um->um_extra;
}

/* Add a unit mask's bits and PICs. */
static void
join_mask(struct work *w, const struct event_umask *um)
{
	struct masks *ma = &w->wo_masks;

	ma->ma_flags |= um->um_flags;
	ma->ma_code |= code_of(um);
	ma->ma_pics &= pics_of(w, um);
	if ((um->um_flags & (UM_EVENT | UM_EXTRA)) != 0)
		join_whole(ma, um);
}

/* The PICs that count all unit masks of the name, if one has its own PICs. */
static event_pics_t
pics_named(const struct work *w)
{
	event_pics_t pics = ~0ULL;

	for (unsigned i = 0; i < w->wo_sp->spc_numask; i++)
		pics &= pics_of(w, mask_of(w, w->wo_sp->spc_umask[i]));
	return pics;
}

/* Flags with rules. */
#define RULES (UM_ALONE | UM_EVENT)

static enum event_error
take_rules(struct masks *ma, const struct event_umask *um)
{
	int event = (int)(um->um_code & EVENT_BITS);

	if ((um->um_flags & UM_ALONE) != 0)
		ma->ma_alone |= 1U << group_of(um);
	if ((um->um_flags & UM_EVENT) != 0) {
		if (ma->ma_event != -1 && ma->ma_event != event)
			return EVENT_BAD_MIX;
		ma->ma_event = event;
	}
	return EVENT_OK;
}

/* A unit mask, or the bitwise or of several, computed a word at a time. */
union sum {
	struct event_umask um;
	uint64_t word[3];
};
_Static_assert(sizeof(struct event_umask) == sizeof(union sum), "words");

/* Combine the unit masks of the name. */
static enum event_error
join_named(struct work *w, struct masks *ma)
{
	const union sum *all = w->wo_es->es_db->ed_at[SECTION_UMASKS], *um;
	const uint16_t *list = event_list(w->wo_es, w->wo_row);
	const uint16_t *place = w->wo_sp->spc_umask;
	const uint16_t *end = place + w->wo_sp->spc_numask;
	uint32_t groups = 0;
	union sum sum = { .word = { 0 } };
	enum event_error err;

	while (place < end) {
		um = &all[list[*place++] & LIST_UMASK];
		sum.word[0] |= um->word[0];
		sum.word[1] |= um->word[1];
		sum.word[2] |= um->word[2];
		groups |= 1U << group_of(&um->um);
		if ((um->um.um_flags & RULES) != 0 &&
		    (err = take_rules(ma, &um->um)) != EVENT_OK)
			return err;
	}
	ma->ma_code = code_of(&sum.um);
	ma->ma_flags = sum.um.um_flags;
	ma->ma_fixed = sum.um.um_fixed;
	ma->ma_extra = sum.um.um_extra;
	ma->ma_groups = groups;
	ma->ma_pics = groups == 0 ? ~0ULL
	              : sum.um.um_pics != 0
	                  ? pics_named(w)
	                  : events_pics(w->wo_es, w->wo_row->er_pics);
	return EVENT_OK;
}

/* Is a unit mask with UM_ALONE combined with another of its group? */
static bool
is_disturbed(const struct work *w)
{
	const struct event_umask *all = w->wo_es->es_db->ed_at[SECTION_UMASKS];
	const uint16_t *list = event_list(w->wo_es, w->wo_row);
	const uint16_t *place = w->wo_sp->spc_umask;
	const uint16_t *end = place + w->wo_sp->spc_numask;
	uint32_t once = 0, twice = 0, group;

	while (place < end) {
		group = 1U << group_of(&all[list[*place++] & LIST_UMASK]);
		twice |= once & group;
		once |= group;
	}
	return (twice & w->wo_masks.ma_alone) != 0;
}

static enum event_error
take_named(struct work *w)
{
	struct masks *ma = &w->wo_masks;
	enum event_error err;

	ma->ma_event = -1;
	ma->ma_alone = 0;
	if ((err = join_named(w, ma)) != EVENT_OK)
		return err;
	return ma->ma_alone != 0 && is_disturbed(w) ? EVENT_BAD_MIX : EVENT_OK;
}

static enum event_error
take_raw(struct work *w)
{
	if (w->wo_sp->spc_rawmask >> 8 != 0)
		return EVENT_BAD_PART;
	w->wo_masks = (struct masks){
		.ma_code = w->wo_sp->spc_rawmask,
		.ma_groups = (1U << w->wo_row->er_ngroup) - 1,
		.ma_pics = events_pics(w->wo_es, w->wo_row->er_pics),
		.ma_event = -1,
	};
	return EVENT_OK;
}

enum event_error
event_masks_take(struct work *w)
{
	return w->wo_sp->spc_raw ? take_raw(w) : take_named(w);
}

static enum event_error
add_umask(struct work *w, unsigned place)
{
	struct event_spec *sp = w->wo_sp;
	uint16_t *to = sp->spc_umask + sp->spc_numask;
	size_t bytes = sp->spc_numask * sizeof *to;

	if (sp->spc_numask == EVENT_MAXUMASK)
		return EVENT_BAD_MIX;
	/* Defaults mostly come before all others. */
	if (bytes > 0 && sp->spc_umask[0] > place) {
		to = sp->spc_umask;
		__builtin_memmove(to + 1, to, bytes);
	}
	for (; to > sp->spc_umask && to[-1] > place; to--)
		*to = to[-1];
	*to = (uint16_t)place;
	sp->spc_numask++;
	join_mask(w, mask_of(w, place));
	return EVENT_OK;
}

/* The defaults of one group, see events/table.h. */
static enum event_error
add_defaults(struct work *w, const uint8_t *fill)
{
	unsigned head = *fill++, n = head & DEFAULTS_COUNT;
	enum event_error err;

	if (n == 0)
		return (head & DEFAULTS_OPTIONAL) != 0 ? EVENT_OK
		                                       : EVENT_NEEDS_UMASK;
	for (; n > 0; n--, fill++) {
		if ((err = add_umask(w, *fill)) != EVENT_OK)
			return err;
	}
	return EVENT_OK;
}

/* Add the defaults of each group that has no unit mask. */
enum event_error
event_masks_complete(struct work *w)
{
	struct masks *ma = &w->wo_masks;
	const uint8_t *fill = event_defaults(w->wo_es, w->wo_row);
	uint32_t had = ma->ma_groups;
	enum event_error err;

	for (unsigned g = 0; g < w->wo_row->er_ngroup; g++) {
		if ((had >> g & 1) == 0 &&
		    (err = add_defaults(w, fill)) != EVENT_OK)
			return err;
		fill += 1 + (*fill & DEFAULTS_COUNT);
	}
	if (ma->ma_pics == ~0ULL)
		ma->ma_pics = events_pics(w->wo_es, w->wo_row->er_pics);
	return EVENT_OK;
}
