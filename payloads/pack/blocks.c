/* Makes blocks of lines, compresses them, and chooses short ones: pack.h. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "payloads/common/results/json.h"
#include "payloads/common/usage.h"
#include "payloads/pack/pack.h"

/* "BARECPC-BEGIN json NUMBER LENGTH CRC" and "BARECPC-END" */
#define FRAME_LINES 56
#define SHORTS      256 /* short records in a block */

/* Send a block.  Returns the bytes that its frame has on the line. */
static size_t
send_block(const struct pack *p, const char *lines, size_t n, bool plain)
{
	uLongf room = compressBound(n) + 64;
	unsigned char *small = fail_unless_room(malloc(room));
	z_stream z = { 0 };
	char *text = NULL;
	size_t bytes = 0;
	FILE *f = fail_unless_room(open_memstream(&text, &bytes));

	if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS,
		MAX_MEM_LEVEL, Z_FILTERED) != Z_OK)
		fail(1, "no memory");
	if (!plain && p->pck_dictionary != NULL)
		deflateSetDictionary(&z, (const Bytef *)p->pck_dictionary,
		    (uInt)p->pck_dictionary_bytes);
	z.next_in = (Bytef *)(uintptr_t)lines;
	z.avail_in = (uInt)n;
	z.next_out = small;
	z.avail_out = (uInt)room;
	if (deflate(&z, Z_FINISH) != Z_STREAM_END)
		fail(1, "a block is not compressed");
	fputs("{\"schema\":1,\"json-z\":\"", f);
	json_base64(f, small, z.total_out);
	fputs("\"}\n", f);
	deflateEnd(&z);
	close_or_fail(f);
	p->pck_send(text, bytes);
	free(text);
	free(small);
	return bytes + FRAME_LINES;
}

static void
open_block(struct pack *p)
{
	p->pck_file =
	    fail_unless_room(open_memstream(&p->pck_lines, &p->pck_bytes));
	fprintf(p->pck_file, "%u %zu\n", p->pck_records + 1, p->pck_text);
	p->pck_block = fail_unless_room(realloc(
	    p->pck_block, (p->pck_nblock + 1) * sizeof p->pck_block[0]));
	p->pck_block[p->pck_nblock++] =
	    (struct pack_block){ .pb_first = p->pck_records + 1 };
}

/* Send the block's lines, which may become the dictionary. */
static void
close_block(struct pack *p)
{
	struct pack_block *b = &p->pck_block[p->pck_nblock - 1];

	close_or_fail(p->pck_file);
	free(p->pck_machine);
	p->pck_machine = NULL;
	b->pb_bytes = send_block(p, p->pck_lines, p->pck_bytes, false);
	p->pck_since += b->pb_bytes;
	if (p->pck_dictionary == NULL && p->pck_bytes >= PACK_LEAST) {
		p->pck_dictionary_block = p->pck_nblock - 1;
		p->pck_dictionary = p->pck_lines;
		p->pck_dictionary_bytes = p->pck_bytes;
		p->pck_dictionary_frame = b->pb_bytes;
		p->pck_since = 0;
	} else {
		free(p->pck_lines);
	}
	p->pck_file = NULL;
	p->pck_lines = NULL;
}

/* Returns the bytes of its frame. */
static size_t
send_dictionary(struct pack *p)
{
	if (p->pck_dictionary == NULL)
		return 0;
	p->pck_since = 0;
	return send_block(p, p->pck_dictionary, p->pck_dictionary_bytes, true);
}

void
pack_start(
    struct pack *p, size_t keep, void (*send)(const char *frame, size_t n))
{
	*p = (struct pack){ .pck_keep = keep,
		.pck_send = send,
		.pck_dictionary_block = UINT_MAX };
	p->pck_shorts_file = fail_unless_room(
	    open_memstream(&p->pck_shorts, &p->pck_shorts_bytes));
	open_block(p);
}

static void
next_block(struct pack *p)
{
	close_block(p);
	if (p->pck_since >= PACK_AGAIN)
		p->pck_block[p->pck_nblock - 1].pb_bytes += send_dictionary(p);
	open_block(p);
}

/* A block that is as large as the window of deflate's dictionary is full. */
static void
take_line(struct pack *p)
{
	if (ftell(p->pck_file) < PACK_BLOCK)
		return;
	next_block(p);
}

