/*
 * The index by which rows are found, and the tags by which unit masks are.  A
 * tag is a byte of the name's hash, for each entry of the lists.
 */
#include "events/mktables/tables.h"

#include <ctype.h>
#include <err.h>
#include <stdlib.h>

/* The hash of a name in capitals. */
static uint32_t
hash_of(unsigned name)
{
	char key[EVENT_MAXNAME + EVENT_WORD] = "";
	const char *text = name_at(name);
	size_t n;

	for (n = 0; text[n] != '\0'; n++)
		key[n] = (char)toupper((unsigned char)text[n]);
	return event_hash(key, n);
}

/*
 * Put the rows in the index.  Returns how far the farthest is from the place
 * of its hash, and below that how far all are together.  Only the first row of
 * a name is in the index.
 */
static unsigned
place_rows(const struct event_row *rows, unsigned n, const struct event_pmu *ep,
    uint16_t *places)
{
	unsigned mask = (1U << ep->ep_bits) - 1, far = 0, sum = 0, off, at;

	memset(places, 0, (mask + 1) * sizeof *places);
	for (unsigned i = 0; i < n; i++) {
		if (i > 0 && rows[i].er_name == rows[i - 1].er_name)
			continue;
		at = hash_of(rows[i].er_name) >> ep->ep_shift;
		for (off = 0; places[(at + off) & mask] != 0; off++)
			;
		places[(at + off) & mask] =
		    (uint16_t)(EVENT_ROW_TAG(hash_of(rows[i].er_name))
				   << EVENT_ROW_BITS |
			       (i + 1));
		if (off > far)
			far = off;
		sum += off;
	}
	return far << 16 | sum;
}

/* Use at most two places in three, and the bits of the hash that do best. */
void
index_add(const struct event_row *rows, unsigned n, struct event_pmu *ep)
{
	uint16_t places[1 << 11];
	unsigned far, best = ~0U, shift = 0;

	if (n + n / 2 >= LENGTH(places) || n >= 1U << EVENT_ROW_BITS)
		errx(1, "%u rows are more than places have numbers", n);
	for (ep->ep_bits = 1; 1U << ep->ep_bits < n + n / 2; ep->ep_bits++)
		;
	for (ep->ep_shift = 0; ep->ep_shift + ep->ep_bits <= 32;
	     ep->ep_shift++) {
		far = place_rows(rows, n, ep, places);
		if (far < best) {
			best = far;
			shift = ep->ep_shift;
		}
	}
	ep->ep_shift = (uint8_t)shift;
	place_rows(rows, n, ep, places);
	ep->ep_index =
	    (uint16_t)pool_add(SECTION_INDEX, places, 1U << ep->ep_bits);
}

uint16_t
list_index(unsigned list, unsigned n)
{
	const struct event_umask *um = pool[SECTION_UMASKS].p_at;
	const uint16_t *masks = (uint16_t *)pool[SECTION_LISTS].p_at + list;
	uint32_t length, at;
	uint16_t *places;

	if (n <= EVENT_LONG_LIST)
		return 0;
	length = event_index_length(n);
	if ((places = calloc(length, sizeof *places)) == NULL)
		err(1, NULL);
	for (unsigned i = 0; i < n; i++) {
		at = hash_of(um[masks[i] & LIST_UMASK].um_name) & (length - 1);
		while (places[at] != 0)
			at = (at + 1) & (length - 1);
		places[at] = (uint16_t)(i + 1);
	}
	return (uint16_t)pool_find(SECTION_INDEX, places, length);
}

void
tags_add(void)
{
	static const uint8_t end[EVENT_WORD];
	const struct event_umask *um = pool[SECTION_UMASKS].p_at;
	const uint16_t *list = pool[SECTION_LISTS].p_at;
	uint8_t tag;

	for (unsigned i = 0; i < pool[SECTION_LISTS].p_n; i++) {
		tag = EVENT_TAG(hash_of(um[list[i] & LIST_UMASK].um_name));
		pool_add(SECTION_TAGS, &tag, 1);
	}
	/* Both are read by words, past their end. */
	pool_add(SECTION_TAGS, end, sizeof end);
	pool_add(SECTION_NAMES, end, sizeof end);
}
