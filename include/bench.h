/*
 * Benchmarks, and the manual of libpayload's part for them.  Included by
 * programs, in C or C++.  Source-level concepts are Google Benchmark's.
 *
 *	#include <bench.h>
 *
 *	BENCH(copy)
 *	{
 *		size_t n = (size_t)bench_arg(b, 0);
 *		char *from = calloc(n, 1), *to = malloc(n);
 *
 *		BENCH_LOOP(b) {
 *			memcpy(to, from, n);
 *			bench_clobber_memory();
 *		}
 *		bench_set_items(b, n);
 *		free(from);
 *		free(to);
 *	}
 *	BENCH_RANGE(copy, 8, 8 << 10)
 *
 *	barecpc-cc -O2 copy.c -lpayload -o copy
 *
 * The library has a main() for programs without one.  It counts each kernel
 * for each of its argument lists, prints a table and leaves records.  Its
 * options are in docs/stat.md, those of all benchmarks in docs/payloads.md.
 *
 * A kernel's function sets up, has one loop, and cleans up.  It is called once
 * for each group of events that the machine can count together.  BENCH_LOOP
 * does all runs: those that measure the overhead, warm-ups, measured runs.  A
 * run is a number of turns of the loop: 1, or --iterations.  It lies between
 * two samples of the counters.  Runs that measure the overhead have no turns.
 * The table shows the median of the measured runs less that of the overhead.
 * So it has exactly the turns: the body, and for each of them two or three
 * instructions of the loop.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One call of a kernel's function; the kernel knows it as b. */
struct bench {
	uint64_t bn_turns; /* of the present run; for BENCH_LOOP */
};

/* A kernel.  BENCH() defines one for each name. */
struct bench_kernel;

/* Kernels */

/*
 * Define a kernel; its body follows.  The name is the label's first part.  A
 * file of the program may have any number of kernels; they run in that order.
 */
