/*
 * Results for people (report.c: rows of a table on stdout) and for programs
 * (report_json.c: one JSON line each on /dev/record; docs/records.md
 * describes them).  Included by the benchmarks and by meter.h.
 */
#pragma once

#include "payloads/common/options.h"
#include "payloads/common/results/runs.h"
#include "payloads/common/results/series.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* perf's three words and one more: a number, or why it is absent. */
enum status {
	COUNTED,
	NOT_SUPPORTED, /* this machine cannot count it */
	NOT_COUNTED,   /* it can, but did not this time */
	STUCK,         /* the first check has found that it stands still */
};

extern const char *const status_words[]; /* "not supported" */

struct result {
	const char *r_label; /* "spin/pic0" */
	const struct event *r_event;
	int64_t r_code; /* -1: not known */
	int r_pic;      /* -1: not known, or none */
	enum status r_status;
	const char *r_reason; /* unless r_status is COUNTED */
	bool r_machine;       /* the reason holds for every event */
	const char *r_method; /* how overhead was measured */
	uint64_t r_iterations;
	struct quantity r_count, r_tick, r_hrtime;
	const struct runs *r_runs;  /* the conditions of the values' runs */
	const struct runs *r_empty; /* and of the overhead's; NULL: no runs */
	bool r_verified;
	unsigned r_looks;            /* for Ctrl-C, during the run, and... */
	bool r_interrupted;          /* ...it came and cut the run */
	const struct series *r_cost; /* an empty region's counts, or NULL */
};

/* read_cost.c: the counts of two samples with nothing between them. */
enum read_way { READ_IN_PLACE, READ_BY_CALL, READ_WAYS };
enum read_level { READ_USER, READ_SYSTEM, READ_LEVELS };
struct read_count {
	bool rdn_known;
	int64_t rdn_min, rdn_range;
};
struct read_cost {
	const char *rdc_event; /* NULL: not measured */
	unsigned rdc_pairs;
	struct read_count rdc_count[READ_WAYS][READ_LEVELS];
};
extern struct read_cost report_read_cost;

#define STATUS_NOTHING_COUNTED 77

struct meter;
/*
 * The status to end with after all rows.  If none was counted, print why, and
 * return STATUS_NOTHING_COUNTED.  Call before the meter is closed.
 */
int report_status(const struct meter *m, bool right);

/* A row of the table: label, event, and six numbers. */
#define REPORT_ROW "%-16s %-18s %15s %13s %12s %12s %8s %8s\n"
/*
 * Print one row, with the titles before the first, and write one record.  A
 * reason is printed once, after its first row.  The lines about disturbed runs
 * wait for report_last_lines().
 */
void report_result(const struct options *o, const struct result *r);
/*
 * Write the member "errata", after a comma: the published errata that touch the
 * event on this machine.  Nothing without any.
 */
void report_errata(FILE *f, const char *event, int64_t code, int pic);
/* The result, but stuck if the program's first check counted 0. */
struct result report_believed(const struct result *r);
/* Write only the record. */
void report_record(const struct options *o, const struct result *r);
/* Print the last lines of the table: which runs were disturbed, and why. */
void report_last_lines(void);

/* The event as the command line would name it: "PAPI_tot_ins:uk". */
#define REPORT_EVENT (CPC_MAX_EVENT_LEN + 4)
const char *report_event(char *buf, size_t len, const struct event *e);

/* The string member `key` of /dev/machine, or NULL if it is absent. */
const char *report_machine(const char *key, char *buf, size_t len);
/* Print the machine's names, and that `what` has the payload's privilege. */
void report_names(const char *what);
/* Is this an emulator?  Then print to f, unless it is NULL, what is a model. */
bool report_emulated(FILE *f);
/* Its member `tick_hz`, or 0 if it is absent. */
uint64_t report_tick_hz(void);
