/*
 * Tables of events from an archive.  The first byte is the PMU to use.  The
 * others are changes of a good file, of six bytes each: a section, a place in
 * it, and two bytes to store there.  The checksum is then made right.  A table
 * that is taken can be walked, parsed, encoded, printed and described.
 *
 * The good file is that of AMD, in the place of the first vendor.  It includes
 * file.c for the functions that take a file from memory.
 */
#include "tests/fuzz/fuzz.h"

#include "events/file.c"

/* Store two bytes at a place in a section, or in the list of sections. */
static void
change(char *file, const struct event_file *good, uint32_t head, const void *to)
{
	unsigned s = (head & 0xff) % (SECTION_N + 1);
	size_t at = offsetof(struct event_file, evf_section);
	size_t bytes = sizeof good->evf_section;

	if (s < SECTION_N) {
		at = good->evf_section[s].evf_at;
		bytes = good->evf_section[s].evf_section_bytes;
	}
	if (bytes >= 2)
		memcpy(file + at + (head >> 8) % (bytes - 1), to, 2);
}

static const char *
load_changed(
    char *file, size_t bytes, const void *good, const uint8_t *data, size_t n)
{
	struct event_file *ef = (struct event_file *)file;
	size_t after = offsetof(struct event_file, evf_section);
	uint32_t head;

	for (; n >= 6; n -= 6, data += 6) {
		memcpy(&head, data, sizeof head);
		change(file, good, head, data + 4);
	}
	ef->evf_sum = event_file_sum(file + after, bytes - after);
	return take_file(&file_tables[0].db, file, bytes);
}

/* Use all that a name leads to. */
static void
look_up(const struct events *es, const char *name)
{
	char text[256];
	struct event_spec sp;
	struct event_code ec;

	if (events_parse(es, name, EVENT_ANY_CASE, &sp) != EVENT_OK)
		return;
	events_short(es, &sp, text, sizeof text);
	events_describe(es, sp.spc_row, -1, text, sizeof text);
	if (events_encode(es, &sp, &ec) == EVENT_OK)
		events_canonical(es, &sp, &ec, text, sizeof text);
}

static void
walk_pmu(const struct events *es)
{
	struct event_walk ew = { 0 };
	const struct event_row *row;
	char name[256];

	while (events_next(es, &ew, ~0ULL, name, sizeof name))
		look_up(es, name);
	for (unsigned n = 0; events_next_preset(es, &n, name, sizeof name);)
		look_up(es, name);
	for (unsigned n = 0; n < es->es_pmu->ep_nrow; n++) {
		if ((row = events_nth_row(es, n)) == NULL)
			continue;
		look_up(es, events_text(es, row->er_name));
		for (unsigned m = 0; m < row->er_nlist; m++)
			events_describe(es, row, (int)m, name, sizeof name);
	}
	events_preset_why(es, "PAPI_fp_ops", name, sizeof name);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const struct event_db *const dbs[EVENT_VENDORS] = {
		&file_tables[0].db
	};
	static char *good;
	static size_t bytes;

	file_folder = "";
	char *file;

	if (good == NULL) {
		FILE *f = fopen("build/events/amd", "r");

		CHECK(f != NULL);
		good = malloc(1 << 20);
		bytes = fread(good, 1, 1 << 20, f);
		fclose(f);
		CHECK(bytes > 0 &&
		      take_file(&file_tables[0].db, good, bytes) == NULL);
	}
	if (n < 7)
		return 0;
	file = fuzz_copy(good, bytes);
	if (load_changed(file, bytes, good, data + 1, n - 1) == NULL) {
		struct events es = events_nth(dbs, data[0]);

		if (es.es_pmu != NULL && events_file_lacks(&es) == NULL)
			walk_pmu(&es);
	}
	free(file);
	return 0;
}
