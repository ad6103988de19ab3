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
#include <bench.h>
#include <errno.h>
#include <payload.h>
#include <string.h>

#include "payloads/common/usage.h"

#define SCALE 3.0

struct triad {
	size_t t_n;
	double *t_a, *t_b, *t_c;
};

static void
triad_body(const struct triad *t)
{
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

	for (size_t i = 0; i < t->t_n; i++) {
		if (t->t_a[i] != 7.0 * (double)(i % 1024))
			right = false;
		t->t_a[i] = -1.0;
	}
	return right;
}

BENCH(triad)
{
	size_t n = (size_t)bench_arg(b, 0), bytes = n * sizeof(double), i;
	double *memory = payload_contig(3 * bytes);
	struct triad t = { .t_n = n, .t_a = memory };

	if (memory == NULL)
		fail(1, "%zu elements: %s", n, strerror(errno));
	t.t_b = memory + n;
	t.t_c = memory + 2 * n;
	for (i = 0; i < n; i++) {
		t.t_a[i] = -1.0;
		t.t_b[i] = (double)(i % 1024);
		t.t_c[i] = 2.0 * (double)(i % 1024);
	}
	bench_verify(b, triad_verify, &t);
	BENCH_LOOP(b)
		triad_body(&t);
	bench_set_items(b, n);
	payload_contig_free(memory, 3 * bytes);
}
BENCH_ARG(triad, 1024, 32768)
BENCH_LIMITS(triad, 0, "elements", 1, 1 << 26)
BENCH_MAIN(triad)
