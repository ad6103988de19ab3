/*
 * Descriptions are sequences of words, which are numbered by how often they
 * are used: the first 127 are a byte, the others two.
 */
#include "scripts/tables/tables.h"

#include <err.h>

#define ONE_BYTE 127

static struct word {
	char *w_text;
	unsigned w_used;
} words[4096];
static unsigned nwords;

static unsigned
word_find(const char *text, size_t len)
{
	unsigned i;

	for (i = 0; i < nwords; i++) {
		if (strncmp(words[i].w_text, text, len) == 0 &&
		    words[i].w_text[len] == '\0')
			return i;
	}
	if (nwords == LENGTH(words))
		errx(1, "words: more than %zu", LENGTH(words));
	words[nwords].w_text = strndup(text, len);
	return nwords++;
}

/* The length of the next word of *desc, or 0: none left. */
static size_t
word_next(const char **desc)
{
	*desc += strspn(*desc, " ");
	return strcspn(*desc, " ");
}

void
desc_count(const char *desc)
{
	size_t len;

	for (; (len = word_next(&desc)) > 0; desc += len)
		words[word_find(desc, len)].w_used++;
}

static int
by_use(const void *a, const void *b)
{
	const struct word *x = a, *y = b;

	if (x->w_used != y->w_used)
		return x->w_used < y->w_used ? 1 : -1;
	return strcmp(x->w_text, y->w_text);
}

void
words_number(void)
{
	uint16_t at;

	qsort(words, nwords, sizeof words[0], by_use);
	for (unsigned i = 0; i < nwords; i++) {
		at = (uint16_t)pool_add(SECTION_WORDS, words[i].w_text,
		    (unsigned)strlen(words[i].w_text) + 1);
		pool_add(SECTION_WORDAT, &at, 1);
	}
}

uint16_t
desc_add(const char *desc)
{
	uint8_t code[2048];
	unsigned n = 0, w;
	size_t len;

	for (; (len = word_next(&desc)) > 0; desc += len) {
		if (n + 3 > sizeof code)
			errx(1, "a description is too long: %s", desc);
		w = word_find(desc, len);
		if (w >= ONE_BYTE)
			code[n++] = (uint8_t)(0x80 | w >> 8);
		code[n++] = (uint8_t)(w >= ONE_BYTE ? w : w + 1);
	}
	code[n++] = 0;
	return (uint16_t)pool_find(SECTION_DESCS, code, n);
}
