/*
 * PMUs and rows by name.
 */
#include "events/events.h"
#include "events/text.h"

struct events
events_nth(const struct event_db *const *dbs, unsigned n)
{
	unsigned count;

	for (unsigned v = 0; v < EVENT_VENDORS; v++) {
		const struct event_pmu *p;

		if (dbs[v] == NULL)
			continue;
		p = dbs[v]->ed_at[SECTION_PMUS];
		count = (unsigned)(dbs[v]->ed_bytes[SECTION_PMUS] / sizeof *p);
		if (n < count)
			return (struct events){ dbs[v], &p[n] };
		n -= count;
	}
	return (struct events){ NULL, NULL };
}

/* Alike but for case, and for what stands between words? */
static bool
alike(const char *a, const char *b)
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

/* What is behind the first such character, or the end. */
static const char *
behind(const char *s, char c)
{
	while (*s != '\0' && *s++ != c)
		;
	return s;
}

/* Without the vendor: n1 of arm_n1, Neoverse N1 of ARM Neoverse N1. */
static bool
is_also_called(const struct event_pmu *p, const char *name)
{
	return alike(p->ep_desc, name) ||
	       alike(behind(p->ep_desc, ' '), name) ||
	       (p->ep_kind != EVENT_INTEL &&
		   alike(behind(p->ep_name, '_'), name));
}

struct events
events_find(const struct event_db *const *dbs, const char *name)
{
	struct events es;

	for (unsigned n = 0; (es = events_nth(dbs, n)).es_pmu != NULL; n++) {
		if (alike(es.es_pmu->ep_name, name))
			return es;
	}
	for (unsigned n = 0; (es = events_nth(dbs, n)).es_pmu != NULL; n++) {
		if (is_also_called(es.es_pmu, name))
			return es;
	}
	return es;
}

const char *
events_text(const struct events *es, unsigned name)
{
	return (const char *)es->es_db->ed_at[SECTION_NAMES] + name;
}

static const struct event_row *
rows(const struct events *es)
{
	return (const struct event_row *)es->es_db->ed_at[SECTION_ROWS] +
	       es->es_pmu->ep_first;
}

const struct event_row *
events_nth_row(const struct events *es, unsigned n)
{
	const struct event_row *row = &rows(es)[n];

	return (row->er_models & es->es_pmu->ep_model) != 0 ? row : NULL;
}

/* Longer than any name of the tables. */
#define KEY_SIZE 128

/* In capitals, as the tables have it; false: longer than any of theirs. */
static bool
capitals(char *buf, const char *name, size_t len)
{
	if (len >= KEY_SIZE)
		return false;
	for (size_t i = 0; i < len; i++)
		buf[i] = event_upper(name[i]);
	buf[len] = '\0';
	return true;
}

static bool
same(const char *a, const char *b)
{
	for (; *a == *b && *a != '\0'; a++, b++)
		;
	return *a == *b;
}

/* Rows of one name are of different PMUs. */
static const struct event_row *
row_of_pmu(const struct events *es, unsigned n, const char *name)
{
	const struct event_row *row = rows(es);

	for (; n < es->es_pmu->ep_nrow; n++) {
		if (!same(events_text(es, row[n].er_name), name))
			break;
		if ((row[n].er_models & es->es_pmu->ep_model) != 0)
			return &row[n];
	}
	return NULL;
}

const struct event_row *
events_row(const struct events *es, const char *name, size_t len)
{
	const struct event_row *row = rows(es);
	unsigned low = 0, high = es->es_pmu->ep_nrow, mid;
	/* Letters that the rows beside low and high share with the key. */
	size_t below = 0, above = 0, i;
	char key[KEY_SIZE];
	const char *entry;

	if (!capitals(key, name, len))
		return NULL;
	while (low < high) {
		mid = low + (high - low) / 2;
		entry = events_text(es, row[mid].er_name);
		/* What both ends share with the key, all between do. */
		i = below < above ? below : above;
		while (entry[i] == key[i] && key[i] != '\0')
			i++;
		if ((unsigned char)entry[i] < (unsigned char)key[i]) {
			low = mid + 1;
			below = i;
		} else {
			high = mid;
			above = i;
		}
	}
	return row_of_pmu(es, low, key);
}

static unsigned
list_entry(const struct events *es, const struct event_row *row, unsigned n)
{
	const uint16_t *lists = es->es_db->ed_at[SECTION_LISTS];

	return lists[row->er_list + n];
}

const struct event_umask *
events_umask(const struct events *es, const struct event_row *row, unsigned n)
{
	const struct event_umask *um = es->es_db->ed_at[SECTION_UMASKS];

	um += list_entry(es, row, n) & LIST_UMASK;
	return (um->um_models & es->es_pmu->ep_model) != 0 ? um : NULL;
}

bool
events_umask_alone(
    const struct events *es, const struct event_row *row, unsigned n)
{
	return (list_entry(es, row, n) & LIST_ENOUGH) != 0;
}

int
events_umask_find(const struct events *es, const struct event_row *row,
    const char *name, size_t len)
{
	const struct event_umask *all = es->es_db->ed_at[SECTION_UMASKS], *um;
	const uint16_t *lists = es->es_db->ed_at[SECTION_LISTS];
	const char *names = es->es_db->ed_at[SECTION_NAMES], *entry;
	const uint16_t *list = lists + row->er_list;
	char key[KEY_SIZE];

	if (len == 0 || !capitals(key, name, len))
		return -1;
	/* Lists are as the library has them; most differ at once. */
	for (unsigned n = 0; n < row->er_nlist; n++) {
		um = &all[list[n] & LIST_UMASK];
		entry = names + um->um_name;
		if (*entry == *key && same(entry, key) &&
		    (um->um_models & es->es_pmu->ep_model) != 0)
			return (int)n;
	}
	return -1;
}

event_pics_t
events_pics(const struct events *es, unsigned set)
{
	return ((const event_pics_t *)es->es_db->ed_at[SECTION_PICS])[set];
}
