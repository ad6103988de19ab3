/*
 * Differences are signed: a negative one is kept, sorted, printed and recorded
 * with its sign.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "payloads/common/json.h"
#include "payloads/common/report.h"
#include "tests/lib/host/support.h"

/* Functions that report.o and report_record.o need from files of the image. */
static char *record;

void
json_record(int argc, char *const *argv,
    void (*members)(FILE *f, const void *arg), const void *arg)
{
	size_t len;
	FILE *f;

	(void)argc;
	(void)argv;
	free(record);
	f = open_memstream(&record, &len);
	members(f, arg);
	fclose(f);
}

void
json_member(FILE *f, const char *key, const char *value)
{
	fprintf(f, ",\"%s\":\"%s\"", key, value);
}

void
json_privilege(FILE *f, unsigned flags)
{
	(void)f;
	(void)flags;
}

const char *
json_machine(void)
{
	return "";
}

int
options_levels(const char *name)
{
	(void)name;
	return -1;
}

static void
fill_series(struct series *s, const int64_t *values, unsigned n)
{
	series_open(s, n);
	for (unsigned i = 0; i < n; i++)
		series_add(s, values[i]);
	series_close(s);
}

static void
aggregates_are_signed(void **state)
{
	static const int64_t values[] = { 7, -7120, 3, -1, 12 };
	struct series s;

	(void)state;
	fill_series(&s, values, 5);
	assert_true((int64_t)s.s_min == -7120);
	assert_true((int64_t)s.s_median == 3);
	assert_true((int64_t)s.s_max == 12);
	assert_int_equal(series_range(&s), 7132);
	assert_int_equal(s.s_negative, 2);
	assert_true((int64_t)s.s_raw[1] == -7120);
	series_free(&s);
}

static void
extremes_do_not_overflow(void **state)
{
	static const int64_t values[] = { INT64_MAX, INT64_MIN };
	struct quantity q = { 0 };

	(void)state;
	fill_series(&q.q_raw, values, 2);
	fill_series(&q.q_overhead, values, 1);
	assert_true(series_range(&q.q_raw) == UINT64_MAX);
	assert_true(quantity_net(&q) == 1); /* modulo 2^64, but defined */
	series_free(&q.q_raw);
	series_free(&q.q_overhead);
}

/* The output of report_result(). */
static char *
report_output(const struct options *o, const struct result *r)
{
	static char text[4096];
	FILE *f = tmpfile();
	int was;
	size_t n;

	fflush(stdout);
	was = dup(STDOUT_FILENO);
	dup2(fileno(f), STDOUT_FILENO);
	report_result(o, r);
	fflush(stdout);
	dup2(was, STDOUT_FILENO);
	close(was);
	rewind(f);
	n = fread(text, 1, sizeof text - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static void
a_negative_difference_is_marked(void **state)
{
	static const int64_t counts[] = { 4000, 4000, 4000 };
	static const int64_t times[] = { 5, -7120, -3 };
	const struct event e = { .e_name = "cycles" };
	struct options o = { .o_runs = 3 };
	struct result r = { .r_label = "spin/pic0",
		.r_event = &e,
		.r_method = "",
		.r_iterations = 2000,
		.r_verified = true };
	const char *text;

	(void)state;
	fill_series(&r.r_count.q_raw, counts, 3);
	fill_series(&r.r_hrtime.q_raw, times, 3);
	text = report_output(&o, &r);
	assert_non_null(
	    strstr(text, " 4000         2.000            -           -3"));
	assert_non_null(strstr(text,
	    "\n# negative differences: spin/pic0: hrtime of cycles, 2 of 3, at "
	    "least -7120: measure longer runs\n"));
	assert_null(strstr(text, "count of"));
	assert_non_null(strstr(record,
	    "\"hrtime_ns\":{\"net\":-3,\"measured\":{\"min\":-7120,"
	    "\"median\":-3,\"max\":5,\"range\":7125,\"negative\":2,"
	    "\"raw\":[5,-7120,-3]}"));
	assert_non_null(
	    strstr(record, "\"negative\":0,\"raw\":[4000,4000,4000]"));
	series_free(&r.r_count.q_raw);
	series_free(&r.r_hrtime.q_raw);
	free(record);
	record = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aggregates_are_signed),
		cmocka_unit_test(extremes_do_not_overflow),
		cmocka_unit_test(a_negative_difference_is_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