#define BENCH(name)                                                            \
	static void bench_body_##name(struct bench *b);                        \
	static struct bench_kernel *bench_kernel_##name;                       \
	BENCH_DECLARE_(                                                        \
	    bench_kernel_##name = bench_add(#name, bench_body_##name))         \
	static void bench_body_##name(struct bench *b)

/*
 * The measured loop.  A kernel has one.  `break` ends the run early, which
 * makes it a short one; `return` and `goto` must not leave the loop.
 */
#define BENCH_LOOP(b)                                                          \
	while (bench_next(b))                                                  \
		for (uint64_t bench_turns_ = (b)->bn_turns; bench_turns_ != 0; \
		     BENCH_TURN_(bench_turns_))

/* Return the argument i, from 0.  Ends the program if the list is shorter. */
int64_t bench_arg(const struct bench *b, unsigned i);
/*
 * Say that one turn of the loop does n iterations, 1 or more.  The column
 * `per-iteration` divides by them.  Without it a turn is one.
 */
void bench_set_items(struct bench *b, uint64_t n);
/*
 * Call check(arg) after each warm-up and measured run, outside of what is
 * counted.  If it returns false, the result is wrong: the record says so, and
 * the program ends with status 1.  Call it before the loop.
 */
void bench_verify(struct bench *b, bool (*check)(void *arg), void *arg);
/*
 * Do not run this kernel with these arguments: the loop has no turns.  The row
 * says <not counted>, and the text why.  Call it before the loop.
 */
void bench_skip(struct bench *b, const char *why);

/*
 * Have the value computed, though nothing uses it.  It adds no instruction to
 * those that compute it.
 */
#define bench_do_not_optimize(value)                                           \
	__asm__ volatile("" : : "r,m"(value) : "memory")
/* Have all memory written, and read again.  It costs no instruction. */
#define bench_clobber_memory() __asm__ volatile("" : : : "memory")

/*
 * Argument lists.  Each adds to those that the kernel has.  A kernel with none
 * runs once, without arguments.  In a label they follow the name: copy/8/64.
 */

/* A list of one argument, for each value: BENCH_ARG(copy, 8, 64, 512). */
#define BENCH_ARG(name, ...) BENCH_NUMBERS_(bench_add_each, name, __VA_ARGS__)
/* One list of several arguments: BENCH_ARGS(copy, 8, 64). */
#define BENCH_ARGS(name, ...) BENCH_NUMBERS_(bench_add_args, name, __VA_ARGS__)
/*
 * The first number, all powers of the multiplier between the two, and the last:
 * BENCH_RANGE(copy, 8, 8 << 10).  The multiplier is 8.
 */
#define BENCH_RANGE(name, first, last)                                         \
	BENCH_NUMBERS_(bench_add_ranges, name, first, last)
/*
 * A range for each argument; every combination is a list.  The numbers are
 * pairs of first and last: BENCH_RANGES(copy, 8, 8 << 10, 1, 4).
 */
#define BENCH_RANGES(name, ...)                                                \
	BENCH_NUMBERS_(bench_add_ranges, name, __VA_ARGS__)
/* From the first number to the last by steps: BENCH_DENSE_RANGE(copy, 0, 8, 2).
 */
#define BENCH_DENSE_RANGE(name, first, last, step)                             \
	BENCH_NUMBERS_(bench_add_dense, name, first, last, step)
/* The multiplier of this kernel's ranges that follow, at least 2. */
#define BENCH_MULTIPLIER(name, n) BENCH_NUMBERS_(bench_set_multiplier, name, n)
/*
 * Name the argument i, and limit it to numbers from min, 0 or more, to max.
 * With limits the command line may replace the lists: `copy 100 1k`, or 8/64
 * for two arguments.
 */
#define BENCH_LIMITS(name, i, what, min, max)                                  \
	BENCH_DECLARE_(bench_set_limits(bench_kernel_##name, i, what, min, max))

/* The program */

/*
 * Run the kernels that the command line chooses.  Returns main()'s result: 0,
 * or 1 if a result was wrong.  Ends the program with status 2 if the command
 * line is wrong.
 */
int bench_main(int argc, char **argv);
/* The same for one kernel of a program that has more. */
int bench_main_of(struct bench_kernel *k, int argc, char **argv);
/* Define main() for a program that runs this kernel alone. */
#define BENCH_MAIN(name)                                                       \
	int main(int argc, char **argv)                                        \
	{                                                                      \
		return bench_main_of(bench_kernel_##name, argc, argv);         \
	}

/* The macros above are made of these. */

/* End the last run and begin the next.  Returns false after the last. */
bool bench_next(struct bench *b);
/* Add a kernel to the program. */
struct bench_kernel *bench_add(const char *name, void (*body)(struct bench *b));
/* Add argument lists made of n numbers.  Ends the program if they make none. */
void bench_add_each(struct bench_kernel *k, const int64_t *numbers, unsigned n);
void bench_add_args(struct bench_kernel *k, const int64_t *numbers, unsigned n);
void bench_add_ranges(
    struct bench_kernel *k, const int64_t *numbers, unsigned n);
void bench_add_dense(
    struct bench_kernel *k, const int64_t *numbers, unsigned n);
void bench_set_multiplier(
    struct bench_kernel *k, const int64_t *numbers, unsigned n);
void bench_set_limits(struct bench_kernel *k, unsigned i, const char *what,
    int64_t min, int64_t max);

/* no_reorder keeps the order of the file. */
#define BENCH_DECLARE_(...)   BENCH_DECLARE_2_(__COUNTER__, __VA_ARGS__)
#define BENCH_DECLARE_2_(...) BENCH_DECLARE_3_(__VA_ARGS__)
#define BENCH_DECLARE_3_(n, ...)                                               \
	static void __attribute__((constructor, no_reorder))                   \
	bench_declare_##n##_(void)                                             \
	{                                                                      \
		__VA_ARGS__;                                                   \
	}
#define BENCH_NUMBERS_(function, name, ...)                                    \
	BENCH_DECLARE_(static const int64_t numbers[] = { __VA_ARGS__ };       \
		       function(bench_kernel_##name, numbers,                  \
			   sizeof numbers / sizeof numbers[0]))
/* The compiler can neither unroll this loop nor compute its result. */
#define BENCH_TURN_(turns)                                                     \
	__extension__({                                                        \
		__asm__ volatile("" : "+r"(turns) : : "memory");               \
		turns--;                                                       \
	})

#ifdef __cplusplus
}
#endif

#endif /* BENCH_H */
