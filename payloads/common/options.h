/*
 * The command line that every benchmark of payloads/ takes.  Included by the
 * benchmarks and by payloads/bench/.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MAXEVENT 32
/*
 * Measured runs of a row, at most.  Its record has all of them in one line,
 * which the kernel takes up to 256 KiB: 260 bytes a run.  A run has six numbers
 * of 12 digits, 16 small ones, and two sentences if it was disturbed.
 */
#define OPTIONS_RUNS_MAX 1000

/* One event to count, as the command line names it. */
struct event {
	const char *e_name; /* as libcpc knows it */
	unsigned e_flags;   /* CPC_COUNT_USER, CPC_COUNT_SYSTEM; modifiers
	                       in the name override them */
	int e_pic;          /* the PIC it is pinned to, or -1 */
};

struct options {
	int o_argc;
	char **o_argv;      /* all of it, unchanged, for the record */
	bool o_titles;      /* false: -n, no column titles */
	bool o_aggregates;  /* print all aggregates of each row */
	bool o_undisturbed; /* exclude disturbed runs */
	/* of programs of kernels: */
	const char *o_filter; /* NULL: all kernels */
	uint64_t o_turns;     /* of the loop in a run */
	bool o_list;          /* only print the kernels' names */
	unsigned o_runs, o_warmups, o_nevent;
	struct event o_event[MAXEVENT];
};

/*
 * Parse the common options; the rest starts at argv[optind].  An event without
 * a suffix is counted at the payload's own privilege.  Without -e the events
 * are those of the list `events`.  The usage line shows `arguments`.  Programs
 * of kernels have more options.
 */
void options_parse(struct options *o, int argc, char **argv,
    const char *arguments, const char *events, bool kernels);

/* Add the events of a list, as -e has it. */
void options_add_events(struct options *o, const char *list);
/*
 * options_next.c: cut the next event off a list; NULL at the end.  Commas
 * separate events, except in slashes, cpu/event=0xc0,umask=1/, and in braces.
 * Blanks around an event are cut off.
 */
char *options_next(char **list);
/*
 * Parse an event as -e names it, and cut the privilege suffix off name.
 * Returns false if no name remains.
 */
bool options_event(struct event *e, char *name);
/* At system privilege no user code runs: user mode alone always reads 0. */
#define NEVER_COUNTED                                                          \
	"user mode alone is never counted at system privilege: ask for :k"
bool event_never_counts(const struct event *e);
/* CPC_COUNT_* from modifiers in a name (`:k=1:u=0`), or -1 without any. */
int options_levels(const char *name);
