/*
 * The assignment of PICs is complete: on random coverages of up to 6 requests
 * and 6 PICs it succeeds exactly where trying everything does.
 */
#include "tests/host/host.h"

#include "kern/kcpc_impl.h"

#define N 6

/* A generator of our own, so that a failure repeats (Marsaglia's xorshift). */
static uint64_t seed;

static uint64_t
random64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static bool
brute_force(unsigned n, const uint64_t *can, uint64_t taken)
{
	unsigned pic;

	if (n == 0)
		return true;
	for (pic = 0; pic < N; pic++) {
		if ((can[0] & 1ULL << pic) != 0 && (taken & 1ULL << pic) == 0 &&
		    brute_force(n - 1, can + 1, taken | 1ULL << pic))
			return true;
	}
	return false;
}

/* Each request has a PIC it can use, and none is given twice. */
static void
is_valid(unsigned n, const uint64_t *can, const int *pic)
{
	uint64_t taken = 0;
	unsigned i;

	for (i = 0; i < n; i++) {
		assert_in_range(pic[i], 0, N - 1);
		assert_true((can[i] & 1ULL << pic[i]) != 0);
		assert_false((taken & 1ULL << pic[i]) != 0);
		taken |= 1ULL << pic[i];
	}
}

/* Part 7.3, CPC-BIND-22 */
static void
finds_an_assignment_where_one_exists(void **state)
{
	unsigned round, n, i, found = 0;
	uint64_t can[N];
	int pic[N];
	bool ok;

	(void)state;
	seed = 0x9e3779b97f4a7c15;
	for (round = 0; round < 200000; round++) {
		n = 1 + random64() % N;
		for (i = 0; i < n; i++)
			/* Sparse ones are the interesting ones. */
			can[i] = random64() & random64() & ((1 << N) - 1);
		ok = kcpc_assign(n, can, pic);
		assert_int_equal(ok, brute_force(n, can, 0));
		if (ok)
			is_valid(n, can, pic);
		found += ok;
	}
	/* Both answers were met often. */
	assert_in_range(found, 20000, 180000);
}

/* Part 7.3: a request that has the choice takes the lowest PIC. */
static void
takes_the_lowest(void **state)
{
	const uint64_t can[] = { 0x3e, 0x3e, 0x3f };
	int pic[3];

	(void)state;
	assert_true(kcpc_assign(3, can, pic));
	assert_int_equal(pic[0], 1);
	assert_int_equal(pic[1], 2);
	assert_int_equal(pic[2], 0);
}

/* All 32 PICs, in the one order possible, found from the worst one. */
static void
thirty_two_in_a_chain(void **state)
{
	uint64_t can[32];
	int pic[32], i;

	(void)state;
	for (i = 0; i < 32; i++)
		can[i] = i == 31 ? 1 : 3ULL << i;
	assert_true(kcpc_assign(32, can, pic));
	for (i = 0; i < 31; i++)
		assert_int_equal(pic[i], i + 1);
	assert_int_equal(pic[31], 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_an_assignment_where_one_exists),
		cmocka_unit_test(takes_the_lowest),
		cmocka_unit_test(thirty_two_in_a_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
