/* Which runs were disturbed, and why.  Included by report.h and by runs*.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/barecpc.h>

/* The things counted around a run: indices of cn_count[]. */
enum condition_kind {
	COND_INTERRUPTS,
	COND_NMIS,
	COND_SMIS,
	COND_THROTTLES, /* these three are 0 if nothing disturbs */
	COND_ERRORS,
	COND_SETTINGS,
	COND_KERNEL, /* what the kernel's privilege counted in the run */
	COND_N
};
extern const char *const condition_words[COND_N]; /* members of a record */

#define COND_UNKNOWN (-1)

/* The conditions of one run. */
struct condition {
	int64_t cn_count[COND_N]; /* COND_UNKNOWN: this machine cannot say */
	bool cn_moved;            /* from one CPU to another */
	bool cn_ratio_differs;    /* set by runs_judge() */
	int64_t cn_tick, cn_hrtime;
	bool cn_rate_differs;       /* set by runs_judge() */
	int64_t cn_aperf, cn_mperf; /* 0: this machine cannot say */
};

/* Add the conditions of a second run.  Unknown and known make unknown. */
void condition_add(struct condition *to, const struct condition *c);
/*
 * Set the counts to those between two calls of payload_interrupts().  `before`
 * is NULL if the kernel cannot say.
 */
void condition_between(struct condition *c,
    const struct barecpc_interrupts *before,
    const struct barecpc_interrupts *after);

/*
 * Runs of one kind, in order.  A run is disturbed if one of its counts is not
 * the one that most runs have, or if it moved.  It is also disturbed if a ratio
 * is more than 1 % off the median: hrtime to tick, or APERF to MPERF.
 */
struct runs {
	struct condition *rn_run;
	unsigned rn_n;
	/* after runs_judge(): */
	struct condition rn_usual; /* what the others have */
	bool *rn_disturbed;
	unsigned rn_ndisturbed;
	bool *rn_excluded;     /* NULL: no run is */
	unsigned rn_nexcluded; /* how many runs the aggregates leave out */
};

/* Make room for n runs.  Exits 1 without memory. */
void runs_open(struct runs *rn, unsigned n);
void runs_add(struct runs *rn, const struct condition *c);
/*
 * Find the disturbed runs.  Excludes them if asked to, unless all are. hrtime's
 * clock runs at tick_hz.  If that is 0, the ratio is not judged.  `empty` has
 * the runs of nothing, already judged, or is rn itself; NULL: there are none.
 */
void runs_judge(
    struct runs *rn, const struct runs *empty, bool exclude, uint64_t tick_hz);
void runs_free(struct runs *rn);

/* Does any event of this kind disturb, even if every run has one? */
bool runs_always_wrong(enum condition_kind k);
/* After runs_judge(): is this count of run i a reason? */
bool runs_count_differs(
    const struct runs *rn, unsigned i, enum condition_kind k);

/* runs_text.c: the nth reason why run i was disturbed; NULL after the last. */
const char *runs_reason(
    char *buf, size_t len, const struct runs *rn, unsigned i, unsigned n);

/*
 * Print a line for each disturbed run, ten at most, and one that says how many
 * there are and whether they are excluded.  Each starts with `start`.
 */
void runs_print(FILE *f, const char *start, const char *row, const char *what,
    const struct runs *rn);
