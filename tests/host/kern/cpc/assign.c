/*
 * The assignment of PICs is complete.  On random coverages of up to 6 requests
 * and 6 PICs it succeeds exactly when a search of all assignments does.
 */
#include "tests/lib/host/kcpc/host.h"

#include "kern/cpc/assign.h"

#define N 6

/* A generator with a fixed seed, so that a failure repeats (Marsaglia). */
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

/* Each request has a PIC that can count it, and no PIC has two requests. */
static void
expect_valid(unsigned n, const uint64_t *can, const int *pic)
{
	uint64_t taken = 0;

	for (unsigned i = 0; i < n; i++) {
		assert_in_range(pic[i], 0, 31);
		assert_true((can[i] & 1ULL << pic[i]) != 0);
		assert_false((taken & 1ULL << pic[i]) != 0);
		taken |= 1ULL << pic[i];
	}
}

/* The reason names requests that have only the named PICs, too few. */
static void
expect_reason(unsigned n, const uint64_t *can, const struct kcpc_short *why)
{
	assert_true(why->ksh_reqs != 0 && why->ksh_reqs >> n == 0);
	assert_true(__builtin_popcountll(why->ksh_reqs) >
		    __builtin_popcountll(why->ksh_pics));
	for (unsigned i = 0; i < n; i++) {
		if ((why->ksh_reqs >> i & 1) != 0)
			assert_true((can[i] & ~why->ksh_pics) == 0);
	}
}

/* CPC-BIND-22 */
TEST(finds_an_assignment_where_one_exists)
{
	unsigned round, n, i, found = 0;
	struct kcpc_short why;
	uint64_t can[N];
	int pic[N];
	bool ok;

	seed = 0x9e3779b97f4a7c15;
	for (round = 0; round < 200000; round++) {
		n = 1 + random64() % N;
		for (i = 0; i < n; i++)
			/* Sparse coverages are the difficult ones. */
			can[i] = random64() & random64() & ((1 << N) - 1);
		ok = kcpc_assign(n, can, pic, &why);
		assert_int_equal(ok, brute_force(n, can, 0));
		if (ok)
			expect_valid(n, can, pic);
		else
			expect_reason(n, can, &why);
		found += ok;
	}
	/* Both results occurred often. */
	assert_in_range(found, 20000, 180000);
}

/* Too many requests for a full search, but each result can be verified. */
TEST(results_of_full_size_are_verified)
{
	unsigned round, n, i, found = 0;
	struct kcpc_short why;
	uint64_t can[32];
	int pic[32];

	seed = 0x2545f4914f6cdd1d;
	for (round = 0; round < 50000; round++) {
		n = 24 + random64() % 9;
		for (i = 0; i < n; i++)
			can[i] =
			    random64() & random64() & random64() & 0xffffffff;
		if (kcpc_assign(n, can, pic, &why)) {
			expect_valid(n, can, pic);
			found++;
		} else {
			expect_reason(n, can, &why);
		}
	}
	assert_in_range(found, 5000, 45000);
}

/* CPC-BIND-20: a request with a choice takes the lowest PIC. */
TEST(takes_the_lowest)
{
	const uint64_t can[] = { 0x3e, 0x3e, 0x3f };
	int pic[3];

	assert_true(kcpc_assign(3, can, pic, NULL));
	assert_int_equal(pic[0], 1);
	assert_int_equal(pic[1], 2);
	assert_int_equal(pic[2], 0);
}

/* All 32 PICs, with one possible assignment that reverses the first choice. */
TEST(a_chain_of_32)
{
	uint64_t can[32];
	int pic[32], i;

	for (i = 0; i < 32; i++)
		can[i] = i == 31 ? 1 : 3ULL << i;
	assert_true(kcpc_assign(32, can, pic, NULL));
	for (i = 0; i < 31; i++)
		assert_int_equal(pic[i], i + 1);
	assert_int_equal(pic[31], 0);
}

/* The most expensive case: only the last holder of a PIC can move. */
TEST(the_longest_search_of_32)
{
	uint64_t can[32], taken = 0;
	int pic[32], i;

	for (i = 0; i < 32; i++)
		can[i] = i == 0 ? 0xffffffff : (1ULL << i) - 1;
	assert_true(kcpc_assign(32, can, pic, NULL));
	for (i = 0; i < 32; i++) {
		assert_true((can[i] >> pic[i] & 1) != 0);
		taken |= 1ULL << pic[i];
	}
	assert_int_equal(taken, 0xffffffff);
	assert_int_equal(pic[0], 31);
}
