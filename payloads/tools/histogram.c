/*
 * Count how often each name came: a hash table of names.
 */
#include "payloads/tools/histogram.h"

#include <stdlib.h>
#include <string.h>

#include "payloads/common/usage.h"

void
tally_add(struct tally *ta, const char *name)
{
	struct tally_entry **link, *te;
	uint32_t h = 2166136261U; /* FNV-1a */

	for (const char *s = name; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * 16777619;
	ta->ta_sum++;
	for (link = &ta->ta_bucket[h % TALLY_BUCKETS]; (te = *link) != NULL;
	     link = &te->tle_next) {
		if (strcmp(te->tle_name, name) == 0) {
			te->tle_count++;
			return;
		}
	}
	te = fail_unless_room(calloc(1, sizeof *te + strlen(name) + 1));
	strcpy(te->tle_name, name);
	te->tle_count = 1;
	*link = te;
	ta->ta_n++;
}

static int
compare(const void *a, const void *b)
{
	const struct tally_entry *x = *(struct tally_entry *const *)a;
	const struct tally_entry *y = *(struct tally_entry *const *)b;

	if (x->tle_count != y->tle_count)
		return x->tle_count > y->tle_count ? -1 : 1;
	return strcmp(x->tle_name, y->tle_name);
}

struct tally_entry **
tally_sorted(const struct tally *ta)
{
	struct tally_entry **all =
	    fail_unless_room(calloc(ta->ta_n + 1, sizeof *all));
	size_t n = 0;

	for (unsigned i = 0; i < TALLY_BUCKETS; i++) {
		for (struct tally_entry *te = ta->ta_bucket[i]; te != NULL;
		     te = te->tle_next)
			all[n++] = te;
	}
	qsort(all, n, sizeof *all, compare);
	return all;
}
