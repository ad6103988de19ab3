/* Aggregates of the values that runs yielded. */
#include "payloads/common/results/series.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/usage.h"

void
series_open(struct series *s, unsigned n)
{
	memset(s, 0, sizeof *s);
	s->s_raw = fail_unless_room(calloc(n, sizeof *s->s_raw));
}

void
series_add(struct series *s, int64_t v)
{
	s->s_raw[s->s_n++] = v;
}

static int
compare_values(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static wide_t
sum_of(const int64_t *v, unsigned n)
{
	wide_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += v[i];
	return sum;
}

/*
 * The standard error of the mean.  The values are taken from the smallest one:
 * so the squares stay small, and are exact where the values are near.
 */
static double
error_of(const int64_t *v, unsigned n, wide_t sum)
{
	double mean = (double)(sum - (wide_t)n * v[0]) / n, squares = 0;

	for (unsigned i = 0; i < n; i++) {
		double off = (double)((uint64_t)v[i] - (uint64_t)v[0]) - mean;

		squares += off * off;
	}
	return n < 2 ? 0 : sqrt(squares / (n - 1) / n);
}

static void
aggregate(struct series *s, const int64_t *sorted, unsigned n)
{
	unsigned cut = n / 5;

	s->s_used = n;
	s->s_min = sorted[0];
	s->s_median = sorted[(n - 1) / 2];
	s->s_upper_median = sorted[n / 2];
	s->s_max = sorted[n - 1];
	s->s_sum = sum_of(sorted, n);
	s->s_inner = n - 2 * cut;
	s->s_inner_sum = sum_of(sorted + cut, s->s_inner);
	s->s_error = error_of(sorted, n, s->s_sum);
	for (unsigned i = 0; i < n; i++) {
		s->s_negative += sorted[i] < 0;
		s->s_at_min += sorted[i] == sorted[0];
	}
}

void
series_close(struct series *s, const bool *excluded)
{
	unsigned n = 0;

	if (s->s_n == 0)
		return;
	int64_t *sorted = fail_unless_room(malloc(s->s_n * sizeof *sorted));
	for (unsigned i = 0; i < s->s_n; i++) {
		if (excluded == NULL || !excluded[i])
			sorted[n++] = s->s_raw[i];
	}
	qsort(sorted, n, sizeof *sorted, compare_values);
	if (n > 0)
		aggregate(s, sorted, n);
	free(sorted);
}

void
series_free(struct series *s)
{
	free(s->s_raw);
	memset(s, 0, sizeof *s);
}

uint64_t
series_range(const struct series *s)
{
	return (uint64_t)s->s_max - (uint64_t)s->s_min;
}

const char *
ratio_text(char *buf, size_t len, wide_t value, uint64_t divisor)
{
	wide_t magnitude = value < 0 ? -value : value;
	wide_t milli = (magnitude * 1000 + divisor / 2) / divisor;

	snprintf(buf, len, "%s%" PRIu64 ".%03u",
	    value < 0 && milli != 0 ? "-" : "", (uint64_t)(milli / 1000),
	    (unsigned)(milli % 1000));
	return buf;
}

void
series_print(FILE *f, const struct series *s, int64_t less)
{
	wide_t mean = s->s_sum - (wide_t)s->s_used * less;
	wide_t inner = s->s_inner_sum - (wide_t)s->s_inner * less;
	char text[60], inner_text[60];

	fprintf(f,
	    "min %" PRId64 ", median %" PRId64 ", mean %s, trimmed mean %s, "
	    "standard error %.3f, %u of %u runs at the minimum\n",
	    (int64_t)((uint64_t)s->s_min - (uint64_t)less),
	    (int64_t)((uint64_t)s->s_median - (uint64_t)less),
	    ratio_text(text, sizeof text, mean, s->s_used),
	    ratio_text(inner_text, sizeof inner_text, inner, s->s_inner),
	    s->s_error, s->s_at_min, s->s_used);
}

void
series_json(FILE *f, const struct series *s)
{
	char mean[60], inner[60], share[60];

	fprintf(f,
	    "{\"min\":%" PRId64 ",\"median\":%" PRId64 ",\"max\":%" PRId64
	    ",\"range\":%" PRIu64 ",\"negative\":%u",
	    s->s_min, s->s_median, s->s_max, series_range(s), s->s_negative);
	fprintf(f,
	    ",\"mean\":%s,\"trimmed_mean\":%s,\"standard_error\":%.3f,"
	    "\"at_minimum\":%s,\"raw\":[",
	    ratio_text(mean, sizeof mean, s->s_sum, s->s_used),
	    ratio_text(inner, sizeof inner, s->s_inner_sum, s->s_inner),
	    s->s_error,
	    ratio_text(share, sizeof share, s->s_at_min, s->s_used));
	for (unsigned i = 0; i < s->s_n; i++)
		fprintf(f, "%s%" PRId64, i == 0 ? "" : ",", s->s_raw[i]);
	fputs("]}", f);
}

int64_t
quantity_net(const struct quantity *q)
{
	return (int64_t)((uint64_t)q->q_raw.s_median -
			 (uint64_t)q->q_overhead.s_median);
}

bool
quantity_noisy(const struct quantity *q)
{
	int64_t net = quantity_net(q);
	uint64_t effect = net < 0 ? -(uint64_t)net : (uint64_t)net;

	return series_range(&q->q_raw) > effect ||
	       series_range(&q->q_overhead) > effect;
}
