/* The aggregates of a series are those of known vectors, by hand. */
#include <stdio.h>

#include "payloads/common/results/series.h"
#include "tests/lib/host/support.h"

static struct series
made_of(const int64_t *values, unsigned n, const bool *excluded)
{
	struct series s;

	series_open(&s, n);
	for (unsigned i = 0; i < n; i++)
		series_add(&s, values[i]);
	series_close(&s, excluded);
	return s;
}

static void
is(wide_t value, uint64_t divisor, const char *want)
{
	char text[60];

	assert_string_equal(
	    ratio_text(text, sizeof text, value, divisor), want);
}

static void
error_is(const struct series *s, const char *want)
{
	char text[60];

	snprintf(text, sizeof text, "%.3f", s->s_error);
	assert_string_equal(text, want);
}

/*
 * Sorted: 1 2 3 4 4 4 5 7 10 100.  The mean is 140 / 10.  Two values go at each
 * end, and 27 / 6 is left.  The squares about 14 sum to 8276:
 * sqrt(8276 / 9 / 10) = 9.589.
 */
TEST(ten_values)
{
	static const int64_t values[] = { 10, 2, 4, 4, 5, 3, 100, 4, 1, 7 };
	struct series s = made_of(values, 10, NULL);

	assert_true(s.s_min == 1 && s.s_median == 4 && s.s_max == 100);
	assert_int_equal(s.s_used, 10);
	assert_int_equal(s.s_at_min, 1);
	is(s.s_sum, s.s_used, "14.000");
	is(s.s_inner_sum, s.s_inner, "4.500");
	error_is(&s, "9.589");
	series_free(&s);
}

/* One value goes at each end: 5 / 5 of nanoBench.  sqrt(12.8 / 4 / 5) = 0.8 */
TEST(five_values)
{
	static const int64_t values[] = { 5, 9, 5, 5, 5 };
	struct series s = made_of(values, 5, NULL);

	is(s.s_sum, s.s_used, "5.800");
	is(s.s_inner_sum, s.s_inner, "5.000");
	error_is(&s, "0.800");
	assert_int_equal(s.s_at_min, 4);
	series_free(&s);
}

/* Fewer than five values all stay; one value has no error. */
TEST(few_values)
{
	static const int64_t values[] = { 7, 1, 2, 2 };
	struct series s = made_of(values, 4, NULL);

	is(s.s_inner_sum, s.s_inner, "3.000");
	assert_int_equal(s.s_median, 2);
	series_free(&s);
	/* nanoBench takes the upper one of two values in the middle. */
	s = made_of(values, 2, NULL);
	assert_true(s.s_median == 1 && s.s_upper_median == 7);
	series_free(&s);
	s = made_of(values, 1, NULL);
	is(s.s_sum, s.s_used, "7.000");
	is(s.s_inner_sum, s.s_inner, "7.000");
	error_is(&s, "0.000");
	assert_int_equal(s.s_at_min, 1);
	series_free(&s);
}

/* The sums exceed an int64_t, and the values are signed. */
TEST(extremes)
{
	static const int64_t values[] = { INT64_MAX, INT64_MIN, INT64_MIN };
	struct series s = made_of(values, 2, NULL);

	is(s.s_sum, s.s_used, "-0.500");
	series_free(&s);
	s = made_of(values + 1, 2, NULL);
	is(s.s_sum, s.s_used, "-9223372036854775808.000");
	error_is(&s, "0.000");
	assert_int_equal(s.s_at_min, 2);
	assert_int_equal(s.s_negative, 2);
	series_free(&s);
}

/* An excluded value stays in s_raw, and is in no aggregate. */
TEST(excluded_values)
{
	static const int64_t values[] = { 5, -1000, 5, 9000, 5 };
	static const bool excluded[] = { false, true, false, true, false };
	struct series s = made_of(values, 5, excluded);

	assert_int_equal(s.s_n, 5);
	assert_true(s.s_raw[1] == -1000 && s.s_raw[3] == 9000);
	assert_int_equal(s.s_used, 3);
	assert_true(s.s_min == 5 && s.s_max == 5);
	assert_int_equal(s.s_negative, 0);
	is(s.s_sum, s.s_used, "5.000");
	error_is(&s, "0.000");
	series_free(&s);
}

/* The range must exceed the effect, of either sign; the overhead's counts. */
TEST(spread_and_effect)
{
	static const int64_t run[] = { 100, 120, 110 },
			     empty[] = { 90, 100, 95 };
	struct quantity q = { made_of(run, 3, NULL), { 0 } };

	assert_false(quantity_noisy(&q)); /* 110, range 20 */
	q.q_overhead = made_of(empty, 3, NULL);
	assert_true(quantity_noisy(&q)); /* 15, range 20 */
	series_free(&q.q_raw);
	q.q_raw = made_of(run, 1, NULL);
	assert_true(quantity_noisy(&q)); /* 5, range 0, overhead's 10 */
	q.q_raw.s_median = 80;
	assert_false(quantity_noisy(&q)); /* -15 */
	series_free(&q.q_raw);
	series_free(&q.q_overhead);
}
