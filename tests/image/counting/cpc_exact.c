/*
 * Retired instructions are counted exactly, on every PIC and at every
 * privilege.
 *
 * spin_loop(n) retires 2 n instructions and a constant.  The difference of two
 * lengths cancels the constant, and the instructions of bind and sample.  So
 * there is no tolerance.
 */
#include "tests/lib/image/cpc_test.h"

#include <stdio.h>
#include <time.h>

TEST_KEEPS(16);

#define SHORT 1000
#define LONG  3000
#define WANT  (SPIN_INSNS * (LONG - SHORT))

/* The count of n iterations between samples, after a round to fill caches. */
ONE_COPY static uint64_t
count_spin(cpc_t *cpc, cpc_set_t *set, int index, cpc_buf_t *a, cpc_buf_t *b,
    uint64_t n)
{
	uint64_t va = 0, vb = 0;

	for (int round = 0; round < 2; round++) {
		EXPECT_EQ(cpc_set_sample(cpc, set, a), 0);
		spin(n);
		EXPECT_EQ(cpc_set_sample(cpc, set, b), 0);
	}
	cpc_buf_get(cpc, a, index, &va);
	cpc_buf_get(cpc, b, index, &vb);
	return vb - va;
}

/* The count of LONG - SHORT iterations by request `index` of the bound set. */
static uint64_t
count_difference(cpc_t *cpc, cpc_set_t *set, int index)
{
	cpc_buf_t *a = cpc_buf_create(cpc, set), *b = cpc_buf_create(cpc, set);
	uint64_t d = count_spin(cpc, set, index, a, b, LONG);

	d -= count_spin(cpc, set, index, a, b, SHORT);
	cpc_buf_destroy(cpc, a);
	cpc_buf_destroy(cpc, b);
	return d;
}

static void
each_pic(cpc_t *cpc, uint_t flags)
{
	uint64_t want = (flags & own_privilege()) != 0 ? WANT : 0;
	cpc_set_t *set;

	for (uint_t pic = 0; pic < cpc_npic(cpc); pic++) {
		if (!pic_counts(cpc, INS_EVENT, pic))
			continue;
		set = cpc_set_create(cpc);
		add_pic(cpc, set, INS_EVENT, pic, flags);
		EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
		if (!EXPECT_EQ(count_difference(cpc, set, 0), want))
			test_note("PIC %u, flags %#x", pic, flags);
		cpc_set_destroy(cpc, set);
	}
}

/* CPC-SMP-08, CPC-BIND-21, CPC-BIND-25 */
CPC_TEST(user_is_exact_on_every_pic)
{
	NEEDS_INSTRUCTIONS();
	each_pic(cpc, CPC_COUNT_USER);
}

/* CPC-BIND-25 */
CPC_TEST(system_is_exact_on_every_pic)
{
	NEEDS_INSTRUCTIONS();
	each_pic(cpc, CPC_COUNT_SYSTEM);
}

/* CPC-BIND-25 */
CPC_TEST(both_are_exact_on_every_pic)
{
	NEEDS_INSTRUCTIONS();
	each_pic(cpc, CPC_COUNT_USER | CPC_COUNT_SYSTEM);
}

/* All PICs at once: each request counts the same work. */
CPC_TEST(all_pics_at_once_are_exact)
{
	cpc_set_t *set = cpc_set_create(cpc);
	uint_t i, n = 0;

	NEEDS_INSTRUCTIONS();
	for (i = 0; i < cpc_npic(cpc); i++) {
		if (pic_counts(cpc, INS_EVENT, i))
			EXPECT_EQ(add(cpc, set, INS_EVENT), n++);
	}
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	for (i = 0; i < n; i++)
		EXPECT_EQ(count_difference(cpc, set, (int)i), WANT);
}

