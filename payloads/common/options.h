/*
 * The command line that every benchmark of payloads/ takes.  Included by the
 * benchmarks and by measure.c.
 */
#ifndef PAYLOADS_COMMON_OPTIONS_H
#define PAYLOADS_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define MAXEVENT 32

/* One event to count, as the command line names it. */
struct event {
	const char *e_name; /* as libcpc knows it */
	unsigned e_flags;   /* CPC_COUNT_USER, CPC_COUNT_SYSTEM; a name that
	                       says it itself goes before */
	int e_pic;          /* the PIC it is pinned to, or -1 */
};

struct options {
	int o_argc;
	char **o_argv; /* all of it, unchanged, for the record */
	bool o_titles; /* false: -n, no column titles */
	unsigned o_runs, o_warmups;
	unsigned o_nevent;
	struct event o_event[MAXEVENT];
};

/*
 * Take the common options; what is left starts at argv[optind].  An event
 * without a suffix is counted at the payload's own privilege; without -e the
 * events are those of the list `events`.  `arguments` are the payload's own,
 * for the usage line.
 */
void options_parse(struct options *o, int argc, char **argv,
    const char *arguments, const char *events);

/*
 * options_next.c: the next of a list of events, cut off it, or NULL.  Commas
 * part them, but not those within slashes, cpu/event=0xc0,umask=1/, or braces.
 */
char *options_next(char **list);
/*
 * An event as -e names it; name is cut where it says at which levels.  False
 * where it has none.
 */
bool options_event(struct event *e, char *name);
/*
 * No user code runs where programs have system privilege, so a request for user
 * mode alone would read 0 whatever the program does.
 */
#define NEVER_COUNTED                                                          \
	"user mode alone is never counted at system privilege: ask for :k"
bool event_never_counts(const struct event *e);
/* CPC_COUNT_*, as modifiers within a name say (`:k=1:u=0`); -1: none does. */
int options_levels(const char *name);

#endif /* PAYLOADS_COMMON_OPTIONS_H */
