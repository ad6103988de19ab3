/* The events of stat, their counts, and its files.  Included by stat*.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/cpc.h>

#include "payloads/common/meter.h"
#include "payloads/tools/child.h"

/* Events that the kernel counts, by perf's names; SOFT_NONE is the PMU's. */
enum soft {
	SOFT_NONE,
	SOFT_TASK_CLOCK,
	SOFT_SWITCHES,
	SOFT_MIGRATIONS,
	SOFT_FAULTS,
};

/* The counts of one event in all runs. */
struct counted {
	struct event cnt_event;
	enum soft cnt_soft;
	unsigned cnt_group; /* not 0: counted in the same runs as its group */
	unsigned cnt_place; /* on the command line */
	struct series
	    cnt_count; /* if empty, cnt_status and cnt_reason say why */
	/* The runs used: time that threads counted it, and elapsed time. */
	int64_t cnt_ns, cnt_elapsed;
	/* Its only run: looks for Ctrl-C, which cut it or not. */
	struct child_keys cnt_keys;
	unsigned cnt_spoiled;  /* runs without the whole count, and... */
	const char *cnt_spoil; /* ...why */
	enum status cnt_status;
	char *cnt_reason;
	struct share {
		uint64_t shr_count;
		int64_t shr_ns; /* how long it was counted */
	} * cnt_thread;         /* with --per-thread: of each */
};

/* The runs of one group of events. */
struct group {
	struct counted *grp_event;
	unsigned grp_n;
	bool grp_reference; /* counted before the events */
	bool grp_soft;      /* the kernel's events are counted, too */
	struct runs grp_runs;
	bool *grp_left_out; /* runs that no aggregate includes */
	int64_t *grp_ns;    /* how long each run took, and... */
	int64_t *grp_task;  /* ...had its threads on CPUs, in ns */
};

/* How many counts of the set come before those of the group's events. */
static inline unsigned
grp_skip(const struct group *g)
{
	return g->grp_reference ? 1 : 0;
}

/* Is the event counted in the runs of this group? */
bool is_of_group(const struct counted *c, const struct group *g);

/* A thread of the program: the nth that was made, in the runs of each group. */
struct thread {
	char thr_name[64]; /* of its program */
	uint32_t thr_tid;  /* in the first run */
};

extern struct statistics {
	int argc; /* of stat itself */
	char **argv;
	struct counted *all; /* first the PMU's events, then the kernel's */
	struct counted **by_place; /* as the command line has them */
	unsigned nevent, nhard, room, ngroup, runs;
	const char *separator;
	unsigned timeout;  /* of a run, in ms, or 0 */
	uint64_t interval; /* of -I, or 0 */
	bool json, aggregates, undisturbed, per_thread, interrupted;
	struct child_keys keys; /* of the last run */
	char **program;
	struct meter meter;
	struct event reference;
	uint64_t least, most; /* of the reference */
	unsigned reference_runs;
	struct series ns; /* how long a run takes */
	bool *left_out;   /* runs of ns that are excluded */
	struct thread *threads;
	unsigned nthread;
	FILE *out;   /* of the results */
	FILE *notes; /* lines about disturbed runs */
	char *notes_text;
	size_t notes_bytes;
	unsigned left; /* most LWPs that outlived the program in a run */
	int status;    /* the program's */
} st;

/* stat_events.c: events of the command line, and perf's lists. */
void add_events(const char *list);
void add_detailed(unsigned level);
/* Put the kernel's events after the PMU's. */
void part_events(void);

/* stat_run.c: run the program once, and add its counts. */
void run_once(struct group *g);
/* Run the program to its end without counting.  Returns ns. */
int64_t run_program(int fd);

/* stat_rows.c: the rows of a profile, for --per-thread and -I. */
bool rows_wanted(void);
/*
 * Read the rows of a run that began at this time, in ns.  Adds their counts,
 * the reference's included, to count[], and prints those of -I.
 */
void rows_take(int fd, const struct group *g, int64_t begin, uint64_t *count);

/* stat_soft.c: the kernel's events. */
enum soft soft_find(const char *name);
const char *soft_nearest(const char *name, unsigned *best);
uint64_t soft_value(enum soft s, const struct cpc_profile_usage *is);

/*
 * stat_metric.c: a number made of the event's mean and another's.  Returns its
 * unit, or NULL without one.
 */
const char *metric_of(const struct counted *c, double *value);
double mean_of(const struct series *s);

/* stat_record.c: leave a record of the event; runs and ns may be NULL. */
void leave_record(
    const struct counted *c, const struct runs *runs, const struct series *ns);

/* stat_print.c: print all results, in the form of -x, -j or neither. */
void print_all(void);
/* Print a value of an event, of one thread or interval. */
struct part {
	const struct thread *prt_thread; /* or NULL */
	int64_t prt_end;                 /* of the interval, in ns */
	int64_t prt_ns;                  /* how long it was counted */
};
void print_part(const struct counted *c, const struct part *pa, double value);
/* The event's name as it is printed. */
const char *event_text(char *buf, size_t size, const struct counted *c);
