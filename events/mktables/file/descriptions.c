/*
 * Descriptions as sequences of words.  Words are numbered by how often they
 * are used: each of the first 127 takes one byte, the others take two.
 * events_describe() reads them.
 */
#define _GNU_SOURCE /* hsearch_r(), memmem() */
#include "events/mktables/file/descriptions.h"

#include <err.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/events.h"

#define ONE_BYTE  127
#define MAX_WORDS 0x7fff
#define MAX_BYTES 0x10000 /* offsets have 16 bits */
#define MAX_LINES 0x10000

struct word {
	const char *text;
	unsigned used;
	unsigned number;
};

static struct hsearch_data lines; /* "PMU\tEVENT\tUMASK": its description */
static struct hsearch_data word_index;
static struct word words[MAX_WORDS];
static unsigned nwords;

static const char *
find_line(const char *pmu, const char *event, const char *umask)
{
	char key[256];
	ENTRY *found;

	snprintf(key, sizeof key, "%s\t%s\t%s", pmu, event, umask);
	return hsearch_r((ENTRY){ .key = key }, FIND, &found, &lines) != 0
	           ? found->data
	           : NULL;
}

static void
read_lines(const char *file)
{
	FILE *f = fopen(file, "r");
	char *line = NULL, *end;
	size_t size = 0;
	ENTRY *entered;

	if (f == NULL || hcreate_r(MAX_LINES, &lines) == 0)
		err(1, "%s", file);
	while (getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if ((end = strrchr(line, '\t')) == NULL)
			errx(1, "%s: not a description: %s", file, line);
		*end = '\0';
		if (hsearch_r((ENTRY){ strdup(line), strdup(end + 1) }, ENTER,
			&entered, &lines) == 0)
			err(1, "%s", file);
	}
	free(line);
	fclose(f);
}

/* Find the descriptions of an event and of its unit masks on one PMU. */
static void
find_row(const struct event_db *db, const struct event_pmu *ep,
    const struct event_row *row, const char **text)
{
	struct events es = { db, ep };
	const struct event_umask *um;
	const char *event = events_text(&es, row->er_name);

	text[0] = find_line(ep->ep_name, event, "");
	for (unsigned n = 0; n < row->er_nlist; n++) {
		if ((um = events_umask(&es, row, n)) != NULL)
			text[n + 1] = find_line(
			    ep->ep_name, event, events_text(&es, um->um_name));
	}
}

/* Find all descriptions; first[n] is where row n has its own in text. */
static void
find_all(const struct event_db *db, const uint16_t *first, const char **text)
{
	const struct event_pmu *ep = db->ed_at[SECTION_PMUS];
	const struct event_row *rows = db->ed_at[SECTION_ROWS];
	size_t npmu = db->ed_bytes[SECTION_PMUS] / sizeof *ep;

	for (size_t p = 0; p < npmu; p++) {
		for (unsigned n = 0; n < ep[p].ep_nrow; n++) {
			unsigned row = ep[p].ep_first + n;

			if ((rows[row].er_models & ep[p].ep_model) != 0)
				find_row(
				    db, &ep[p], &rows[row], &text[first[row]]);
		}
	}
}

/* The next word of *text, allocated, or NULL past the last. */
static char *
next_word(const char **text)
{
	size_t len;

	*text += strspn(*text, " ");
	if ((len = strcspn(*text, " ")) == 0)
		return NULL;
	*text += len;
	return strndup(*text - len, len);
}

static struct word *
find_word(char *text)
{
	ENTRY *entry;

	if (hsearch_r((ENTRY){ .key = text }, FIND, &entry, &word_index) != 0) {
		free(text);
		return entry->data;
	}
	if (nwords == MAX_WORDS)
		errx(1, "more than %u words", MAX_WORDS);
	words[nwords].text = text;
	if (hsearch_r((ENTRY){ text, &words[nwords] }, ENTER, &entry,
		&word_index) == 0)
		err(1, "%s", text);
	return &words[nwords++];
}

static int
by_use(const void *a, const void *b)
{
	const struct word *x = *(struct word *const *)a;
	const struct word *y = *(struct word *const *)b;

	return x->used != y->used ? (x->used < y->used ? 1 : -1)
	                          : strcmp(x->text, y->text);
}

