/*
 * The programs of the image are one ELF file of several names: they share
 * libcpc and the C library, which are most of each.  The file's name says which
 * program it is.  PROGRAMS, from payloads/objs.mk, is X(name) for each of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "payloads/common/results/json.h"

/* The program's main(), which the build has renamed. */
#define X(name) int name##_main(int argc, char **argv);
PROGRAMS
#undef X

/* The programs that answer pack before they measure: the others do nothing. */
static const char says[] = JSON_SAYS " spin triad matmul chase ";

static const struct program {
	const char *name;
	int (*main)(int argc, char **argv);
} programs[] = {
#define X(name) { #name, name##_main },
	PROGRAMS
#undef X
};

int
main(int argc, char **argv)
{
	const char *path = (const char *)getauxval(AT_EXECFN);
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	size_t n = sizeof programs / sizeof programs[0];
	const char *word = strstr(says + sizeof JSON_SAYS - 1, name);

	if (getenv(JSON_EXPECT) != NULL &&
	    (word == NULL || word[-1] != ' ' || word[strlen(name)] != ' '))
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(programs[i].name, name) == 0)
			return programs[i].main(argc, argv);
	}
	fprintf(
	    stderr, "%s: this file has no program of that name: name it", name);
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, " %s", programs[i].name);
	fputc('\n', stderr);
	return 2;
}
