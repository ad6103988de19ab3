/* Counts how often each name occurs: a hash table of names. */
#include "payloads/record/histogram.h"

#include <stdlib.h>
#include <string.h>

#include "payloads/common/usage.h"

const struct histogram_entry *
histogram_add(struct histogram *hg, const char *name)
{
	struct histogram_entry **link, *he;
	uint32_t h = 2166136261U; /* FNV-1a */

	for (const char *s = name; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * 16777619;
	hg->hg_sum++;
	for (link = &hg->hg_bucket[h % HISTOGRAM_BUCKETS]; (he = *link) != NULL;
	     link = &he->hge_next) {
		if (strcmp(he->hge_name, name) == 0) {
			he->hge_count++;
			return he;
		}
	}
	he = fail_unless_room(calloc(1, sizeof *he + strlen(name) + 1));
	strcpy(he->hge_name, name);
	he->hge_count = 1;
	he->hge_place = hg->hg_n++;
	*link = he;
	return he;
}

static int
compare_entries(const void *a, const void *b)
{
	const struct histogram_entry *x = *(struct histogram_entry *const *)a;
	const struct histogram_entry *y = *(struct histogram_entry *const *)b;

	if (x->hge_count != y->hge_count)
		return x->hge_count > y->hge_count ? -1 : 1;
	return strcmp(x->hge_name, y->hge_name);
}

struct histogram_entry **
histogram_sorted(const struct histogram *hg)
{
	struct histogram_entry **all =
	    fail_unless_room(calloc(hg->hg_n + 1, sizeof *all));
	size_t n = 0;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		for (struct histogram_entry *he = hg->hg_bucket[i]; he != NULL;
		     he = he->hge_next)
			all[n++] = he;
	}
	qsort(all, n, sizeof *all, compare_entries);
	return all;
}
