/*
 * triad: a[i] = b[i] + s * c[i] over arrays that may or may not fit a cache.
 * This is STREAM's fourth kernel: J. D. McCalpin, "Memory Bandwidth and Machine
 * Balance in Current High Performance Computers", 1995.
 *
 *	triad [options] [elements...]
 *
 * One iteration is one element: two loads, a multiply-add, a store.  The
 * values are small whole numbers, so every result is exact and is compared
 * for equality.
 */
#include "payloads/common/measure.h"

#include <errno.h>
#include <payload.h>
#include <stdio.h>
#include <string.h>

#include "payloads/common/usage.h"

#define SCALE 3.0

struct triad {
	size_t t_n;
	double *t_a, *t_b, *t_c;
};

static void
triad_body(void *arg)
{
	const struct triad *t = arg;
	double *restrict a = t->t_a;
	const double *restrict b = t->t_b, *restrict c = t->t_c;
	size_t i, n = t->t_n;

	for (i = 0; i < n; i++)
		a[i] = b[i] + SCALE * c[i];
}

/* Check the result and destroy it, so that the next run must compute it. */
static bool
triad_verify(void *arg)
{
	struct triad *t = arg;
	bool right = true;
	size_t i;

	for (i = 0; i < t->t_n; i++) {
		if (t->t_a[i] != 7.0 * (double)(i % 1024))
			right = false;
		t->t_a[i] = -1.0;
	}
	return right;
}

static bool
triad(const struct options *o, struct meter *m, uint64_t n)
{
	size_t bytes = n * sizeof(double), i;
	struct triad t = { .t_n = n };
	struct work w = {
		.w_body = triad_body,
		.w_arg = &t,
		.w_iterations = n,
		.w_verify = triad_verify,
	};
	char label[40];
	double *memory;
	bool right;

	if ((memory = payload_contig(3 * bytes)) == NULL)
		fail(1, "%llu elements: %s", (unsigned long long)n,
		    strerror(errno));
	t.t_a = memory;
	t.t_b = memory + n;
	t.t_c = memory + 2 * n;
	for (i = 0; i < n; i++) {
		t.t_a[i] = -1.0;
		t.t_b[i] = (double)(i % 1024);
		t.t_c[i] = 2.0 * (double)(i % 1024);
	}
	snprintf(label, sizeof label, "triad/%zu", n);
	w.w_label = label;
	right = measure(o, m, &w);
	payload_contig_free(memory, 3 * bytes);
	return right;
}

int
main(int argc, char **argv)
{
	static const char *const defaults[] = { "1024", "32768", NULL };
	static const struct sizes sizes = {
		.sz_what = "elements",
		.sz_min = 1,
		.sz_max = 1 << 26,
		.sz_defaults = defaults,
		.sz_one = triad,
	};

	return measure_sizes(argc, argv, &sizes);
}
