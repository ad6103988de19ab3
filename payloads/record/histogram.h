/* A histogram of names.  Included by sample_file.h. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct histogram_entry {
	struct histogram_entry *hge_next; /* in its bucket */
	uint64_t hge_count;
	size_t hge_place; /* in the order of the first counts */
	char hge_name[];
};

#define HISTOGRAM_BUCKETS 1024

struct histogram {
	struct histogram_entry *hg_bucket[HISTOGRAM_BUCKETS];
	size_t hg_n;
	uint64_t hg_sum;
};

/* Count a name once more, and return its entry.  Exits 1 without memory. */
const struct histogram_entry *histogram_add(
    struct histogram *hg, const char *name);
/*
 * Return an array of all hg_n entries, the most frequent first, then by name.
 * The caller frees the array.
 */
struct histogram_entry **histogram_sorted(const struct histogram *hg);
