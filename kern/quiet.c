/*
 * The word quiet=: has each CPU's clock held still by arch_quiet(), and says
 * what was done and what the CPUs do not allow.
 */
#include "kern/main.h"

#include <stdbool.h>
#include <stddef.h>

#include "kern/arch.h"
#include "kern/platform/command/quiet_word.h"
#include "kern/sched/cpu.h"
#include "kern/sched/klock.h"
#include "kern/sched/xcall.h"
#include "lib/printf.h"
#include "lib/text.h"

/* The outcome of each item: done on so many CPUs, and what the last said. */
static struct {
	unsigned items, done[QUIET_N];
	const char *said[QUIET_N], *refused[QUIET_N];
} quiet;

static void
start_here(void *)
{
	const char *said;

	for (unsigned i = 0; i < QUIET_N; i++) {
		if ((quiet.items >> i & 1) == 0)
			continue;
		if (arch_quiet(i, &said)) {
			quiet.done[i]++;
			quiet.said[i] = said;
		} else {
			quiet.refused[i] = said;
		}
	}
	arch_quiet_done();
}

static void
end_here(void *)
{
	arch_quiet_end();
}

static void
on_each_cpu(void (*fn)(void *))
{
	for (unsigned i = 0; i < ncpu; i++) {
		if (&cpus[i] == arch_curcpu())
			fn(NULL);
		else if (cpus[i].c_online)
			xcall(&cpus[i], fn, NULL);
	}
}

/* The text of an item; *done: on all CPUs. */
static const char *
outcome(unsigned i, bool *done)
{
	*done = quiet.refused[i] == NULL;
	return *done ? quiet.said[i] : quiet.refused[i];
}

void
quiet_start(unsigned items, bool suite)
{
	const char *join = ":";
	bool done;

	if (items == 0 && suite && arch_quiet_suite()) {
		items = QUIET_ALL;
		printf("quiet: all is the suite's default on bare hardware: "
		       "quiet=none leaves the clock as it is\n");
	}
	if ((quiet.items = items & QUIET_ALL) == 0)
		return;
	kernel_lock(); /* for xcall() */
	on_each_cpu(start_here);
	kernel_unlock();
	printf("quiet");
	for (unsigned i = 0; i < QUIET_N; i++) {
		if ((items >> i & 1) == 0)
			continue;
		const char *text = outcome(i, &done);
		printf("%s %s%s (%s)", join, quiet_names[i],
		    done                 ? ""
		    : quiet.done[i] == 0 ? " not"
					 : " not on all CPUs",
		    text);
		join = ",";
	}
	printf("\n");
}

void
quiet_end(void)
{
	unsigned any = 0;

	for (unsigned i = 0; i < QUIET_N; i++)
		any += quiet.done[i];
	if (any == 0)
		return;
	on_each_cpu(end_here);
	printf("quiet: restored\n");
}

void
quiet_describe(struct text *t)
{
	const char *join = "";
	bool done;

	if (quiet.items == 0)
		return;
	text_add(t, "\"quiet\":{");
	for (unsigned i = 0; i < QUIET_N; i++) {
		if ((quiet.items >> i & 1) == 0)
			continue;
		const char *text = outcome(i, &done);
		text_add(t, "%s\"%s\":{\"done\":%s,\"how\":", join,
		    quiet_names[i], done ? "true" : "false");
		text_add_string(t, text);
		text_add(t, "}");
		join = ",";
	}
	text_add(t, "},");
}
