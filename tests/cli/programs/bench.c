/* Kernels of known length, compiled like a user's, with any function names. */
#include <bench.h>

#include "turns.h"

bool fail(void *arg);

/* libpayload has a function of this name of its own. */
bool
fail(void *arg)
{
	(void)arg;
	return false;
}

BENCH(turns)
{
	int64_t n = bench_arg(b, 0);

	BENCH_LOOP(b)
		make_turns(n);
	bench_set_items(b, (uint64_t)n);
}
BENCH_RANGE(turns, 8, 4096)

BENCH(product)
{
	BENCH_LOOP(b)
		make_turns(bench_arg(b, 0) * bench_arg(b, 1));
}
BENCH_RANGES(product, 2, 8, 1, 2)
BENCH_LIMITS(product, 0, "rows", 1, 100)
BENCH_LIMITS(product, 1, "columns", 1, 100)

BENCH(empty)
{
	BENCH_LOOP(b) {
	}
}

BENCH(skipped)
{
	if (bench_arg(b, 0) > 1)
		bench_skip(b, "two are too many");
	BENCH_LOOP(b) {
	}
}
BENCH_DENSE_RANGE(skipped, 1, 2, 1)

BENCH(wrong)
{
	bench_verify(b, fail, NULL);
	BENCH_LOOP(b) {
	}
}

BENCH(no_loop)
{
	(void)b;
}

BENCH(left)
{
	while (bench_next(b))
		return;
}

BENCH(argument)
{
	bench_arg(b, 0);
}
