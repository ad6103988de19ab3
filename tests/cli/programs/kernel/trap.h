/* The cases of trap_arm64.c and trap_x86_64.c: a name and its function. */
#pragma once

#include <stdio.h>
#include <string.h>

struct trap_case {
	const char *name;
	int (*fn)(void);
};
/* A row of the table, from a row of the list TRAPS. */
#define CASE(function, code) { #function, function },

static int
do_nothing(void)
{
	puts("alive");
	return 0;
}

static int
run_case(int argc, char **argv, const struct trap_case *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (argc == 2 && strcmp(argv[1], c[i].name) == 0)
			return c[i].fn();
	return 2;
}