/* Add the line of text that waited for a record. */
static void
add_row(struct pack *p, const char *record)
{
	char *row = p->pck_row, *event;

	if (row == NULL)
		return;
	p->pck_text += strlen(row);
	event = record != NULL ? fold_row(row, record) : NULL;
	if (event != NULL)
		fprintf(p->pck_file, "v%s\n", event);
	else
		fprintf(p->pck_file, "t%s", row);
	free(row);
	p->pck_row = NULL;
}

void
pack_record(struct pack *p, const char *line, size_t n)
{
	const char *machine = strstr(line, "\"machine\":{");

	add_row(p, line);
	fputc('r', p->pck_file);
	if (machine != NULL && p->pck_machine != NULL &&
	    strcmp(machine, p->pck_machine) == 0) {
		fold_record(p->pck_file, line, (size_t)(machine - line));
		fputs("\4\n", p->pck_file);
	} else {
		fold_record(p->pck_file, line, n);
		free(p->pck_machine);
		p->pck_machine =
		    machine == NULL ? NULL : fail_unless_room(strdup(machine));
	}
	fold_short(p->pck_shorts_file, line);
	p->pck_records++;
	take_line(p);
}

void
pack_text(struct pack *p, const char *text, size_t n)
{
	const char *end;
	size_t length;

	for (; n > 0; text += length, n -= length) {
		add_row(p, NULL);
		take_line(p);
		end = memchr(text, '\n', n);
		length = end != NULL ? (size_t)(end - text) + 1 : n;
		if (end != NULL && memchr(text, '\0', length) == NULL) {
			p->pck_row = fail_unless_room(strndup(text, length));
			continue;
		}
		fputc(end != NULL ? 't' : 'u', p->pck_file);
		fwrite(text, 1, length, p->pck_file);
		if (end == NULL)
			fputc('\n', p->pck_file);
		p->pck_text += length;
	}
}

void
pack_flush(struct pack *p)
{
	add_row(p, NULL);
	next_block(p);
}

/* Send the short records from `next` on, before record `last`, and the end. */
static size_t
send_shorts(struct pack *p, unsigned next, unsigned last)
{
	const char *s = p->pck_shorts, *from;
	size_t bytes = 0, n = 0;
	char *lines = NULL;

	for (unsigned i = 1; i < next; i++)
		s = strchr(s, '\n') + 1;
	do {
		FILE *f = fail_unless_room(open_memstream(&lines, &n));
		unsigned first = next;

		fprintf(f, "0 %zu\nS%u\n", p->pck_text, first);
		for (from = s; next < last && next < first + SHORTS; next++)
			s = strchr(s, '\n') + 1;
		fwrite(from, 1, (size_t)(s - from), f);
		if (next == last)
			fprintf(f, "e%u %zu\n", p->pck_records, p->pck_text);
		close_or_fail(f);
		bytes += send_block(p, lines, n, true);
		free(lines);
	} while (next < last);
	return bytes;
}

static void
send_nothing(const char *, size_t)
{
}

/*
 * The first record of the first block that the console keeps.  The dictionary
 * comes again after all blocks.
 */
static unsigned
first_kept(struct pack *p, unsigned first, size_t room, size_t full)
{
	void (*send)(const char *frame, size_t n) = p->pck_send;

	p->pck_send = send_nothing;
	size_t shorts = send_shorts(p, 1, p->pck_records + 1);
	p->pck_send = send;
	full += p->pck_dictionary_frame;
	for (unsigned i = 0; i < p->pck_nblock; i++) {
		unsigned last = p->pck_block[i].pb_first;
		unsigned n = last > first ? last - first : 0;

		/* Without a record n is 0. */
		if (full + (n > 0 ? shorts * n / p->pck_records : 0) <= room)
			return last;
		full -= p->pck_block[i].pb_bytes;
	}
	return p->pck_records + 1;
}

unsigned
pack_end(struct pack *p)
{
	size_t room = p->pck_keep - PACK_RESERVE, full = 0;
	unsigned first = 1, last = 1;

	add_row(p, NULL);
	close_block(p);
	close_or_fail(p->pck_shorts_file);
	for (unsigned i = 0; i < p->pck_nblock; i++)
		full += p->pck_block[i].pb_bytes;
	if (full > room) {
		/* The dictionary has the records of its block. */
		if (p->pck_dictionary_block == 0 && p->pck_nblock > 1)
			first = p->pck_block[1].pb_first;
		last = first_kept(p, first, room, full);
		send_dictionary(p);
	}
	last = last < first ? first : last;
	send_shorts(p, first, last);
	free(p->pck_shorts);
	free(p->pck_dictionary);
	free(p->pck_block);
	return last - first;
}
