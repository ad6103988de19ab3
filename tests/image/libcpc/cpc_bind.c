/* Bind, restart and freeze the LWP's own context. */
#include "tests/lib/image/cpc_test.h"

#include <pthread.h>
#include <sys/processor.h>

/* Pages of threads' stacks, which the C library keeps. */
TEST_KEEPS(64);

/* CPC-BIND-02, CPC-BIND-03, CPC-BIND-04 */
CPC_TEST(early_failures_keep_the_binding)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = set_of(cpc, ANY_EVENT);

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_SILENT(cpc_bind_curlwp(cpc, set, CPC_BIND_EMT_OVF), EINVAL);
	EXPECT_SILENT(cpc_bind_curlwp(cpc, set, 0x4), EINVAL);
	EXPECT_SILENT(cpc_bind_curlwp(cpc, set, ~0U), EINVAL);
	EXPECT_SILENT(cpc_bind_curlwp(cpc, cpc_set_create(cpc), 0), EINVAL);
	EXPECT_SILENT(cpc_bind_curlwp(other, set, 0), EINVAL);
	uint64_t value = sampled(cpc, set, 0);
	work();
	EXPECT(sampled(cpc, set, 0) > value);
	cpc_close(other);
}

/* CPC-BIND-06 */
CPC_TEST(one_picnum_twice_is_silent)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_pic(cpc, set, ANY_EVENT, 0, CPC_COUNT_USER);
	add_pic(cpc, set, ANY_EVENT, 0, CPC_COUNT_USER);
	EXPECT_SILENT(cpc_bind_curlwp(cpc, set, 0), EINVAL);
}

/* CPC-BIND-08, CPC-BIND-13 */
CPC_TEST(second_set_displaces_the_first)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *a = set_of(cpc, ANY_EVENT), *b = set_of(other, ANY_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, a);

	EXPECT_EQ(cpc_bind_curlwp(cpc, a, 0), 0);
	EXPECT_EQ(cpc_bind_curlwp(other, b, 0), 0);
	EXPECT_ERRNO(cpc_set_sample(cpc, a, buf), EINVAL);
	EXPECT_ERRNO(cpc_unbind(cpc, a), EINVAL);
	work();
	EXPECT(sampled(other, b, 0) > 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, a, 0), 0);
	EXPECT_ERRNO(cpc_unbind(other, b), EINVAL);
	EXPECT_EQ(cpc_close(other), 0); /* it has nothing bound */
	EXPECT_EQ(cpc_set_sample(cpc, a, buf), 0);
}

/* CPC-BIND-09, CPC-BIND-19, CPC-EVT-02: no backend has codes this wide. */
CPC_TEST(late_failure_leaves_nothing_bound)
{
	cpc_set_t *a = set_of(cpc, ANY_EVENT), *b = set_of(cpc, "0x1000000000");
	cpc_buf_t *buf = cpc_buf_create(cpc, a);

	EXPECT_EQ(cpc_bind_curlwp(cpc, a, 0), 0);
	EXPECT_REPORTED(cpc_bind_curlwp(cpc, b, 0), EINVAL, "cpc_bind_curlwp",
	    CPC_INVALID_EVENT);
	EXPECT_ERRNO(cpc_set_sample(cpc, a, buf), EINVAL);
	EXPECT_ERRNO(cpc_enable(cpc), EINVAL);
}

/* CPC-BIND-14 */
CPC_TEST(notify_needs_the_capability)
{
	cpc_set_t *set = cpc_set_create(cpc);

	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) != 0)
		SKIP("needs a PMU whose overflows do not interrupt");
	add_flags(cpc, set, ANY_EVENT, CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT);
	EXPECT_SILENT(cpc_bind_curlwp(cpc, set, 0), ENOTSUP);
}

/* CPC-BIND-10, CPC-BIND-24, CPC-BIND-27 */
CPC_TEST(binding_again_starts_over)
{
	const uint64_t far = 1ULL << 40;
	cpc_set_t *set = cpc_set_create(cpc);

	add_preset(cpc, set, ANY_EVENT, 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT(sampled(cpc, set, 0) < far);
	EXPECT_EQ(cpc_set_request_preset(cpc, set, 0, far), 0);
	EXPECT(sampled(cpc, set, 0) < far);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT(sampled(cpc, set, 0) >= far);
	EXPECT_ERRNO(cpc_set_request_preset(cpc, set, 1, 0), EINVAL);
}

/* CPC-BIND-23: nothing_leaked and the launcher check for leaks. */
CPC_TEST(ten_thousand_binds)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	int i, bad = 0;

	for (i = 0; i < 10000; i++)
		bad += cpc_bind_curlwp(cpc, set, 0) != 0 ||
		       cpc_unbind(cpc, set) != 0;
	EXPECT_EQ(bad, 0);
}

/* CPC-UNB-01, CPC-PRE-03, CPC-ENA-04 */
CPC_TEST(calls_without_a_context_are_einval)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_ERRNO(cpc_unbind(cpc, set), EINVAL);
	EXPECT_ERRNO(cpc_request_preset(cpc, 0, 0), EINVAL);
	EXPECT_ERRNO(cpc_set_restart(cpc, set), EINVAL);
	EXPECT_ERRNO(cpc_disable(cpc), EINVAL);
	EXPECT_ERRNO(cpc_enable(cpc), EINVAL);
}

