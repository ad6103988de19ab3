/*
 * pages: shows the records of the run on a screen.  First a table, then all
 * records as QR codes, for `scripts/barecpc read --qr`.  The kernel starts it
 * at the end of a run, if there are a screen and records.
 *
 * Each QR code has 16 bytes, little-endian, and a part of the records' lines,
 * compressed by zlib: "BCQ1", its number from 0 and the number of codes (16
 * bits each), then the bytes and the CRC-32 of all that is compressed.
 */
#include <qrcodegen/qrcodegen.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "include/sys/barecpc.h"
#include "kern/platform/results/kept.h"
#include "payloads/common/usage.h"

#define PAGE_S   10
#define POLLS    10 /* of the keys, each second */
#define KEYS_MAX 64
#define COLUMNS  100 /* the console has as many, at any scale */
#define VERSION  25  /* a QR code of 117 modules, which a camera can read */
#define MODULES  (4 * VERSION + 17)
#define QUIET    4 /* modules around it: ISO/IEC 18004, "Quiet zone" */
#define SIDE     (MODULES + 2 * QUIET)
#define CAPACITY 997 /* bytes, with error correction M */
#define HEAD     16
#define PART     (CAPACITY - HEAD)

static unsigned width, height, rows;

static void
show_text(unsigned row, const char *text)
{
	syscall(BARECPC_SYS_SCREEN, BARECPC_SCREEN_TEXT, row, text);
}

static void
new_page(void)
{
	syscall(BARECPC_SYS_SCREEN, BARECPC_SCREEN_TAKE);
}

static bool
take_key(void)
{
	return syscall(BARECPC_SYS_SCREEN, BARECPC_SCREEN_KEY) > 0;
}

/* Keys that were pressed before the page was shown do not count. */
static void
wait_page(void)
{
	for (unsigned i = 0; i < KEYS_MAX && take_key(); i++)
		;
	for (unsigned i = 0; i < PAGE_S * POLLS && !take_key(); i++)
		nanosleep(
		    &(struct timespec){ .tv_nsec = 1000000000 / POLLS }, NULL);
}

/* The console's text so far.  Returns its bytes. */
static size_t
read_kept(char *to, size_t room)
{
	size_t at = 0;
	long n;

	while ((n = syscall(BARECPC_SYS_SCREEN, BARECPC_SCREEN_KEPT, at,
		    room - at, to + at)) > 0)
		at += (size_t)n;
	return at;
}

/*
 * The value after `key` in a record that ends at `end`, without quotes and cut
 * to fit.  "-" if it is null or missing.
 */
static void
value_of(
    const char *record, const char *end, const char *key, char *to, size_t room)
{
	const char *s =
	    memmem(record, (size_t)(end - record), key, strlen(key));
	const char *stop;
	size_t n = 0;

	if (s != NULL) {
		s += strlen(key);
		stop = s < end && *s == '"' ? "\"" : ",}]";
		s += *stop == '"';
		while (s < end && n + 1 < room && strchr(stop, *s) == NULL) {
			s += *s == '\\' && *stop == '"';
			to[n++] = *s++;
		}
		/* The bytes of a character of UTF-8 stay together. */
		while (n > 0 && s < end && (*s & 0xc0) == 0x80)
			s--, n--;
	}
	to[n] = '\0';
	if (n == 0 || strcmp(to, "null") == 0)
		snprintf(to, room, "-");
}

static void
show_record(unsigned row, const char *s, const char *end)
{
	char label[31], event[31], privilege[8], net[16], each[12], line[256];

	value_of(s, end, "\"label\":", label, sizeof label);
	value_of(s, end, "\"event\":", event, sizeof event);
	value_of(s, end, "\"privilege\":", privilege, sizeof privilege);
	value_of(s, end, "\"count\":{\"net\":", net, sizeof net);
	value_of(s, end, "\"per_iteration\":", each, sizeof each);
	snprintf(line, sizeof line, "%-30s %-30s %-6s %15s %11s", label, event,
	    privilege, net, each);
	show_text(row, line);
}

/* The machine and its PMU, on each page. */
static void
show_heads(const char *s, const char *end)
{
	char cpu[COLUMNS], pmu[2 * COLUMNS], line[256];

	value_of(s, end, "\"cpu\":", cpu, sizeof cpu);
	value_of(s, end, "\"pmu\":", pmu, sizeof pmu);
	snprintf(line, sizeof line, "barecpc: %s", cpu);
	show_text(0, line);
	snprintf(line, sizeof line, "PMU: %s", pmu);
	/* The reason is a sentence that begins with the PMU. */
	if (strcmp(pmu, "-") == 0)
		value_of(s, end, "\"pmu_reason\":", line, sizeof line);
	if (strlen(line) > COLUMNS)
		show_text(2, line + COLUMNS);
	show_text(1, line);
	snprintf(line, sizeof line, "%-30s %-30s %-6s %15s %11s", "payload",
	    "event", "priv", "count", "each");
	show_text(3, line);
}

