/*
 * Results for people (report.c: rows of a table on stdout) and for programs
 * (report_json.c: one JSON line each on /dev/record; docs/records.md
 * describes them).  Included by the benchmarks and by meter.h.
 */
#ifndef PAYLOADS_COMMON_REPORT_H
#define PAYLOADS_COMMON_REPORT_H

#include "payloads/common/options.h"

#include <libcpc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* perf's three words: a number, or one of two reasons for having none. */
enum status {
	COUNTED,
	NOT_SUPPORTED, /* this machine cannot count it */
	NOT_COUNTED,   /* it can, but did not this time */
};

extern const char *const status_words[]; /* "not supported" */

/*
 * The raw values of one quantity, in the order of the runs.  Each is a
 * difference.  If time is the host's, noise can make it negative.
 */
struct series {
	int64_t *s_raw;
	unsigned s_n;
	/* after series_close(): */
	int64_t s_min, s_median, s_max;
	unsigned s_negative; /* the number of negative values */
};

/* Make room for n values.  Exits 1 without memory. */
void series_open(struct series *s, unsigned n);
void series_add(struct series *s, int64_t v);
/*
 * Compute the aggregates.  The median of an even number of values is the
 * lower of the middle two: every number printed was observed.
 */
void series_close(struct series *s);
void series_free(struct series *s);
/* The largest less the smallest, which may exceed an int64_t. */
uint64_t series_range(const struct series *s);

/* A quantity measured, and the same measured around an empty body. */
struct quantity {
	struct series q_raw;
	struct series q_overhead;
};

/* The median less the overhead's median. */
int64_t quantity_net(const struct quantity *q);

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
	bool r_verified;
};

/*
 * Print one row, with the titles before the first, and write one record.  A
 * reason is printed once, after its first row.
 */
void report_result(const struct options *o, const struct result *r);
/* Write only the record. */
void report_record(const struct options *o, const struct result *r);

/* The event as the command line would name it: "PAPI_tot_ins:uk". */
#define REPORT_EVENT (CPC_MAX_EVENT_LEN + 4)
const char *report_event(char *buf, size_t len, const struct event *e);

/*
 * value / divisor with three decimals, rounded half away from zero, by
 * integer arithmetic: the same digits on every machine.
 */
const char *report_ratio(
    char *buf, size_t len, int64_t value, uint64_t divisor);

/*
 * The string member `key` of /dev/machine, or NULL if it is absent.
 */
const char *report_machine(const char *key, char *buf, size_t len);

#endif /* PAYLOADS_COMMON_REPORT_H */