static void
set_section(
    struct event_db *db, enum event_section s, const void *at, size_t bytes)
{
	db->ed_at[s] = at;
	db->ed_bytes[s] = (uint32_t)bytes;
}

static void *
allocate(size_t n, size_t size)
{
	void *at = calloc(n, size);

	if (at == NULL)
		err(1, NULL);
	return at;
}

/* Number the words, and add the sections that hold them. */
static void
add_words(struct event_db *db)
{
	struct word **order = allocate(nwords, sizeof *order);
	uint16_t *word_at = allocate(nwords, sizeof *word_at);
	char *text = allocate(MAX_BYTES, 1);
	size_t at = 0, len;

	for (unsigned i = 0; i < nwords; i++)
		order[i] = &words[i];
	qsort(order, nwords, sizeof order[0], by_use);
	for (unsigned i = 0; i < nwords; i++) {
		order[i]->number = i;
		len = strlen(order[i]->text) + 1;
		if (at + len > MAX_BYTES)
			errx(1, "words take more than %u bytes", MAX_BYTES);
		word_at[i] = (uint16_t)at;
		memcpy(text + at, order[i]->text, len);
		at += len;
	}
	set_section(db, SECTION_WORDS, text, at);
	set_section(db, SECTION_WORDAT, word_at, nwords * sizeof *word_at);
	free(order);
}

/* The numbers of a description's words; returns their bytes. */
static size_t
encode_words(const char *desc, uint8_t code[2048])
{
	unsigned number;
	size_t n = 0;
	char *text;

	while ((text = next_word(&desc)) != NULL) {
		if (n + 3 > 2048)
			errx(1, "a description is too long: ... %s", desc);
		number = find_word(text)->number;
		if (number >= ONE_BYTE)
			code[n++] = (uint8_t)(0x80 | number >> 8);
		code[n++] = (uint8_t)(number >= ONE_BYTE ? number : number + 1);
	}
	code[n++] = 0;
	return n;
}

/* Add the sections that hold descriptions, each of which is there once. */
static void
add_texts(struct event_db *db, const char *const *text, size_t ntext)
{
	uint16_t *at = allocate(ntext, sizeof *at);
	uint8_t *descs = allocate(MAX_BYTES, 1), code[2048], *same;
	size_t end = 1, bytes; /* offset 0: none */

	for (size_t i = 0; i < ntext; i++) {
		if (text[i] == NULL)
			continue;
		bytes = encode_words(text[i], code);
		if ((same = memmem(descs, end, code, bytes)) == NULL) {
			if (end + bytes > MAX_BYTES)
				errx(1, "descriptions take more than %u bytes",
				    MAX_BYTES);
			same = memcpy(descs + end, code, bytes);
			end += bytes;
		}
		at[i] = (uint16_t)(same - descs);
	}
	set_section(db, SECTION_DESCAT, at, ntext * sizeof *at);
	set_section(db, SECTION_DESCS, descs, end);
}

void
descriptions_add(struct event_db *db, const char *file)
{
	const struct event_row *rows = db->ed_at[SECTION_ROWS];
	size_t nrow = db->ed_bytes[SECTION_ROWS] / sizeof *rows, ntext = 0;
	uint16_t *first = allocate(nrow, sizeof *first);
	const char **text, *desc;
	char *word;

	for (size_t n = 0; n < nrow; n++) {
		first[n] = (uint16_t)ntext;
		ntext += 1U + rows[n].er_nlist;
	}
	if (ntext > UINT16_MAX)
		errx(1, "more than %u events and unit masks", UINT16_MAX);
	text = allocate(ntext, sizeof *text);
	read_lines(file);
	find_all(db, first, text);
	if (hcreate_r(2 * MAX_WORDS, &word_index) == 0)
		err(1, NULL);
	for (size_t i = 0; i < ntext; i++) {
		desc = text[i] != NULL ? text[i] : "";
		while ((word = next_word(&desc)) != NULL)
			find_word(word)->used++;
	}
	if (nwords == 0)
		return;
	add_words(db);
	add_texts(db, text, ntext);
	set_section(db, SECTION_DESCFIRST, first, nrow * sizeof *first);
}