static void
show_table(const char *s, size_t n)
{
	const char *end = s + n, *next;
	unsigned row = rows;

	for (const char *first = s; s < end; s = next) {
		const char *stop = memchr(s, '\n', (size_t)(end - s));

		next = stop + 1;
		if (row == rows) {
			if (s != first)
				wait_page();
			new_page();
			show_heads(first, memchr(first, '\n', n));
			row = 4;
		}
		show_record(row++, s, stop);
	}
	wait_page();
}

static void
put(uint8_t *to, unsigned bytes, uint64_t v)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (uint8_t)(v >> 8 * i);
}

static void
draw_code(const uint8_t *code)
{
	unsigned letters = height / rows; /* of a line's height */
	unsigned side = (height - letters) / SIDE;
	uint8_t dark[SIDE];

	if (side > width / SIDE)
		side = width / SIDE;
	for (unsigned y = 0; y < SIDE; y++) {
		for (unsigned x = 0; x < SIDE; x++)
			dark[x] = qrcodegen_getModule(
			    code, (int)x - QUIET, (int)y - QUIET);
		syscall(BARECPC_SYS_SCREEN, BARECPC_SCREEN_SQUARES_ROW,
		    letters + y * side, side << 16 | SIDE, dark);
	}
}

/* Show part `page` of `pages`, of n compressed bytes. */
static bool
show_code(const uint8_t *all, size_t n, unsigned page, unsigned pages)
{
	uint8_t data[qrcodegen_BUFFER_LEN_FOR_VERSION(VERSION)];
	uint8_t code[qrcodegen_BUFFER_LEN_FOR_VERSION(VERSION)];
	size_t from = page * PART, part = n - from < PART ? n - from : PART;
	char line[COLUMNS];

	memcpy(data, "BCQ1", 4);
	put(data + 4, 2, page);
	put(data + 6, 2, pages);
	put(data + 8, 4, n);
	put(data + 12, 4, crc32(0, all, (unsigned)n));
	memcpy(data + HEAD, all + from, part);
	if (!qrcodegen_encodeBinary(data, HEAD + part, code,
		qrcodegen_Ecc_MEDIUM, VERSION, VERSION, qrcodegen_Mask_AUTO,
		false))
		return false;
	snprintf(line, sizeof line,
	    "all records, picture %u of %u: scripts/barecpc read --qr "
	    "PICTURE...",
	    page + 1, pages);
	new_page();
	show_text(0, line);
	draw_code(code);
	wait_page();
	return true;
}

static bool
show_codes(const char *s, size_t n)
{
	uLongf bytes = compressBound(n);
	uint8_t *all = malloc(bytes);
	unsigned pages;

	if (all == NULL || compress2(all, &bytes, (const Bytef *)s, n,
			       Z_BEST_COMPRESSION) != Z_OK)
		return false;
	pages = (unsigned)((bytes + PART - 1) / PART);
	for (unsigned i = 0; i < pages; i++) {
		if (!show_code(all, bytes, i, pages))
			return false;
	}
	return true;
}

int
main(int argc, char **argv)
{
	char *text = malloc(KEPT_BYTES), *lines = malloc(KEPT_BYTES);
	struct kept_count count;
	long size, n;

	usage_is("", "");
	while (usage_option(argc, argv, ":", NULL) != -1)
		;
	size = syscall(BARECPC_SYS_SCREEN, BARECPC_SCREEN_TAKE);
	if (size < 0 || text == NULL || lines == NULL) {
		fprintf(
		    stderr, "pages: no %s\n", size < 0 ? "screen" : "memory");
		return 1;
	}
	width = (unsigned)(size >> 16);
	height = (unsigned)(size & 0xffff);
	rows = height / (16 * (width < 1600 ? 1 : width / 800));
	n = kept_lines(text, read_kept(text, KEPT_BYTES), lines, &count);
	if (rows < 6 || n <= 0) {
		fprintf(stderr, "pages: no records to show\n");
		return 1;
	}
	show_table(lines, (size_t)n);
	if (!show_codes(lines, (size_t)n)) {
		fprintf(stderr, "pages: no memory for QR codes\n");
		return 1;
	}
	return 0;
}
