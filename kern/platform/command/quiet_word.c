/*
 * Parses the word quiet= of the command line.
 */
#include "kern/platform/command/quiet_word.h"

#include <stddef.h>

#include "lib/string.h"

const char *const quiet_names[QUIET_N] = {
	[QUIET_FREQ] = "freq",
	[QUIET_TURBO] = "turbo",
	[QUIET_CSTATES] = "cstates",
	[QUIET_PREFETCH] = "prefetch",
	[QUIET_SMM] = "smm",
};

bool
quiet_parse(const char *v, unsigned *items)
{
	*items = 0;
	if (strcmp(v, "all") == 0 || strcmp(v, "none") == 0) {
		*items = *v == 'a' ? QUIET_ALL : QUIET_NONE;
		return true;
	}
	for (;;) {
		const char *comma = strchr(v, ',');
		size_t n = comma != NULL ? (size_t)(comma - v) : strlen(v);
		unsigned i = 0;

		while (i < QUIET_N && (strlen(quiet_names[i]) != n ||
					  memcmp(v, quiet_names[i], n) != 0))
			i++;
		if (i == QUIET_N)
			return false;
		*items |= 1U << i;
		if (comma == NULL)
			return true;
		v = comma + 1;
	}
}
