/*
 * The LWP may read its own PICs: direct reads follow the request that has
 * the PIC.
 */
#include "tests/lib/image/cpc_test.h"

#include <pthread.h>
#include <sys/processor.h>

TEST_KEEPS(16);

#define LOOPS 5000

/* What the PIC makes of the loop, as read directly. */
static uint64_t
direct(unsigned index, uint64_t width)
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

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_request_info(cpc, set, 0, &info), 0);
	EXPECT_EQ(info.ri_picnum, 0);
	EXPECT(direct(0, info.ri_width) >= LOOPS);
}

/* CPC-BIND-21: each PIC by its own index, the same loop the same count. */
CPC_TEST(every_index_reads_its_own_pic)
{
	cpc_reqinfo_t info = { 0 };
	uint64_t first = 0, d;
	cpc_set_t *set;
	uint_t pic;

	if (!have_event(cpc, INS_EVENT))
		SKIP("this PMU does not count " INS_EVENT);
	for (pic = 0; pic < cpc_npic(cpc); pic++) {
		if (!pic_counts(cpc, INS_EVENT, pic))
			continue;
		set = cpc_set_create(cpc);
		add_pic(cpc, set, INS_EVENT, pic, own_privilege());
		EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
		EXPECT_EQ(cpc_request_info(cpc, set, 0, &info), 0);
		EXPECT_EQ(info.ri_picnum, pic);
		d = direct(info.ri_index, info.ri_width);
		if (pic == 0)
			first = d;
		EXPECT_EQ(d, first);
		EXPECT(d >= SPIN_INSNS * LOOPS);
		cpc_set_destroy(cpc, set);
	}
}

/* What a PIC holds and what a sample gives are the same count. */
CPC_TEST(direct_and_sampled_agree)
{
	cpc_set_t *set = set_of(cpc, INS_EVENT);
	uint64_t direct_value, sample;

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	direct_value = pic_read(0);
	sample = sampled(cpc, set, 0);
	EXPECT(sample >= direct_value && sample < direct_value + 1000000);
}

static void *
reads_another_lwps(void *arg)
{
	EXPECT(direct_read_faults());
	return arg;
}

/*
 * CPC-CTX-07, CPC-UNB-02: who has no set that counts is refused, though an
 * LWP of the same CPU has one, which reads and counts on.
 */
CPC_TEST(pics_are_read_while_they_count_for_the_reader)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	cpc_reqinfo_t info = { 0 };
	pthread_t t;

	if (own_privilege() == CPC_COUNT_SYSTEM)
		SKIP("to this privilege PICs are never closed");
	EXPECT_EQ(processor_bind(P_PID, P_MYID, 0, NULL), 0);
	EXPECT(direct_read_faults());
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_request_info(cpc, set, 0, &info), 0);
	for (int i = 0; i < 3; i++) {
		EXPECT(pthread_create(&t, NULL, reads_another_lwps, NULL) == 0);
		EXPECT_EQ(pthread_join(t, NULL), 0);
		EXPECT(!direct_read_faults());
		EXPECT(direct(0, info.ri_width) >= LOOPS);
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
