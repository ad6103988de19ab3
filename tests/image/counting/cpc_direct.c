/* An LWP reads its set's PICs directly, by cpc_request_info()'s index. */
#include "tests/lib/image/cpc_test.h"

#include <pthread.h>
#include <sys/processor.h>

TEST_KEEPS(16);

#define LOOPS 5000

/* The loop's count by direct reads; a PIC may wrap once between them. */
static uint64_t
direct_count(unsigned index, uint64_t width)
{
	uint64_t before = pic_read(index), after;

	spin_loop(LOOPS);
	after = pic_read(index);
	return width == 64 ? after - before
	                   : (after - before) & ((1ULL << width) - 1);
}

/* CPC-BIND-20 */
CPC_TEST(pic_0_follows_a_single_request)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	cpc_reqinfo_t info = { 0 };

	NEEDS_DIRECT_READS();
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_request_info(cpc, set, 0, &info), 0);
	EXPECT_EQ(info.ri_picnum, 0);
	EXPECT(direct_count(0, info.ri_width) >= LOOPS);
}

/* CPC-BIND-21: on each PIC, by its own index, a loop counts the same. */
CPC_TEST(every_index_reads_its_own_pic)
{
	cpc_reqinfo_t info = { 0 };
	uint64_t first = 0, d;
	cpc_set_t *set;

	NEEDS_DIRECT_READS();
	NEEDS_INSTRUCTIONS();
	for (uint_t pic = 0; pic < cpc_npic(cpc); pic++) {
		if (!pic_counts(cpc, INS_EVENT, pic))
			continue;
		set = cpc_set_create(cpc);
		add_pic(cpc, set, INS_EVENT, pic, own_privilege());
		EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
		EXPECT_EQ(cpc_request_info(cpc, set, 0, &info), 0);
		EXPECT_EQ(info.ri_picnum, pic);
		d = direct_count(info.ri_index, info.ri_width);
		if (pic == 0)
			first = d;
		EXPECT_EQ(d, first);
		EXPECT(d >= SPIN_INSNS * LOOPS);
		cpc_set_destroy(cpc, set);
	}
}

/* A sample exceeds the direct read before it by little. */
CPC_TEST(direct_reads_and_samples_agree)
{
	NEEDS_DIRECT_READS();
	NEEDS_INSTRUCTIONS();
	cpc_set_t *set = set_of(cpc, INS_EVENT);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	uint64_t direct_value = pic_read(0);
	uint64_t sample = sampled(cpc, set, 0);
	EXPECT(sample >= direct_value && sample < direct_value + 1000000);
}

static void *
read_without_a_set(void *arg)
{
	EXPECT(direct_read_faults());
	return arg;
}

/* CPC-CTX-07, CPC-UNB-02: a direct read faults unless this LWP's set runs. */
CPC_TEST(direct_reads_work_only_while_the_reader_counts)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	cpc_reqinfo_t info = { 0 };
	pthread_t t;

	NEEDS_DIRECT_READS();
	if (own_privilege() == CPC_COUNT_SYSTEM)
		SKIP("code at system privilege can always read the PICs");
	EXPECT_EQ(processor_bind(P_PID, P_MYID, 0, NULL), 0);
	EXPECT(direct_read_faults());
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_request_info(cpc, set, 0, &info), 0);
	for (int i = 0; i < 3; i++) {
		EXPECT(pthread_create(&t, NULL, read_without_a_set, NULL) == 0);
		EXPECT_EQ(pthread_join(t, NULL), 0);
		EXPECT(!direct_read_faults());
		EXPECT(direct_count(0, info.ri_width) >= LOOPS);
	}
	EXPECT_EQ(cpc_disable(cpc), 0);
	EXPECT(direct_read_faults());
	EXPECT_EQ(cpc_enable(cpc), 0);
	EXPECT(!direct_read_faults());
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT(direct_read_faults());
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, set, 0), 0);
	EXPECT(direct_read_faults());
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_EQ(processor_bind(P_PID, P_MYID, PBIND_NONE, NULL), 0);
}
