/*
 * Packs records and text for a console that keeps only its last bytes.
 * Included by payloads/pack/ and by its host test.
 *
 * A frame is a record {"schema":1,"json-z":"..."}: a block in Base64, of zlib's
 * format (RFC 1950).  A block has lines.  The first has the number of the
 * block's first record from 1 and the number of the text's bytes before it.
 *
 * A record's line begins with r, and is folded (fold.c).  A line of stdout
 * begins with t, or with u if it has no newline.  A line v is a row of the
 * table, without all that follows from the next record: it has the event.  A
 * line S has the number of the first record of the lines s.  Each of these is
 * a short record, or empty if the record is no measurement.  The last line, e,
 * has the run's records and bytes of text.
 *
 * A short record has a tab before each value.  They are payload, label, event,
 * privilege, net count, the least raw count less net, the largest less the
 * least, runs and status.
 *
 * The first block of PACK_LEAST bytes is the preset dictionary of all later
 * ones, except of those with short records.  It comes again each PACK_AGAIN
 * bytes and at the end, so a log whose beginning is lost has it, too.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#define PACK_BLOCK   32000 /* bytes of lines: deflate's window is 32768 */
#define PACK_LEAST   8000
#define PACK_AGAIN   24576
#define PACK_RESERVE 3072 /* for the kernel's lines after the last frame */

struct pack_block {
	unsigned pb_first; /* record */
	size_t pb_bytes;   /* of its frame, and a dictionary after it */
};

struct pack {
	size_t pck_keep; /* bytes that the console keeps */
	void (*pck_send)(const char *frame, size_t n);
	struct pack_block *pck_block;
	unsigned pck_nblock, pck_records;
	size_t pck_text;   /* bytes of text so far */
	char *pck_row;     /* the last line of text, if it waits for a record */
	char *pck_machine; /* that the block has, or NULL */
	char *pck_lines;   /* of the block that is not full */
	size_t pck_bytes;  /* of them */
	FILE *pck_file;    /* which makes them */
	char *pck_dictionary;
	size_t pck_dictionary_bytes;
	size_t pck_dictionary_frame; /* bytes of its frame */
	unsigned pck_dictionary_block;
	size_t pck_since; /* bytes of frames since the dictionary came */
	FILE *pck_shorts_file;
	char *pck_shorts; /* the short records of all, a line each */
	size_t pck_shorts_bytes;
};

void pack_start(
    struct pack *p, size_t keep, void (*send)(const char *frame, size_t n));
/* Add a record: one line of n bytes with its newline. */
void pack_record(struct pack *p, const char *line, size_t n);
/* Send what waits for a full block. */
void pack_flush(struct pack *p);
void pack_text(struct pack *p, const char *text, size_t n);
/*
 * Send what is left, short records for those that the last pck_keep bytes do
 * not have in full, and the end.  Returns how many records have a short one
 * only.
 */
unsigned pack_end(struct pack *p);

/*
 * fold.c: write n bytes of a record without what follows from the rest of them.
 */
void fold_record(FILE *f, const char *line, size_t n);
/* The event of a row of the table that follows from the record, or NULL. */
char *fold_row(char *row, const char *line);
/* Write the short record. */
void fold_short(FILE *f, const char *line);