/* CPC-CTX-04: below 2^32, so that a 32-bit counter wraps in the loop. */
CPC_TEST(a_narrow_counter_that_wraps_is_exact)
{
	cpc_set_t *set = cpc_set_create(cpc);

	NEEDS_INSTRUCTIONS();
	add_preset(cpc, set, INS_EVENT, (1ULL << 32) - SHORT);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(count_difference(cpc, set, 0), WANT);
	uint64_t before = sampled(cpc, set, 0);
	EXPECT(before > 1ULL << 32);
	EXPECT_EQ(cpc_set_restart(cpc, set), 0);
	spin(LONG);
	uint64_t after = sampled(cpc, set, 0);
	EXPECT(after > (1ULL << 32) + SHORT && after < 1ULL << 33);
}

/* CPC-EVT-03: a raw code counts the same as the name that has this code. */
CPC_TEST(raw_code_is_the_named_event)
{
	cpc_set_t *named, *raw;
	cpc_reqinfo_t info = { 0 };
	char code[32];

	NEEDS_INSTRUCTIONS();
	if (software_pmu)
		SKIP("the named events of a software PMU have no raw codes");
	named = set_of(cpc, INS_EVENT);
	EXPECT_EQ(cpc_bind_curlwp(cpc, named, 0), 0);
	EXPECT_EQ(cpc_request_info(cpc, named, 0, &info), 0);
	snprintf(code, sizeof code, "%#llx", (unsigned long long)info.ri_code);
	raw = set_of(cpc, code);
	EXPECT_EQ(cpc_bind_curlwp(cpc, raw, 0), 0);
	EXPECT_EQ(count_difference(cpc, raw, 0), WANT);
}

/* The count of two loops; a sleep between them leaves the CPU. */
ONE_COPY static uint64_t
count_asleep(cpc_t *cpc, cpc_set_t *set, uint64_t n)
{
	const struct timespec ms = { 0, 1000000 };
	/* Before the bind, because the length of an allocation varies. */
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	uint64_t v = 0;

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	spin(n);
	nanosleep(&ms, NULL);
	spin(n);
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	EXPECT_EQ(cpc_buf_get(cpc, buf, 0, &v), 0);
	cpc_buf_destroy(cpc, buf);
	return v;
}

/* CPC-PCBE-02, CPC-CTX-03: a switch neither loses nor adds counts. */
CPC_TEST(sleeping_costs_no_count)
{
	cpc_set_t *set = cpc_set_create(cpc);

	NEEDS_INSTRUCTIONS();
	if (own_privilege() != CPC_COUNT_USER)
		SKIP("at system privilege the sleep is counted, too");
	add_flags(cpc, set, INS_EVENT, CPC_COUNT_USER);
	count_asleep(cpc, set, SHORT);
	uint64_t d = count_asleep(cpc, set, LONG);
	d -= count_asleep(cpc, set, SHORT);
	EXPECT_EQ(d, 2 * WANT);
}

/* The count of n iterations, with uncounted ones between disable and enable. */
ONE_COPY static uint64_t
count_enabled(cpc_t *cpc, cpc_set_t *set, uint64_t n)
{
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	spin(n);
	EXPECT_EQ(cpc_disable(cpc), 0);
	spin(LONG * 10);
	EXPECT_EQ(cpc_enable(cpc), 0);
	EXPECT_EQ(cpc_disable(cpc), 0);
	return sampled(cpc, set, 0);
}

/* A frozen set counts nothing, and continues exactly where it stopped. */
CPC_TEST(disable_and_enable_lose_nothing)
{
	cpc_set_t *set = cpc_set_create(cpc);

	NEEDS_INSTRUCTIONS();
	add_flags(cpc, set, INS_EVENT, CPC_COUNT_USER);
	if (own_privilege() != CPC_COUNT_USER)
		SKIP("at system privilege cpc_disable() is counted, too");
	uint64_t brief = count_enabled(cpc, set, SHORT);
	EXPECT_EQ(count_enabled(cpc, set, LONG) - brief, WANT);
}
