/*
 * For tests/cli/kernel/exceptions.py: raises an exception in the kernel.
 *
 *	provoke CODE@ADDRESS... call|sleep|spin|write|nmi
 *
 * Runs at system privilege.  It replaces the kernel's instructions at each
 * address (hexadecimal) by the code of that name.  Then it makes the kernel
 * come there.
 */
#include "provoke.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const struct timespec moment = { .tv_nsec = 5000000 };

static int
replace(const char *word)
{
	const char *at = strchr(word, '@');

	for (const struct code *c = codes; at != NULL && c->name != NULL; c++) {
		if (strlen(c->name) != (size_t)(at - word) ||
		    strncmp(c->name, word, strlen(c->name)) != 0)
			continue;
		if (c->prepare != NULL)
			c->prepare();
		poke(strtoull(at + 1, NULL, 16), c->start,
		    (uintptr_t)(c->end - c->start));
		return 0;
	}
	fprintf(stderr, "provoke: %s: not CODE@ADDRESS\n", word);
	return -1;
}

static void
spin(void)
{
	const struct itimerval soon = { .it_value.tv_usec = 5000 };

	setitimer(ITIMER_REAL, &soon, NULL);
	for (;;)
		__asm__ volatile("");
}

int
main(int argc, char **argv)
{
	const char *then = argv[argc - 1];

	/* Before the console's code may change. */
	if (strcmp(then, "write") != 0)
		puts("ready");
	fflush(stdout);
	for (int i = 1; i < argc - 1; i++) {
		if (replace(argv[i]) != 0)
			return 2;
	}
	if (strcmp(then, "call") == 0)
		getpid();
	else if (strcmp(then, "sleep") == 0)
		nanosleep(&moment, NULL);
	else if (strcmp(then, "spin") == 0)
		spin();
	else if (strcmp(then, "nmi") == 0)
		interrupt_self();
	else
		puts("written");
	return 0;
}
