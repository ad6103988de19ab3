/*
 * matmul: C = A * B, square matrices of doubles, rows by columns.
 *
 *	matmul [options] [order...]
 *
 * One iteration is one multiply-add, n * n * n of them.  The elements are
 * small whole numbers, so the product is exact.  The check computes it again
 * with 64-bit integers, column by row.
 */
#include <bench.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/usage.h"

struct matmul {
	size_t mat_n;
	double *mat_a, *mat_b, *mat_c;
	int64_t *mat_expect;
};

/* Elements from -8 to 8.  No symmetry could hide an error. */
static int
element_a(size_t row, size_t col)
{
	return (int)((row * 7 + col * 3 + 1) % 17) - 8;
}

static int
element_b(size_t row, size_t col)
{
	return (int)((row * 5 + col * 11 + 2) % 17) - 8;
}

static void
matmul_body(const struct matmul *p)
{
	size_t n = p->mat_n, i, j, k;

	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++) {
			double sum = 0.0;

			for (k = 0; k < n; k++)
				sum +=
				    p->mat_a[i * n + k] * p->mat_b[k * n + j];
			p->mat_c[i * n + j] = sum;
		}
	}
}

static void
fill_matrices(struct matmul *p)
{
	size_t n = p->mat_n, i, j, k;

	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++) {
			p->mat_a[i * n + j] = element_a(i, j);
			p->mat_b[i * n + j] = element_b(i, j);
		}
	}
	memset(p->mat_expect, 0, n * n * sizeof *p->mat_expect);
	for (k = 0; k < n; k++)
		for (i = 0; i < n; i++)
			for (j = 0; j < n; j++)
				p->mat_expect[i * n + j] +=
				    element_a(i, k) * element_b(k, j);
}

/* Check the result and destroy it, so that the next run must compute it. */
static bool
matmul_verify(void *arg)
{
	struct matmul *p = arg;
	size_t i, n = p->mat_n * p->mat_n;
	bool right = true;

	for (i = 0; i < n; i++) {
		if (p->mat_c[i] != (double)p->mat_expect[i])
			right = false;
		p->mat_c[i] = 0.5; /* not a sum of whole products */
	}
	return right;
}

BENCH(matmul)
{
	size_t n = (size_t)bench_arg(b, 0);
	struct matmul p = { .mat_n = n };

	p.mat_a = fail_unless_room(calloc(n * n, sizeof *p.mat_a));
	p.mat_b = fail_unless_room(calloc(n * n, sizeof *p.mat_b));
	p.mat_c = fail_unless_room(calloc(n * n, sizeof *p.mat_c));
	p.mat_expect = fail_unless_room(calloc(n * n, sizeof *p.mat_expect));
	fill_matrices(&p);
	bench_verify(b, matmul_verify, &p);
	BENCH_LOOP(b)
		matmul_body(&p);
	bench_set_items(b, n * n * n);
	free(p.mat_a);
	free(p.mat_b);
	free(p.mat_c);
	free(p.mat_expect);
}
BENCH_ARG(matmul, 48)
BENCH_LIMITS(matmul, 0, "order", 1, 1024)
BENCH_MAIN(matmul)
