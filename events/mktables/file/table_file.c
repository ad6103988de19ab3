/*
 * mktable VENDOR FILE DESCRIPTIONS: write the table of a vendor's events as a
 * file that programs map (events/table.h).  DESCRIPTIONS is a file of lines as
 * `describe` prints them; it may be empty.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/events.h"
#include "events/mktables/file/descriptions.h"

static size_t
round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/* The file's bytes, allocated; *bytes is its length. */
static struct event_file *
lay_out(const struct event_db *db, size_t *bytes)
{
	size_t after = offsetof(struct event_file, evf_section);
	size_t at = sizeof(struct event_file);
	struct event_file *ef;

	for (unsigned s = 0; s < SECTION_N; s++)
		at = round_up(at, 8) + db->ed_bytes[s];
	/* Names are read by words, past their end, too. */
	*bytes = round_up(at + EVENT_WORD, EVENT_FILE_ALIGN);
	if ((ef = calloc(1, *bytes)) == NULL)
		err(1, NULL);
	at = sizeof *ef;
	for (unsigned s = 0; s < SECTION_N; s++) {
		at = round_up(at, 8);
		ef->evf_section[s].evf_at = (uint32_t)at;
		ef->evf_section[s].evf_section_bytes = db->ed_bytes[s];
		memcpy((char *)ef + at, db->ed_at[s], db->ed_bytes[s]);
		at += db->ed_bytes[s];
	}
	ef->evf_magic = EVENT_FILE_MAGIC;
	ef->evf_version = EVENT_FILE_VERSION;
	ef->evf_bytes = (uint32_t)*bytes;
	ef->evf_sum = event_file_sum((char *)ef + after, *bytes - after);
	return ef;
}

int
main(int argc, char **argv)
{
	static const char *const vendors[EVENT_VENDORS] = { "intel", "amd",
		"arm" };
	unsigned v = 0;
	struct event_file *ef;
	struct event_db db;
	size_t bytes;
	FILE *f;

	while (
	    argc == 4 && v < EVENT_VENDORS && strcmp(argv[1], vendors[v]) != 0)
		v++;
	if (argc != 4 || v == EVENT_VENDORS)
		errx(2, "usage: mktable intel|amd|arm FILE DESCRIPTIONS");
	db = *event_dbs[v];
	descriptions_add(&db, argv[3]);
	ef = lay_out(&db, &bytes);
	if ((f = fopen(argv[2], "wb")) == NULL ||
	    fwrite(ef, bytes, 1, f) != 1 || fclose(f) != 0)
		err(1, "%s", argv[2]);
	free(ef);
	return 0;
}
