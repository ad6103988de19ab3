/*
 * The sample by the counter page: whatever comes between any two of its
 * instructions, it is that of the system call.
 */
#include <stdio.h>
#include <sys/cpc.h>

#include "tests/image/cpc_test.h"

TEST_KEEPS(16);

/* More ticks than lie between a stir's system call and a sample's end. */
#define WALK 2500

static uint64_t
value(cpc_t *cpc, cpc_buf_t *buf, int index)
{
	uint64_t v = 0;

	EXPECT_EQ(cpc_buf_get(cpc, buf, index, &v), 0);
	return v;
}

/* As the kernel has it. */
static uint64_t
by_call(cpc_set_t *set, int n)
{
	struct {
		struct cpc_sample head;
		uint64_t value[CPC_PAGE_REQS];
	} s;

	EXPECT_EQ(cpc_syscall(CPC_OP_SAMPLE, (uintptr_t)set >> 24,
		      (uintptr_t)&s, (uintptr_t)n, 0),
	    0);
	return s.value[n - 1];
}

/*
 * Stir after d ticks, sample meanwhile, freeze or not; what the first request
 * counted from one sample to the next.
 */
static uint64_t
stirred(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf, uint64_t d, bool freeze)
{
	uint64_t before, after;

	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	before = value(cpc, buf, 0);
	EXPECT_EQ(cpc_syscall(CPC_OP_STIR, d, freeze, 0, 0), 0);
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	after = value(cpc, buf, 0);
	return after - before;
}

CPC_TEST(a_switch_at_any_instruction_loses_nothing)
{
	cpc_set_t *set = set_of(cpc, INS_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	uint64_t plain, d, n, again = 0;

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	plain = stirred(cpc, set, buf, 1000000000, false);
	for (d = 1; d < WALK; d++) {
		n = stirred(cpc, set, buf, d, false);
		EXPECT(n >= plain && n <= plain + 1000);
		again += n > plain;
		EXPECT(by_call(set, 1) > value(cpc, buf, 0));
	}
	printf(
	    "# %llu of %d were read twice\n", (unsigned long long)again, WALK);
}

CPC_TEST(a_freeze_at_any_instruction_is_a_frozen_sample)
{
	cpc_set_t *set = set_of(cpc, INS_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	uint64_t d, v, frozen = 0;

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	for (d = 1; d < WALK; d++) {
		stirred(cpc, set, buf, d, true);
		v = value(cpc, buf, 0);
		/* A freeze not yet due goes with the first. */
		if (cpc_disable(cpc) == -1)
			frozen++;
		EXPECT_EQ(cpc_enable(cpc), 0);
		EXPECT(by_call(set, 1) >= v);
	}
	printf("# %llu of %d froze\n", (unsigned long long)frozen, WALK);
}

CPC_TEST(every_pic_reads_as_the_kernel_has_it)
{
	uint64_t first, second, kernel;
	cpc_buf_t *buf;
	cpc_set_t *set;
	uint_t pic;

	for (pic = 0; pic < cpc_npic(cpc); pic++) {
		if (!pic_counts(cpc, INS_EVENT, pic))
			continue;
		set = cpc_set_create(cpc);
		add_pic(cpc, set, INS_EVENT, pic, own_privilege());
		buf = cpc_buf_create(cpc, set);
		EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
		EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
		EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
		first = value(cpc, buf, 0);
		kernel = by_call(set, 1);
		EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
		second = value(cpc, buf, 0);
		EXPECT(first < kernel && kernel < second);
		cpc_set_destroy(cpc, set);
	}
}
