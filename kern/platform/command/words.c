/*
 * Decides whether a word of the command line is barecpc's, and suggests a
 * correction for a misspelt one.
 */
#include "kern/platform/command/words.h"

#include <stdbool.h>

#include "events/nearer.h"
#include "lib/string.h"

/* The number of letters before `=` or `.`, or all of them. */
static size_t
name_length(const char *word, size_t len)
{
	size_t n = 0;

	while (n < len && word[n] != '=' && word[n] != '.')
		n++;
	return n;
}

static bool
is_word(const char *word, size_t len, const char *is)
{
	return len == strlen(is) && memcmp(word, is, len) == 0;
}

enum word_kind
word_kind(const char *word, size_t len, const char **meant, size_t *meant_len)
{
	size_t n = name_length(word, len), each;
	unsigned best = event_near(n) + 1, d;

	*meant = NULL;
	*meant_len = 0;
	/* The old name of output=.  Linux uses console= for something else. */
	if (is_word(word, len, "console=text") ||
	    is_word(word, len, "console=framed"))
		return WORD_OURS;
	if (is_word(word, len, "quiet")) /* without a value: Linux's */
		return WORD_FOREIGN;
	if (n == 0 || n > EVENT_LETTERS)
		return WORD_FOREIGN;
	for (const char *k = WORDS_KNOWN; *k != '\0'; k += each + 1) {
		const char *end = strchr(k, ' ');
		char name[EVENT_LETTERS + 1];

		each = end != NULL ? (size_t)(end - k) : strlen(k);
		size_t letters = name_length(k, each);
		/* The character that ends the name must match too. */
		if (len > n && letters == n && memcmp(word, k, n + 1) == 0)
			return WORD_OURS;
		memcpy(name, k, letters);
		name[letters] = '\0';
		if ((d = event_distance(word, n, name)) < best) {
			best = d;
			*meant = k;
			*meant_len = each;
		}
		if (end == NULL)
			break;
	}
	return *meant != NULL ? WORD_MISSPELT : WORD_FOREIGN;
}
