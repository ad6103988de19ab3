/*
 * Results that memory or UEFI variables kept.  The bytes are a head and its
 * text.  They are parsed as they are, and then with checksums that hold.
 */
#include "tests/fuzz/fuzz.h"

#include "kern/platform/results/kept.h"

static void
take_records(struct kept_head *h, size_t bytes)
{
	struct kept_head *to = malloc(KEPT_VARIABLES_BYTES);
	char *lines = malloc(h->kh_bytes);
	const char *why;
	long n = kept_records(h, lines, &why);
	size_t copied = kept_copy(
	    h, to, bytes < KEPT_VARIABLES_BYTES ? bytes : KEPT_VARIABLES_BYTES);

	CHECK(n <= (long)h->kh_bytes);
	CHECK(n <= 0 || lines[n - 1] == '\n');
	CHECK(copied <= KEPT_VARIABLES_BYTES);
	if (copied > 0)
		CHECK(kept_state(to, 0, KEPT_VARIABLES_BYTES) == KEPT_ENDED);
	free(lines);
	free(to);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct kept_head *h;

	if (n < sizeof *h)
		return 0;
	h = fuzz_copy(data, n);
	if (kept_state(h, 0, n) == KEPT_ENDED)
		take_records(h, n);
	kept_start(h, 0, n);
	h->kh_bytes = h->kh_room;
	h->kh_frames = data[0];
	kept_end(h);
	CHECK(kept_state(h, 0, n) == KEPT_ENDED);
	take_records(h, n);
	free(h);
	return 0;
}
