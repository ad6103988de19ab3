/* The kernels of a program, and the argument lists of each. */
#include "payloads/bench/kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/usage.h"

#define MULTIPLIER 8 /* Google Benchmark's */
#define MAXLISTS   100000

static struct bench_kernel *first, **last = &first;

struct bench_kernel *
bench_first(void)
{
	return first;
}

struct bench_kernel *
bench_add(const char *name, void (*body)(struct bench *b))
{
	struct bench_kernel *k = fail_unless_room(calloc(1, sizeof *k));

	k->bk_name = name;
	k->bk_body = body;
	k->bk_multiplier = MULTIPLIER;
	*last = k;
	last = &k->bk_next;
	return k;
}

static void
add_list(struct bench_kernel *k, const struct bench_args *args)
{
	if (k->bk_nargs == MAXLISTS)
		fail(
		    2, "%s: more than %d argument lists", k->bk_name, MAXLISTS);
	if (k->bk_nargs == k->bk_room) {
		k->bk_room = k->bk_room == 0 ? 8 : 2 * k->bk_room;
		k->bk_args = fail_unless_room(
		    realloc(k->bk_args, k->bk_room * sizeof k->bk_args[0]));
	}
	k->bk_args[k->bk_nargs++] = *args;
}

static void
add_one(struct bench_kernel *k, int64_t value)
{
	struct bench_args args = { .ba_n = 1, .ba_value = { value } };

	add_list(k, &args);
}

void
bench_add_each(struct bench_kernel *k, const int64_t *numbers, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		add_one(k, numbers[i]);
}

void
bench_add_args(struct bench_kernel *k, const int64_t *numbers, unsigned n)
{
	struct bench_args args = { .ba_n = n };

	if (n > MAXARGS)
		fail(2, "%s: more than %d arguments", k->bk_name, MAXARGS);
	memcpy(args.ba_value, numbers, n * sizeof numbers[0]);
	add_list(k, &args);
}

void
bench_add_dense(struct bench_kernel *k, const int64_t *numbers, unsigned n)
{
	int64_t value = numbers[0], end = numbers[1], step = numbers[2];

	(void)n; /* always three */
	if (value > end || step <= 0)
		fail(2,
		    "%s: from %" PRId64 " to %" PRId64 " by %" PRId64
		    " is no range",
		    k->bk_name, value, end, step);
	for (; value <= end; value += step) {
		add_one(k, value);
		if (end - value < step) /* value + step may be too large */
			break;
	}
}

void
bench_set_multiplier(struct bench_kernel *k, const int64_t *numbers, unsigned n)
{
	(void)n; /* always one */
	if (numbers[0] < 2)
		fail(2, "%s: multiplier %" PRId64 ": give 2 or more",
		    k->bk_name, numbers[0]);
	k->bk_multiplier = numbers[0];
}

/*
 * The number of the range after v: the next power of the multiplier, its
 * negative, or 0; or the end of the range.
 */
static int64_t
next_of_range(int64_t v, int64_t end, uint64_t multiplier)
{
	uint64_t size = v < 0 ? -(uint64_t)v : (uint64_t)v, power = 1;

	if (v == -1 || v == 0) {
		v++;
	} else if (v < 0) {
		while (power <= (size - 1) / multiplier)
			power *= multiplier;
		v = -(int64_t)power;
	} else {
		while (power <= size && power <= INT64_MAX / multiplier)
			power *= multiplier;
		v = power > size ? (int64_t)power : end;
	}
	return v < end ? v : end;
}

void
bench_add_ranges(struct bench_kernel *k, const int64_t *numbers, unsigned n)
{
	struct bench_args args = { .ba_n = n / 2 };
	unsigned i;

	if (n % 2 != 0 || n / 2 > MAXARGS)
		fail(2, "%s: a range has a first and a last number, %d at most",
		    k->bk_name, MAXARGS);
	for (i = 0; i < n / 2; i++) {
		if (numbers[2 * i] > numbers[2 * i + 1])
			fail(2, "%s: %" PRId64 " to %" PRId64 " is no range",
			    k->bk_name, numbers[2 * i], numbers[2 * i + 1]);
		args.ba_value[i] = numbers[2 * i];
	}
	/* As the digits of a number count: the last argument changes first. */
	for (;;) {
		add_list(k, &args);
		for (i = n / 2; i-- > 0;) {
			if (args.ba_value[i] < numbers[2 * i + 1])
				break;
			args.ba_value[i] = numbers[2 * i];
		}
		if (i == (unsigned)-1)
			return;
		args.ba_value[i] = next_of_range(args.ba_value[i],
		    numbers[2 * i + 1], (uint64_t)k->bk_multiplier);
	}
}

void
bench_set_limits(struct bench_kernel *k, unsigned i, const char *what,
    int64_t min, int64_t max)
{
	if (i >= MAXARGS)
		fail(2, "%s: more than %d arguments", k->bk_name, MAXARGS);
	if (min < 0 || max < min)
		fail(2,
		    "%s: %s: limits %" PRId64 " to %" PRId64
		    ": give 0 or more, the least first",
		    k->bk_name, what, min, max);
	k->bk_limits[i] = (struct bench_limits){ what, min, max };
}

const char *
bench_label(
    char *buf, const struct bench_kernel *k, const struct bench_args *args)
{
	int n = snprintf(buf, LABEL_SIZE, "%s", k->bk_name);

	for (unsigned i = 0; i < args->ba_n && n < LABEL_SIZE; i++)
		n += snprintf(buf + n, (size_t)(LABEL_SIZE - n), "/%" PRId64,
		    args->ba_value[i]);
	return buf;
}

/* Parse "8/64" or "1k". */
static void
parse_list(
    const struct bench_kernel *k, const char *text, struct bench_args *args)
{
	char *copy = fail_unless_room(strdup(text)), *rest = copy, *word;

	args->ba_n = 0;
	while ((word = strsep(&rest, "/")) != NULL) {
		const struct bench_limits *bl = &k->bk_limits[args->ba_n];

		if (args->ba_n == MAXARGS || bl->bl_what == NULL)
			usage_mistake("%s: %s takes %u %s", text, k->bk_name,
			    args->ba_n,
			    args->ba_n == 1 ? "argument" : "arguments");
		args->ba_value[args->ba_n++] = (int64_t)usage_size(bl->bl_what,
		    word, (uint64_t)bl->bl_min, (uint64_t)bl->bl_max);
	}
	free(copy);
	if (args->ba_n < MAXARGS && k->bk_limits[args->ba_n].bl_what != NULL)
		usage_mistake("%s: %s wants \"%s\", too", text, k->bk_name,
		    k->bk_limits[args->ba_n].bl_what);
}

void
bench_replace_args(struct bench_kernel *k, char *const *texts)
{
	struct bench_args args;

	k->bk_nargs = 0;
	for (; *texts != NULL; texts++) {
		parse_list(k, *texts, &args);
		add_list(k, &args);
	}
}
