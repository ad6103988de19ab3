/* Print names and descriptions from the tables. */
#include "events/names/find.h"
#include "events/names/masks.h"
#include "events/names/text.h"

/* The value that a modifier has in the registers; see encode.c. */
static uint64_t
mod_value(const struct events *es, const struct event_spec *sp,
    const struct event_code *ec, unsigned mod)
{
	uint64_t sel = ec->ec_select;

	if (es->es_pmu->ep_kind == EVENT_NETBURST)
		return event_netburst_mod(ec, mod);
	if (es->es_pmu->ep_kind == EVENT_ARM)
		return mod == MOD_U   ? ~sel >> 31 & 1
		       : mod == MOD_K ? ~sel >> 30 & 1
		                      : ~sel >> 27 & 1;
	switch (mod) {
	case MOD_K:
		return sel >> 17 & 1;
	case MOD_U:
		return sel >> 16 & 1;
	case MOD_E:
		return sel >> 18 & 1;
	case MOD_I:
		return sel >> 23 & 1;
	case MOD_C:
		return sel >> 24 & 0xff;
	case MOD_T:
		return sel >> 21 & 1;
	case MOD_INTX:
		return sel >> 32 & 1;
	case MOD_INTXCP:
		return sel >> 33 & 1;
	case MOD_G:
		return sel >> 40 & 1;
	case MOD_H:
		return sel >> 41 & 1;
	default:
		return sp->spc_value[mod];
	}
}

/* Add the event's name, and those of its unit masks. */
static void
add_event(struct text *te, const struct events *es, const struct event_spec *sp)
{
	text_add(te, events_text(es, sp->spc_row->er_name));
	if (sp->spc_raw) {
		text_add(te, ":0x");
		text_number(te, sp->spc_rawmask, 16);
	}
	for (unsigned i = 0; i < sp->spc_numask; i++) {
		text_char(te, ':');
		text_add(te, events_text(es, event_umask_at(es, sp->spc_row,
						 sp->spc_umask[i])
						 ->um_name));
	}
}

static void
add_mod(struct text *te, unsigned mod, uint64_t value)
{
	text_char(te, ':');
	text_add(te, event_mod_names[mod]);
	text_char(te, '=');
	text_number(te, value, 10);
}

size_t
events_canonical(const struct events *es, const struct event_spec *sp,
    const struct event_code *ec, char *buf, size_t size)
{
	struct text te = { buf, size, 0 };

	text_add(&te, es->es_pmu->ep_name);
	text_add(&te, "::");
	add_event(&te, es, sp);
	for (unsigned m = 0; m < MOD_N; m++) {
		if ((sp->spc_row->er_mods >> m & 1) != 0)
			add_mod(&te, m, mod_value(es, sp, ec, m));
	}
	return text_end(&te);
}

size_t
events_short(const struct events *es, const struct event_spec *sp, char *buf,
    size_t size)
{
	struct text te = { buf, size, 0 };

	add_event(&te, es, sp);
	for (unsigned m = 0; m < MOD_N; m++) {
		if ((sp->spc_given >> m & 1) != 0)
			add_mod(&te, m, sp->spc_value[m]);
	}
	return text_end(&te);
}

static void
put_name(const struct events *es, const struct event_row *row,
    const struct event_umask *um, char *buf, size_t size)
{
	struct text te = { buf, size, 0 };

	text_add(&te, events_text(es, row->er_name));
	if (um != NULL) {
		text_char(&te, ':');
		text_add(&te, events_text(es, um->um_name));
	}
	text_end(&te);
}

/* Does one of these PICs count the name?  Its default unit masks decide. */
static bool
has_pic(const struct events *es, const char *name, event_pics_t pics)
{
	struct event_spec sp;
	struct event_code ec;

	return pics == ~0ULL ||
	       (events_parse(es, name, EVENT_EITHER_CASE, &sp) == EVENT_OK &&
		   events_encode(es, &sp, &ec) == EVENT_OK &&
		   (ec.ec_pics & pics) != 0);
}

/* The next name of a row that counts: without a unit mask, then with each. */
static bool
next_of_row(const struct events *es, struct event_walk *ew,
    const struct event_row *row, event_pics_t pics, char *buf, size_t size)
{
	const struct event_umask *um = NULL;
	unsigned n;
	bool alone;

	while ((n = ew->ew_umask++) <= row->er_nlist) {
		alone = n == 0 ? (row->er_flags & ER_BARE) != 0
		               : events_umask_alone(es, row, n - 1);
		if (n > 0)
			um = events_umask(es, row, n - 1);
		if (!alone || (n > 0 && um == NULL))
			continue;
		put_name(es, row, um, buf, size);
		if (has_pic(es, buf, pics))
			return true;
	}
	return false;
}

bool
events_next(const struct events *es, struct event_walk *ew, event_pics_t pics,
    char *buf, size_t size)
{
	const struct event_row *row;

	for (; es->es_pmu != NULL && ew->ew_row < es->es_pmu->ep_nrow;
	     ew->ew_row++, ew->ew_umask = 0) {
		row = events_nth_row(es, ew->ew_row);
		if (row != NULL && next_of_row(es, ew, row, pics, buf, size))
			return true;
	}
	return false;
}

/*
 * A description is a sequence of numbers of words, and ends with 0.  A byte
 * of 1 to 127 is one of the first words.  A byte with bit 7 is the upper half
 * of the number of another word.
 */
size_t
events_describe(const struct events *es, const struct event_row *row, int n,
    char *buf, size_t size)
{
	const struct event_row *rows = es->es_db->ed_at[SECTION_ROWS];
	const uint16_t *first = es->es_db->ed_at[SECTION_DESCFIRST];
	const uint16_t *desc_at = es->es_db->ed_at[SECTION_DESCAT];
	const uint16_t *word_at = es->es_db->ed_at[SECTION_WORDAT];
	const char *words = es->es_db->ed_at[SECTION_WORDS];
	const uint32_t *bytes = es->es_db->ed_bytes;
	struct text te = { buf, size, 0 };
	const uint8_t *d = es->es_db->ed_at[SECTION_DESCS], *end;
	size_t at = (size_t)(row - rows);
	unsigned word;

	if (bytes[SECTION_WORDS] == 0 ||
	    words[bytes[SECTION_WORDS] - 1] != '\0' ||
	    at >= bytes[SECTION_DESCFIRST] / sizeof *first ||
	    (at = first[at] + (size_t)(n + 1)) >=
		bytes[SECTION_DESCAT] / sizeof *desc_at)
		return text_end(&te);
	end = d + bytes[SECTION_DESCS];
	for (d += desc_at[at]; d < end && *d != 0; d++) {
		word = *d - 1U;
		if (*d >= 0x80 && d + 1 < end) {
			word = (*d & 0x7fU) << 8 | d[1];
			d++;
		}
		if (word >= bytes[SECTION_WORDAT] / sizeof *word_at ||
		    word_at[word] >= bytes[SECTION_WORDS])
			break;
		if (te.te_len > 0)
			text_char(&te, ' ');
		text_add(&te, words + word_at[word]);
	}
	return text_end(&te);
}
