/* The values of runs, and their aggregates.  Included by report.h, runs*.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

__extension__ typedef __int128 wide_t; /* a sum of int64_t */

/*
 * The raw values of one quantity, in the order of the runs.  Each is a
 * difference.  If time is the host's, noise can make it negative.
 */
struct series {
	int64_t *s_raw;
	unsigned s_n;
	/* after series_close(), of the values that it used: */
	unsigned s_used;
	int64_t s_min, s_median, s_max;
	int64_t s_upper_median; /* differs for an even number of values */
	unsigned s_negative;    /* the number of negative values */
	unsigned s_at_min;      /* how many values are s_min */
	wide_t s_sum;           /* the mean is s_sum / s_used */
	wide_t s_inner_sum;     /* the trimmed mean is s_inner_sum / s_inner */
	unsigned s_inner;
	double s_error; /* standard error of the mean */
};

/* Make room for n values.  Exits 1 without memory. */
void series_open(struct series *s, unsigned n);
void series_add(struct series *s, int64_t v);
/*
 * Compute the aggregates, without the values i for which excluded[i] is set;
 * NULL uses all.  The median of an even number of values is the lower of the
 * middle two: every number printed was observed.  The trimmed mean leaves out
 * a fifth of the values at each end, rounded down, as nanoBench does.
 */
void series_close(struct series *s, const bool *excluded);
void series_free(struct series *s);
/* The largest less the smallest, which may exceed an int64_t. */
uint64_t series_range(const struct series *s);

/*
 * value / divisor with three decimals, rounded half away from zero, by
 * integer arithmetic: the same digits on every machine.
 */
const char *ratio_text(char *buf, size_t len, wide_t value, uint64_t divisor);

/* Print the aggregates, each less the same value, as the rest of a line. */
void series_print(FILE *f, const struct series *s, int64_t less);

/* Write the values and the aggregates as they are in a record. */
void series_json(FILE *f, const struct series *s);

/* A quantity measured, and the same measured around an empty body. */
struct quantity {
	struct series q_raw, q_overhead;
};

/* The median less the overhead's median. */
int64_t quantity_net(const struct quantity *q);
/*
 * Is the range of the runs, or of the overhead, larger than the net value?
 * Then the runs do not show the effect.
 */
bool quantity_noisy(const struct quantity *q);
