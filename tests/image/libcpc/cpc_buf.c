/* Buffers and samples that hold real counts. */
#include "tests/lib/image/cpc_test.h"

#include <sys/time.h>
#include <time.h>

TEST_KEEPS(16);

static uint64_t
buf_value(cpc_t *cpc, cpc_buf_t *buf, int index)
{
	uint64_t value = 0;

	EXPECT_EQ(cpc_buf_get(cpc, buf, index, &value), 0);
	return value;
}

/* CPC-BUF-01, CPC-BUF-03, CPC-BUF-04, CPC-BUF-05, CPC-BUF-12, CPC-BUF-15 */
CPC_TEST(values_are_kept)
{
	cpc_buf_t *buf = cpc_buf_create(cpc, set_of(cpc, ANY_EVENT));

	REQUIRE(buf != NULL);
	EXPECT_EQ(buf_value(cpc, buf, 0), 0);
	EXPECT_EQ(cpc_buf_hrtime(cpc, buf), 0);
	EXPECT_EQ(cpc_buf_tick(cpc, buf), 0);
	EXPECT_EQ(cpc_buf_set(cpc, buf, 0, UINT64_MAX), 0);
	EXPECT_EQ(buf_value(cpc, buf, 0), UINT64_MAX);
	EXPECT_ERRNO(cpc_buf_set(cpc, buf, 1, 1), EINVAL);
	EXPECT_ERRNO(cpc_buf_set(cpc, buf, -1, 1), EINVAL);
	cpc_buf_zero(cpc, buf);
	EXPECT_EQ(buf_value(cpc, buf, 0), 0);
	EXPECT_EQ(cpc_buf_destroy(cpc, buf), 0);
	EXPECT_ERRNO(cpc_buf_destroy(cpc, buf), EINVAL);
}

/* CPC-BUF-06, CPC-BUF-07, CPC-BUF-08, CPC-BUF-09, CPC-BUF-10, CPC-BUF-11 */
/* CPC-BUF-16, CPC-SMP-05 */
CPC_TEST(arithmetic_on_samples)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	cpc_buf_t *a = cpc_buf_create(cpc, set);
	cpc_buf_t *b = cpc_buf_create(cpc, set);
	cpc_buf_t *d = cpc_buf_create(cpc, set);
	EXPECT_EQ(cpc_set_sample(cpc, set, a), 0);
	cpc_buf_set(cpc, d, 0, UINT64_MAX); /* changes no counter */
	work();
	EXPECT_EQ(cpc_set_sample(cpc, set, b), 0);
	uint64_t va = buf_value(cpc, a, 0);
	uint64_t vb = buf_value(cpc, b, 0);
	EXPECT(vb > va);
	EXPECT(cpc_buf_tick(cpc, b) > cpc_buf_tick(cpc, a));
	EXPECT(cpc_buf_hrtime(cpc, b) > cpc_buf_hrtime(cpc, a));
	cpc_buf_sub(cpc, d, a, b);
	EXPECT_EQ(buf_value(cpc, d, 0), va - vb);
	EXPECT_EQ(cpc_buf_hrtime(cpc, d), cpc_buf_hrtime(cpc, b));
	cpc_buf_add(cpc, d, d, b);
	EXPECT_EQ(buf_value(cpc, d, 0), va);
	EXPECT_EQ(cpc_buf_tick(cpc, d), cpc_buf_tick(cpc, a));
	cpc_buf_copy(cpc, d, b);
	EXPECT_EQ(buf_value(cpc, d, 0), vb);
}

/* CPC-SMP-01, CPC-SMP-02, CPC-SMP-03, CPC-SMP-04 */
CPC_TEST(samples_that_fail_change_nothing)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	cpc_buf_t *early = cpc_buf_create(cpc, set), *buf;

	EXPECT_ERRNO(cpc_set_sample(cpc, set, early), EINVAL);
	add(cpc, set, ANY_EVENT);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_ERRNO(cpc_set_sample(cpc, set, early), EINVAL);
	buf = cpc_buf_create(cpc, set_of(cpc, ANY_EVENT));
	EXPECT_ERRNO(cpc_set_sample(cpc, set, buf), EINVAL);
	EXPECT_EQ(buf_value(cpc, early, 0), 0);
	EXPECT_EQ(cpc_buf_hrtime(cpc, early), 0);
}

/* CPC-SMP-06 */
CPC_TEST(hrtime_is_between_start_and_end_of_the_call)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	hrtime_t before = gethrtime();
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	hrtime_t after = gethrtime();
	EXPECT(before <= cpc_buf_hrtime(cpc, buf));
	EXPECT(cpc_buf_hrtime(cpc, buf) <= after);
}

/*
 * CPC-SMP-07: tick and count stop during the sleep of 100 ms.  The ways into
 * and out of the sleep count.  They take less than 1,000,000 cycles, 1 ms at 1
 * GHz.
 */
CPC_TEST(tick_stops_during_sleep)
{
	const struct timespec ms100 = { 0, 100000000 };
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	cpc_buf_t *a = cpc_buf_create(cpc, set), *b = cpc_buf_create(cpc, set);

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_set_sample(cpc, set, a), 0);
	nanosleep(&ms100, NULL);
	EXPECT_EQ(cpc_set_sample(cpc, set, b), 0);
	cpc_buf_sub(cpc, a, b, a);
	EXPECT(cpc_buf_tick(cpc, a) < 1000000);
	EXPECT(buf_value(cpc, a, 0) < 1000000);
}

/* CPC-SMP-10, CPC-SMP-12 */
CPC_TEST(values_start_from_the_preset)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_preset(cpc, set, ANY_EVENT, 1000);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_buf_sample(cpc, set, buf), 0);
	uint64_t value = buf_value(cpc, buf, 0);
	EXPECT(value >= 1000 && value < 1000000);
}

/* CPC-PCBE-01: no 32-bit counter holds this; half of it is far off. */
CPC_TEST(wide_presets_survive)
{
	const uint64_t wide = 0x123456789abc0000;
	cpc_set_t *set = cpc_set_create(cpc);

	add_preset(cpc, set, ANY_EVENT, wide);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT(sampled(cpc, set, 0) - wide < 1ULL << 32);
}
