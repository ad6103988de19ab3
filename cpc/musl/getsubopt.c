/*
 * getsubopt(3) as Solaris and glibc have it: for an unknown token, *value
 * points to the token.  musl sets it to NULL, and programs print it.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

int
getsubopt(char **option, char *const *tokens, char **value)
{
	char *start = *option, *end = strchrnul(start, ','), *equals;

	*option = end;
	if (*end != '\0') {
		*end = '\0';
		*option = end + 1;
	}
	equals = strchrnul(start, '=');
	size_t len = (size_t)(equals - start);
	for (int i = 0; tokens[i] != NULL; i++) {
		if (strncmp(tokens[i], start, len) != 0 ||
		    tokens[i][len] != '\0')
			continue;
		*value = *equals == '=' ? equals + 1 : NULL;
		return i;
	}
	*value = start;
	return -1;
}
