/* Kernels' arguments are Google Benchmark's; the command line chooses. */
#include "payloads/bench/kernel.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "payloads/common/usage.h"
#include "tests/lib/host/support.h"

static void
body(struct bench *b)
{
}

/* The labels of a kernel's instances, with a blank after each. */
static const char *
labels(const struct bench_kernel *k)
{
	static char all[1000];
	char label[LABEL_SIZE];

	all[0] = '\0';
	for (unsigned i = 0; i < k->bk_nargs; i++) {
		strcat(all, bench_label(label, k, &k->bk_args[i]));
		strcat(all, " ");
	}
	return all;
}

#define NUMBERS(...)                                                           \
	(const int64_t[]){ __VA_ARGS__ },                                      \
	    sizeof(int64_t[]){ __VA_ARGS__ } / sizeof(int64_t)

/* A range's numbers, with this multiplier. */
static const char *
range(int64_t multiplier, int64_t first, int64_t last)
{
	struct bench_kernel *k = bench_add("", body);

	bench_set_multiplier(k, &multiplier, 1);
	bench_add_ranges(k, NUMBERS(first, last));
	return labels(k);
}

TEST(ranges)
{
	assert_string_equal(range(8, 8, 8 << 10), "/8 /64 /512 /4096 /8192 ");
	assert_string_equal(range(2, 8, 64), "/8 /16 /32 /64 ");
	assert_string_equal(range(2, 5, 20), "/5 /8 /16 /20 ");
	assert_string_equal(range(8, 0, 1), "/0 /1 ");
	assert_string_equal(range(10, 0, 1000), "/0 /1 /10 /100 /1000 ");
	assert_string_equal(range(8, 7, 7), "/7 ");
	assert_string_equal(
	    range(4, -64, 20), "/-64 /-16 /-4 /-1 /0 /1 /4 /16 /20 ");
	assert_string_equal(range(8, -9, -2), "/-9 /-8 /-2 ");
	assert_string_equal(range(INT64_MAX, INT64_MAX - 1, INT64_MAX),
	    "/9223372036854775806 /9223372036854775807 ");
	assert_string_equal(range(8, INT64_MIN, INT64_MIN + 1),
	    "/-9223372036854775808 /-9223372036854775807 ");
}

TEST(lists)
{
	struct bench_kernel *k = bench_add("copy", body);

	bench_add_each(k, NUMBERS(8, 64));
	bench_add_args(k, NUMBERS(3, -4, 5));
	bench_add_dense(k, NUMBERS(0, 10, 4));
	bench_add_dense(k, NUMBERS(INT64_MAX - 1, INT64_MAX, 3));
	assert_string_equal(labels(k),
	    "copy/8 copy/64 copy/3/-4/5 copy/0 copy/4 copy/8 "
	    "copy/9223372036854775806 ");
}

TEST(combinations)
{
	struct bench_kernel *k = bench_add("m", body);

	bench_add_ranges(k, NUMBERS(1, 8, 2, 3));
	assert_string_equal(labels(k), "m/1/2 m/1/3 m/8/2 m/8/3 ");
}

TEST(command_line)
{
	struct bench_kernel *k = bench_add("copy", body);
	char *one[] = { (char *)"1k/2", (char *)"0x10/1", NULL };

	bench_add_each(k, NUMBERS(8));
	bench_set_limits(k, 0, "bytes", 1, 4096);
	bench_set_limits(k, 1, "stride", 1, 8);
	bench_replace_args(k, one);
	assert_string_equal(labels(k), "copy/1024/2 copy/16/1 ");
}

/* A child that does one of these ends with status 2. */
static struct bench_kernel *wrong;
static char *wrong_text[2];

static void
wrong_range(void)
{
	bench_add_ranges(wrong, NUMBERS(9, 8));
}

static void
wrong_pairs(void)
{
	bench_add_ranges(wrong, NUMBERS(1, 2, 3));
}

static void
wrong_step(void)
{
	bench_add_dense(wrong, NUMBERS(1, 2, 0));
}

static void
wrong_multiplier(void)
{
	bench_set_multiplier(wrong, NUMBERS(1));
}

static void
too_many(void)
{
	bench_add_args(wrong, NUMBERS(1, 2, 3, 4, 5, 6, 7, 8, 9));
}

