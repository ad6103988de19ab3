/*
 * The results of stat, and their printing.  Included by stat.c and
 * stat_print.c.
 */
#ifndef PAYLOADS_TOOLS_STAT_H
#define PAYLOADS_TOOLS_STAT_H

#include <stdbool.h>
#include <stdint.h>

#include "payloads/common/meter.h"

/* A mean and the squares about it, as Welford takes them. */
struct mean {
	unsigned mn_n;
	double mn_mean, mn_squares;
};

/* The counts of one event in all runs. */
struct counted {
	struct event cnt_event;
	unsigned cnt_group;    /* those of one number are, in the same runs */
	struct mean cnt_count; /* of none: cnt_status and cnt_reason say why */
	int64_t cnt_ns;        /* how long it was counted, all runs */
	unsigned cnt_revoked;  /* runs in which it was not */
	enum status cnt_status;
	char *cnt_reason;
};

extern struct statistics {
	struct counted *all;
	unsigned nevent, room, ngroup, runs;
	const char *separator;
	unsigned timeout; /* of a run, in ms; 0: none */
	bool json;
	char **program;
	struct meter meter;
	struct event reference;
	uint64_t least, most; /* of the reference */
	unsigned reference_runs;
	struct mean ns; /* how long a run takes */
	unsigned left;  /* LWPs that outlived the program, at most */
	int status;     /* the program's */
} st;

/* stat_print.c: all of it, on stderr, in the form that was asked for. */
void print_all(void);

#endif /* PAYLOADS_TOOLS_STAT_H */
