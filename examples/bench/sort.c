/* How many instructions do two sorts take, by the number of elements? */
#include <bench.h>

#define MAXN 4096

static int from[MAXN], work[MAXN];

/* The same numbers on every machine. */
static void
fill(size_t n)
{
	unsigned x = 1;

	for (size_t i = 0; i < n; i++)
		from[i] = (int)((x = x * 1103515245 + 12345) >> 16 & 0x7fff);
}

static int
compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void
insert(size_t n)
{
	for (size_t i = 1; i < n; i++) {
		int x = work[i];
		size_t j = i;

		for (; j > 0 && work[j - 1] > x; j--)
			work[j] = work[j - 1];
		work[j] = x;
	}
}

static bool
is_sorted(void *arg)
{
	size_t n = *(const size_t *)arg;

	for (size_t i = 1; i < n; i++)
		if (work[i - 1] > work[i])
			return false;
	return true;
}

BENCH(quick)
{
	size_t n = (size_t)bench_arg(b, 0);

	fill(n);
	bench_verify(b, is_sorted, &n);
	BENCH_LOOP(b) {
		memcpy(work, from, n * sizeof work[0]);
		qsort(work, n, sizeof work[0], compare);
	}
	bench_set_items(b, n);
}
BENCH_RANGE(quick, 8, 512)
BENCH_LIMITS(quick, 0, "elements", 1, MAXN)

BENCH(insertion)
{
	size_t n = (size_t)bench_arg(b, 0);

	fill(n);
	bench_verify(b, is_sorted, &n);
	BENCH_LOOP(b) {
		memcpy(work, from, n * sizeof work[0]);
		insert(n);
	}
	bench_set_items(b, n);
}
BENCH_RANGE(insertion, 8, 512)
BENCH_LIMITS(insertion, 0, "elements", 1, MAXN)