static void
too_many_lists(void)
{
	bench_add_dense(wrong, NUMBERS(0, 1000000, 1));
}

static void
wrong_words(void)
{
	bench_replace_args(wrong, wrong_text);
}

/* Does this end with status 2, and a line of stderr that has the text? */
static void
refuses(void (*what)(void), const char *text)
{
	FILE *f = tmpfile();
	char line[400] = "";
	int status;
	pid_t pid;

	fflush(NULL);
	if ((pid = fork()) == 0) {
		dup2(fileno(f), STDERR_FILENO);
		what();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	rewind(f);
	assert_non_null(fgets(line, sizeof line, f));
	assert_non_null(strstr(line, text));
	assert_int_equal(WEXITSTATUS(status), 2);
	fclose(f);
}

/* A command line has no negative numbers. */
static void
negative_limit(void)
{
	bench_set_limits(wrong, 2, "offset", -8, 8);
}

static void
limits_reversed(void)
{
	bench_set_limits(wrong, 2, "offset", 8, 7);
}

TEST(mistakes)
{
	usage_is("", "");
	wrong = bench_add("copy", body);
	bench_set_limits(wrong, 0, "bytes", 1, 4096);
	bench_set_limits(wrong, 1, "stride", 1, 8);
	refuses(wrong_range, "copy: 9 to 8 is no range");
	refuses(wrong_pairs, "copy: a range has a first and a last number");
	refuses(wrong_step, "copy: from 1 to 2 by 0 is no range");
	refuses(wrong_multiplier, "copy: multiplier 1: give 2 or more");
	refuses(too_many, "copy: more than 8 arguments");
	refuses(negative_limit, "copy: offset: limits -8 to 8: give 0 or more");
	refuses(limits_reversed, "copy: offset: limits 8 to 7: give 0 or more");
	refuses(too_many_lists, "copy: more than 100000 argument lists");
	wrong_text[0] = (char *)"8";
	refuses(wrong_words, "8: copy wants \"stride\", too");
	wrong_text[0] = (char *)"8/1/1";
	refuses(wrong_words, "8/1/1: copy takes 2 arguments");
	wrong_text[0] = (char *)"8/9";
	refuses(wrong_words, "stride: 9 is not within 1..8");
	wrong_text[0] = (char *)"8/";
	refuses(wrong_words, "stride: not a number: \"\"");
}

/* Parse a command line of these words. */
static struct options *
parse(bool kernels, char **argv)
{
	static struct options all[8], *o = all; /* keeps the events' names */
	int argc = 0;

	while (argv[argc] != NULL)
		argc++;
	optind = 0;
	options_parse(o, argc, argv, "", "PAPI_tot_ins", kernels);
	return o++;
}

TEST(options)
{
	char *ours[] = { (char *)"copy", (char *)"--filter", (char *)"copy/8$",
		(char *)"--repeat=7", (char *)"--warmup=2",
		(char *)"--iterations", (char *)"1k", (char *)"--list", NULL };
	char *googles[] = { (char *)"copy", (char *)"--benchmark_filter=x",
		(char *)"--benchmark_repetitions=3",
		(char *)"--benchmark_list_tests", (char *)"--repeat",
		(char *)"4", NULL };
	const struct options *o = parse(true, ours);

	assert_string_equal(o->o_filter, "copy/8$");
	assert_int_equal(o->o_runs, 7);
	assert_int_equal(o->o_warmups, 2);
	assert_int_equal(o->o_turns, 1024);
	assert_true(o->o_list);
	o = parse(true, googles);
	assert_string_equal(o->o_filter, "x");
	assert_int_equal(o->o_runs, 4);
	assert_int_equal(o->o_turns, 1);
	assert_true(o->o_list);
}

static void
parse_filter_without_kernels(void)
{
	char *argv[] = { (char *)"spin", (char *)"--filter=x", NULL };

	parse(false, argv);
}

TEST(no_kernels)
{
	char *argv[] = { (char *)"spin", (char *)"--repeat=3", NULL };

	assert_int_equal(parse(false, argv)->o_runs, 3);
	refuses(parse_filter_without_kernels, "--filter=x: no such option");
}
