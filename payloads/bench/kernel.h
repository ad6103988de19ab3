/* Kernels and their argument lists.  Included by the files of this folder. */
#pragma once

#include <bench.h>

#include "payloads/common/meter.h"
#include "payloads/common/options.h"

#define MAXARGS    8   /* of one list */
#define LABEL_SIZE 160 /* name, arguments, and slashes */

/* The arguments of one instance of a kernel. */
struct bench_args {
	unsigned ba_n;
	int64_t ba_value[MAXARGS];
};

/* An argument as BENCH_LIMITS has it. */
struct bench_limits {
	const char *bl_what; /* NULL: it has none */
	int64_t bl_min, bl_max;
};

struct bench_kernel {
	const char *bk_name;
	void (*bk_body)(struct bench *b);
	int64_t bk_multiplier;
	struct bench_args *bk_args;
	unsigned bk_nargs, bk_room; /* lists, and those with memory */
	struct bench_limits bk_limits[MAXARGS];
	struct bench_kernel *bk_next;
};

/* The first kernel of the program, or NULL. */
struct bench_kernel *bench_first(void);

/* The instance's name: copy/8/64.  Returns buf. */
const char *bench_label(
    char *buf, const struct bench_kernel *k, const struct bench_args *args);
/* Replace the kernel's lists by those of the command line, "8/64". */
void bench_replace_args(struct bench_kernel *k, char *const *texts);

/* measure.c: the program will measure so many instances. */
void bench_expect(const struct options *o, unsigned instances);

/*
 * measure.c: count an instance for every event of the command line, print its
 * rows and write its records.  Returns false if a result was wrong.  Ends the
 * program with status 1 if a bound set cannot be sampled.
 */
bool bench_measure(const struct options *o, struct meter *m,
    const struct bench_kernel *k, const struct bench_args *args);
