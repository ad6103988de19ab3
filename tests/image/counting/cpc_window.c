/* Windows of <payload.h> count the instructions in them, and a constant. */
#include "tests/lib/image/cpc_test.h"

#include <payload.h>

TEST_KEEPS(16);

#define NOPS 100
#define BODY __asm__ volatile(".rept 100; nop; .endr")

/* Indexes that the read instruction takes: literals, for the macros. */
#ifdef __x86_64__
#define INDEXES(X)                                                             \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(0x40000000)
#else
#define INDEXES(X) X(0) X(1) X(2) X(3) X(4) X(5)
#endif

/* An empty window's count and that of NOPS instructions, by this PIC. */
static bool
measure_window(unsigned index, uint64_t *empty, uint64_t *nops)
{
	struct payload_window w;

	switch (index) {
#define COUNT(n)                                                               \
	case n:                                                                \
		*empty = payload_empty(n);                                     \
		payload_begin(w, n);                                           \
		BODY;                                                          \
		*nops = payload_end(w, n);                                     \
		return true;
		INDEXES(COUNT)
	}
	return false;
}

CPC_TEST(every_pic_counts_its_window)
{
	cpc_reqinfo_t info = { 0 };
	uint64_t empty = 0, nops = 0;
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
		if (EXPECT(measure_window(info.ri_index, &empty, &nops))) {
			EXPECT_EQ(empty, PAYLOAD_WINDOW_INSNS);
			EXPECT_EQ(nops, PAYLOAD_WINDOW_INSNS + NOPS);
		}
		cpc_set_destroy(cpc, set);
	}
}

/* A window changes no register that the program uses. */
CPC_TEST(a_window_keeps_operands_in_registers)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	uint64_t a = (uint64_t)(uintptr_t)set, b = ~a, c = a * 3, d = a * 5;
	struct payload_window w;

	NEEDS_DIRECT_READS();
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
	payload_begin(w, 0);
	__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
	uint64_t n = payload_end(w, 0);
	__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
	EXPECT(a == (uint64_t)(uintptr_t)set && b == ~a && c == a * 3 &&
	       d == a * 5);
	EXPECT(n > 0);
}

/* All PICs at once: stopped for each sample, running in the window. */
static void
measure_all(cpc_t *cpc, cpc_set_t *set, int n, const struct payload_pics *pp)
{
	cpc_buf_t *before = cpc_buf_create(cpc, set);
	cpc_buf_t *after = cpc_buf_create(cpc, set);
	struct payload_pics pics = *pp;
	uint64_t a = 0, b = 0;

	payload_stop_all(pics);
	EXPECT_EQ(cpc_set_sample(cpc, set, before), 0);
	payload_start_all(pics);
	BODY;
	payload_stop_all(pics);
	EXPECT_EQ(cpc_set_sample(cpc, set, after), 0);
	payload_start_all(pics);
	for (int i = 0; i < n; i++) {
		EXPECT_EQ(cpc_buf_get(cpc, before, i, &a), 0);
		EXPECT_EQ(cpc_buf_get(cpc, after, i, &b), 0);
		EXPECT_EQ(b - a, NOPS + PAYLOAD_ALL_INSNS);
	}
	cpc_buf_destroy(cpc, before);
	cpc_buf_destroy(cpc, after);
}

CPC_TEST(all_pics_count_their_window)
{
	struct payload_pics pics;
	int n = 0;

	NEEDS_DIRECT_READS();
	NEEDS_INSTRUCTIONS();
	if (own_privilege() == CPC_COUNT_USER) {
		EXPECT_ERRNO(payload_pics(&pics), EPERM);
		SKIP("this test needs system privilege");
	}
	cpc_set_t *set = cpc_set_create(cpc);
	for (uint_t pic = 0; pic < cpc_npic(cpc); pic++) {
		if (!pic_counts(cpc, INS_EVENT, pic))
			continue;
		add_pic(cpc, set, INS_EVENT, pic, own_privilege());
		n++;
	}
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	if (payload_pics(&pics) == -1) {
		EXPECT(errno == ENOTSUP);
		SKIP("this PMU cannot stop all PICs at once");
	}
	measure_all(cpc, set, n, &pics);
	measure_all(cpc, set, n, &pics);
}
