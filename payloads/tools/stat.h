/*
 * The results of stat, and their printing.  Included by stat.c and
 * stat_print.c.
 */
#ifndef PAYLOADS_TOOLS_STAT_H
#define PAYLOADS_TOOLS_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "payloads/common/meter.h"

/* The counts of one event in all runs. */
struct counted {
	struct event cnt_event;
	unsigned cnt_group; /* not 0: counted in the same runs as its group */
	struct series
	    cnt_count;        /* if empty, cnt_status and cnt_reason say why */
	int64_t cnt_ns;       /* how long it was counted, in all runs used */
	unsigned cnt_revoked; /* runs that lost the count to a CPU's set */
	enum status cnt_status;
	char *cnt_reason;
};

extern struct statistics {
	struct counted *all;
	unsigned nevent, room, ngroup, runs;
	const char *separator;
	unsigned timeout; /* of a run, in ms, or 0 */
	bool json, aggregates, undisturbed;
	char **program;
	struct meter meter;
	struct event reference;
	uint64_t least, most; /* of the reference */
	unsigned reference_runs;
	struct series ns; /* how long a run takes */
	bool *left_out;   /* runs of ns that are excluded */
	FILE *notes;      /* lines about disturbed runs */
	char *notes_text;
	size_t notes_bytes;
	unsigned left; /* most LWPs that outlived the program in a run */
	int status;    /* the program's */
} st;

/* stat_print.c: print all results to stderr, in the form of -x, -j or neither.
 */
void print_all(void);

#endif /* PAYLOADS_TOOLS_STAT_H */
