/* PMUs and rows by name. */
#include "events/names/find.h"
#include "events/names/text.h"

struct events
events_nth(const struct event_db *const *dbs, unsigned n)
{
	unsigned count;

	for (unsigned v = 0; v < EVENT_VENDORS; v++) {
		if (dbs[v] == NULL)
			continue;
		const struct event_pmu *p = dbs[v]->ed_at[SECTION_PMUS];
		count = (unsigned)(dbs[v]->ed_bytes[SECTION_PMUS] / sizeof *p);
		if (n < count)
			return (struct events){ dbs[v], &p[n] };
		n -= count;
	}
	return (struct events){ NULL, NULL };
}

/* Are two names the same except for case and for blanks, `_` and `-`? */
static bool
is_alike(const char *a, const char *b)
{
	bool gap_a, gap_b;

	for (; *a != '\0' && *b != '\0'; a++, b++) {
		gap_a = *a == ' ' || *a == '_' || *a == '-';
		gap_b = *b == ' ' || *b == '_' || *b == '-';
		if (gap_a != gap_b ||
		    (!gap_a && event_upper(*a) != event_upper(*b)))
			return false;
	}
	return *a == *b;
}

/* The text after the first such character, or the end. */
static const char *
text_after(const char *s, char c)
{
	while (*s != '\0' && *s++ != c)
		;
	return s;
}

/*
 * Is this a usual name of the PMU?  It may lack the vendor (n1 for arm_n1,
 * Neoverse N1 for ARM Neoverse N1) and the family (zen4 for amd64_fam19h_zen4).
 */
static bool
is_also_called(const struct event_pmu *p, const char *name)
{
	const char *part = text_after(p->ep_name, '_');

	if (*name == '\0')
		return false;
	return is_alike(p->ep_desc, name) ||
	       is_alike(text_after(p->ep_desc, ' '), name) ||
	       (p->ep_kind != EVENT_INTEL &&
		   (is_alike(part, name) ||
		       is_alike(text_after(part, '_'), name)));
}

struct events
events_find(const struct event_db *const *dbs, const char *name)
{
	struct events es;

	for (unsigned n = 0; (es = events_nth(dbs, n)).es_pmu != NULL; n++) {
		if (is_alike(es.es_pmu->ep_name, name))
			return es;
	}
	for (unsigned n = 0; (es = events_nth(dbs, n)).es_pmu != NULL; n++) {
		if (is_also_called(es.es_pmu, name))
			return es;
	}
	return es;
}

static const struct event_row *
rows_of(const struct events *es)
{
	return (const struct event_row *)es->es_db->ed_at[SECTION_ROWS] +
	       es->es_pmu->ep_first;
}

const struct event_row *
event_row_at(const struct events *es, unsigned n)
{
	return &rows_of(es)[n];
}

const struct event_row *
events_nth_row(const struct events *es, unsigned n)
{
	const struct event_row *row = &rows_of(es)[n];

	return (row->er_models & es->es_pmu->ep_model) != 0 ? row : NULL;
}

/* Is the key this name of a NetBurst table?  Its names mix cases. */
static bool
is_spelled(const struct event_key *key, const char *name)
{
	for (size_t i = 0; i <= key->ek_len; i++) {
		if (event_upper(name[i]) != key->ek_text[i])
			return false;
	}
	return true;
}

static bool
is_name(const struct events *es, const struct event_key *key, const char *name)
{
	return es->es_pmu->ep_kind == EVENT_NETBURST
	           ? key->ek_len <= EVENT_MAXNAME && is_spelled(key, name)
	           : event_key_is(key, name);
}

/* The PMU's row among the rows of one name, which are in sequence. */
static const struct event_row *
row_of_pmu(const struct events *es, unsigned n)
{
	const struct event_row *row = rows_of(es);
	unsigned name = row[n].er_name;

	for (; n < es->es_pmu->ep_nrow && row[n].er_name == name; n++) {
		if ((row[n].er_models & es->es_pmu->ep_model) != 0)
			return &row[n];
	}
	return NULL;
}

