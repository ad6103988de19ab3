/*
 * A histogram of names.  Included by record.c.
 */
#ifndef PAYLOADS_TOOLS_HISTOGRAM_H
#define PAYLOADS_TOOLS_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

struct tally_entry {
	struct tally_entry *tle_next; /* in its bucket */
	uint64_t tle_count;
	char tle_name[];
};

#define TALLY_BUCKETS 1024

struct tally {
	struct tally_entry *ta_bucket[TALLY_BUCKETS];
	size_t ta_n;
	uint64_t ta_sum;
};

/* Count a name once more.  Exits 1 without memory. */
void tally_add(struct tally *ta, const char *name);
/*
 * All of them, the most frequent first, then by name: ta_n pointers, which
 * the caller frees.
 */
struct tally_entry **tally_sorted(const struct tally *ta);

#endif /* PAYLOADS_TOOLS_HISTOGRAM_H */