/* CPC-PRE-01, CPC-PRE-02, CPC-PRE-04, CPC-PRE-05, CPC-RST-01, CPC-RST-05 */
CPC_TEST(restart_takes_the_kernel_preset)
{
	const uint64_t far = 1ULL << 40;
	cpc_set_t *set = set_of(cpc, ANY_EVENT), *other;

	other = set_of(cpc, ANY_EVENT);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_request_preset(cpc, 0, far), 0);
	EXPECT_ERRNO(cpc_request_preset(cpc, 1, far), EINVAL);
	EXPECT_ERRNO(cpc_request_preset(cpc, -1, far), EINVAL);
	EXPECT(sampled(cpc, set, 0) < far);
	EXPECT_ERRNO(cpc_set_restart(cpc, other), EINVAL);
	EXPECT_EQ(cpc_set_restart(cpc, set), 0);
	EXPECT(sampled(cpc, set, 0) >= far);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_set_restart(cpc, NULL), 0);
	EXPECT(sampled(cpc, set, 0) < far);
}

static bool
samples_equal(cpc_t *cpc, cpc_buf_t *a, cpc_buf_t *b)
{
	uint64_t va = 0, vb = 1;

	cpc_buf_get(cpc, a, 0, &va);
	cpc_buf_get(cpc, b, 0, &vb);
	return va == vb && cpc_buf_tick(cpc, a) == cpc_buf_tick(cpc, b) &&
	       cpc_buf_hrtime(cpc, a) == cpc_buf_hrtime(cpc, b);
}

/* CPC-ENA-01, CPC-ENA-02, CPC-ENA-03, CPC-ENA-05, CPC-UNB-04 */
CPC_TEST(disable_freezes)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	cpc_buf_t *a = cpc_buf_create(cpc, set), *b = cpc_buf_create(cpc, set);
	uint64_t frozen, thawed;

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_ERRNO(cpc_enable(cpc), EINVAL);
	work();
	EXPECT_EQ(cpc_disable(cpc), 0);
	EXPECT_ERRNO(cpc_disable(cpc), EINVAL);
	EXPECT_EQ(cpc_set_sample(cpc, set, a), 0);
	spin(10000000);
	EXPECT_EQ(cpc_set_sample(cpc, set, b), 0);
	EXPECT(samples_equal(cpc, a, b));
	EXPECT_EQ(cpc_enable(cpc), 0);
	EXPECT_EQ(cpc_buf_get(cpc, a, 0, &frozen), 0);
	thawed = sampled(cpc, set, 0);
	EXPECT(thawed >= frozen && thawed < frozen + 1000000);
	EXPECT_EQ(cpc_disable(cpc), 0);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
}

/* CPC-RST-02, CPC-RST-03 */
CPC_TEST(restart_thaws_and_keeps_the_tick)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	cpc_buf_t *a = cpc_buf_create(cpc, set), *b = cpc_buf_create(cpc, set);
	uint64_t frozen = 0, again = 0;

	/* The work before the restart is far longer than the work after it. */
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	for (int i = 0; i < 10; i++)
		work();
	EXPECT_EQ(cpc_disable(cpc), 0);
	EXPECT_EQ(cpc_set_sample(cpc, set, a), 0);
	EXPECT_EQ(cpc_set_restart(cpc, set), 0);
	work();
	EXPECT_EQ(cpc_set_sample(cpc, set, b), 0);
	EXPECT(cpc_buf_tick(cpc, b) > cpc_buf_tick(cpc, a));
	EXPECT_EQ(cpc_buf_get(cpc, a, 0, &frozen), 0);
	EXPECT_EQ(cpc_buf_get(cpc, b, 0, &again), 0);
	EXPECT(again > 0 && again < frozen);
}

/* CPC-BIND-20 */
CPC_TEST(single_request_lands_on_pic_0)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	cpc_reqinfo_t info;

	EXPECT_ERRNO(cpc_request_info(cpc, set, 0, &info), EINVAL);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_request_info(cpc, set, 0, &info), 0);
	EXPECT_EQ(info.ri_picnum, 0);
	EXPECT(info.ri_width >= 16 && info.ri_width <= 64);
	test_note(
	    "%s is code %#llx", ANY_EVENT, (unsigned long long)info.ri_code);
}

static cpc_t *the_cpc;
static cpc_set_t *the_set;

/* Exit with the set bound. */
static void *
count_and_exit(void *buf)
{
	EXPECT_EQ(cpc_bind_curlwp(the_cpc, the_set, 0), 0);
	spin(1000);
	EXPECT_EQ(cpc_set_sample(the_cpc, the_set, buf), 0);
	return NULL;
}

/*
 * CPC-CTX-05, CPC-BIND-11, CPC-BIND-12: each LWP binds its creator's set and
 * counts the same, from 0.  The creator's count continues.
 */
CPC_TEST(a_thousand_lwps_exit_with_a_set_bound)
{
	uint64_t mine = 0, first = 0, v = 0;
	pthread_t t;

	NEEDS_INSTRUCTIONS();
	EXPECT_EQ(processor_bind(P_PID, P_MYID, 0, NULL), 0);
	the_cpc = cpc;
	the_set = set_of(cpc, INS_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, the_set);
	EXPECT_EQ(cpc_bind_curlwp(cpc, the_set, 0), 0);
	for (int i = 0; i < 1000; i++) {
		REQUIRE(pthread_create(&t, NULL, count_and_exit, buf) == 0);
		EXPECT_EQ(pthread_join(t, NULL), 0);
		EXPECT_EQ(cpc_buf_get(cpc, buf, 0, &v), 0);
		if (i == 0)
			first = v;
		EXPECT(v >= SPIN_INSNS * 1000);
		if (own_privilege() == CPC_COUNT_USER)
			EXPECT_EQ(v, first);
		spin(1);
		v = sampled(cpc, the_set, 0);
		EXPECT(v > mine);
		mine = v;
	}
	EXPECT_EQ(processor_bind(P_PID, P_MYID, PBIND_NONE, NULL), 0);
}
