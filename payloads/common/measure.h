/*
 * Measurements of a benchmark: runs of one piece of work under a meter, and of
 * an empty body under the same meter.  Included by the benchmarks.
 */
#ifndef PAYLOADS_COMMON_MEASURE_H
#define PAYLOADS_COMMON_MEASURE_H

#include "payloads/common/meter.h"
#include "payloads/common/options.h"

#include <stdbool.h>
#include <stdint.h>

/* A piece of work whose result can be checked. */
struct work {
	const char *w_label;    /* "triad/4096" */
	void (*w_body)(void *); /* what is counted */
	void *w_arg;
	uint64_t w_iterations;    /* of the inner loop, in one run */
	bool (*w_verify)(void *); /* called after every run; is it right? */
};

/*
 * Count the work for every event of the command line, print its rows and
 * write its records.  Returns false if a result was wrong.  Ends the payload
 * with status 1 if a bound set cannot be sampled.
 */
bool measure(const struct options *o, struct meter *m, const struct work *w);

/*
 * The main() of a benchmark whose arguments are sizes.  Calls one(o, m, size)
 * for each argument, or for each of the NULL-ended defaults.  one() returns
 * the result of measure().  Returns the exit status.
 */
struct sizes {
	const char *sz_what; /* "elements": the unit, as usage and errors say */
	uint64_t sz_min, sz_max;
	const char *const *sz_defaults;
	bool (*sz_one)(const struct options *o, struct meter *m, uint64_t size);
};
int measure_sizes(int argc, char **argv, const struct sizes *sz);

#endif /* PAYLOADS_COMMON_MEASURE_H */
