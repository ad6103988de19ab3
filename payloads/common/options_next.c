/*
 * Splits a list of events.  It is a separate file because fits on the build
 * machine cannot link the other options.
 */
#include "payloads/common/options.h"

#include <stddef.h>
#include <string.h>

#define BLANKS " \t\n"

char *
options_next(char **list)
{
	char *name = *list, *s;
	bool raw = false, group = false;

	if (name == NULL)
		return NULL;
	name += strspn(name, BLANKS);
	for (s = name; *s != '\0' && (raw || group || *s != ','); s++) {
		raw ^= *s == '/';
		group = *s == '{' || (group && *s != '}');
	}
	*list = *s == ',' ? s + 1 : NULL;
	*s = '\0';
	while (s > name && strchr(BLANKS, s[-1]) != NULL)
		*--s = '\0';
	return name;
}