const struct event_row *
event_row_find(const struct events *es, const struct event_key *key)
{
	const uint16_t *index =
	    (const uint16_t *)es->es_db->ed_at[SECTION_INDEX] +
	    es->es_pmu->ep_index;
	const struct event_row *row = rows_of(es);
	unsigned mask = (1U << es->es_pmu->ep_bits) - 1;
	unsigned at = key->ek_hash >> es->es_pmu->ep_shift & mask, n;

	for (; index[at] != 0; at = (at + 1) & mask) {
		if (index[at] >> EVENT_ROW_BITS != EVENT_ROW_TAG(key->ek_hash))
			continue;
		n = (index[at] & ((1U << EVENT_ROW_BITS) - 1)) - 1;
		if (is_name(es, key, events_text(es, row[n].er_name)))
			return row_of_pmu(es, n);
	}
	return NULL;
}

/* Make the key of a name; false if the name has other characters. */
static bool
is_key(struct event_key *key, const char *name)
{
	char padded[EVENT_MAXNAME + 1 + EVENT_WORD];

	return event_pad(padded, name, EVENT_MAXNAME) &&
	       *event_key(key, padded) == '\0';
}

const struct event_row *
events_row(const struct events *es, const char *name)
{
	struct event_key key;

	return is_key(&key, name) ? event_row_find(es, &key) : NULL;
}

const struct event_umask *
events_umask(const struct events *es, const struct event_row *row, unsigned n)
{
	const struct event_umask *um = event_umask_at(es, row, n);

	return (um->um_models & es->es_pmu->ep_model) != 0 ? um : NULL;
}

bool
events_umask_alone(
    const struct events *es, const struct event_row *row, unsigned n)
{
	return (event_list(es, row)[n] & LIST_ENOUGH) != 0;
}

/* As event_umask_find(), by the row's index. */
static int
find_indexed(const struct events *es, const struct event_row *row,
    const struct event_key *key)
{
	const uint8_t *tags =
	    (const uint8_t *)es->es_db->ed_at[SECTION_TAGS] + row->er_list;
	const uint16_t *index =
	    (const uint16_t *)es->es_db->ed_at[SECTION_INDEX] + row->er_index;
	uint32_t mask = event_index_length(row->er_nlist) - 1;
	uint32_t at = key->ek_hash & mask;
	const struct event_umask *um;

	for (; index[at] != 0; at = (at + 1) & mask) {
		if (tags[index[at] - 1] != EVENT_TAG(key->ek_hash))
			continue;
		um = event_umask_at(es, row, index[at] - 1U);
		if ((um->um_models & es->es_pmu->ep_model) != 0 &&
		    is_name(es, key, events_text(es, um->um_name)))
			return index[at] - 1;
	}
	return -1;
}

int
event_umask_find(const struct events *es, const struct event_row *row,
    const struct event_key *key)
{
	const char *tags =
	    (const char *)es->es_db->ed_at[SECTION_TAGS] + row->er_list;
	uint64_t tag = EVENT_BYTES(EVENT_TAG(key->ek_hash)), hits;
	const struct event_umask *um;
	unsigned n, i;

	if (row->er_nlist > EVENT_LONG_LIST)
		return find_indexed(es, row, key);
	for (n = 0; n < row->er_nlist; n += EVENT_WORD) {
		hits = event_zero_bytes(event_word(tags + n) ^ tag);
		for (; hits != 0; hits &= hits - 1) {
			i = n + (unsigned)__builtin_ctzll(hits) / 8;
			if (i >= row->er_nlist)
				return -1;
			um = event_umask_at(es, row, i);
			if ((um->um_models & es->es_pmu->ep_model) != 0 &&
			    is_name(es, key, events_text(es, um->um_name)))
				return (int)i;
		}
	}
	return -1;
}

int
events_umask_find(
    const struct events *es, const struct event_row *row, const char *name)
{
	struct event_key key;

	return is_key(&key, name) ? event_umask_find(es, row, &key) : -1;
}
