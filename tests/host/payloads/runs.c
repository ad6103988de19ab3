/* A run is disturbed only if its conditions differ; the reason is named. */
#include <string.h>

#include "payloads/common/results/runs.h"
#include "tests/lib/host/support.h"

#define GHZ 1000000000

static struct condition
quiet(void)
{
	return (struct condition){ .cn_tick = 3000, .cn_hrtime = 1000 };
}

static struct runs
judged(const struct condition *c, unsigned n, bool exclude, uint64_t hz)
{
	struct runs rn;

	runs_open(&rn, n);
	for (unsigned i = 0; i < n; i++)
		runs_add(&rn, &c[i]);
	runs_judge(&rn, NULL, exclude, hz);
	return rn;
}

/* Run i alone is disturbed, for this one reason. */
static void
only(struct runs *rn, unsigned i, const char *want)
{
	char text[120];

	assert_int_equal(rn->rn_ndisturbed, 1);
	assert_true(rn->rn_disturbed[i]);
	assert_string_equal(runs_reason(text, sizeof text, rn, i, 0), want);
	assert_null(runs_reason(text, sizeof text, rn, i, 1));
	runs_free(rn);
}

TEST(equal_runs_are_undisturbed)
{
	struct condition c[] = { quiet(), quiet(), quiet() };

	/* Every run takes two interrupts: its own timer's, for example. */
	for (unsigned i = 0; i < 3; i++)
		c[i].cn_count[COND_INTERRUPTS] = 2;
	struct runs rn = judged(c, 3, true, GHZ);
	assert_int_equal(rn.rn_ndisturbed, 0);
	assert_null(rn.rn_excluded);
	runs_free(&rn);
}

TEST(each_count_is_a_reason)
{
	static const char *const wants[COND_N] = {
		"3 interrupts, most runs 1",
		"3 NMIs, most runs 1",
		"3 SMIs, most runs 1",
		"3 throttlings",
		"3 corrected machine checks",
		"3 changed settings of the clock",
		"3 events in the kernel, most runs 1",
	};

	for (unsigned k = 0; k < COND_N; k++) {
		struct condition c[] = { quiet(), quiet(), quiet() };

		c[0].cn_count[k] = c[2].cn_count[k] = !runs_always_wrong(k);
		c[1].cn_count[k] = 3;
		struct runs rn = judged(c, 3, false, GHZ);
		assert_null(rn.rn_excluded);
		only(&rn, 1, wants[k]);
	}
}

/* As many runs took none as took one: the usual count is the smaller. */
TEST(the_smaller_count_is_usual)
{
	struct condition c[] = { quiet(), quiet() };

	c[0].cn_count[COND_NMIS] = 1;
	struct runs rn = judged(c, 2, false, GHZ);
	only(&rn, 0, "1 NMI, most runs 0");
}

TEST(the_unknown_disturbs_no_run)
{
	struct condition c[] = { quiet(), quiet(), quiet() };

	for (unsigned i = 0; i < 3; i++)
		c[i].cn_count[COND_SMIS] = COND_UNKNOWN;
	c[1].cn_count[COND_KERNEL] = COND_UNKNOWN;
	struct runs rn = judged(c, 3, false, GHZ);
	assert_int_equal(rn.rn_ndisturbed, 0);
	assert_true(rn.rn_usual.cn_count[COND_SMIS] == COND_UNKNOWN);
	assert_true(rn.rn_usual.cn_count[COND_KERNEL] == 0);
	runs_free(&rn);
}

TEST(a_run_that_moved_is_disturbed)
{
	struct condition c[] = { quiet(), quiet(), quiet() };
	struct barecpc_interrupts before = { .by_cpu = 0 },
				  after = { .by_cpu = 1 };

	condition_between(&c[2], &before, &after);
	struct runs rn = judged(c, 3, false, GHZ);
	only(&rn, 2, "moved to another CPU");
}

/*
 * A sample reads tick, and hrtime up to 20 ns later.  So the two windows of a
 * run differ by up to 40 ns, which is much of a run of nothing.  That disturbs
 * no run, but an interruption between the reads does.
 */
TEST(clocks_are_read_in_turn)
{
	static const unsigned gap[] = { 20, 0, 20, 3, 11, 20, 0 };
	enum { N = sizeof gap / sizeof gap[0] - 1 };
	struct condition nothing[N], work[N];
	struct runs empty, rn;

	for (unsigned i = 0; i < N; i++) {
		nothing[i] = work[i] = quiet();
		nothing[i].cn_tick = 100 + gap[i + 1] - gap[i];
		nothing[i].cn_hrtime = 100;
		work[i].cn_tick = 1000 + gap[i + 1] - gap[i];
	}
	runs_open(&empty, N);
	for (unsigned i = 0; i < N; i++)
		runs_add(&empty, &nothing[i]);
	runs_judge(&empty, &empty, false, GHZ);
	assert_int_equal(empty.rn_ndisturbed, 0);
	work[2].cn_tick += 1000;
	runs_open(&rn, N);
	for (unsigned i = 0; i < N; i++)
		runs_add(&rn, &work[i]);
	runs_judge(&rn, &empty, false, GHZ);
	assert_int_equal(rn.rn_ndisturbed, 1);
	assert_true(rn.rn_disturbed[2]);
	runs_free(&rn);
	runs_free(&empty);
}

/* In long runs 1 % is the limit; hrtime may be off by 42 ns at 24 MHz. */
TEST(the_ratio_is_judged)
{
	struct condition c[5];

	for (unsigned i = 0; i < 5; i++) {
		c[i].cn_tick = 3000000;
		c[i].cn_hrtime = 1000000;
		memset(c[i].cn_count, 0, sizeof c[i].cn_count);
		c[i].cn_moved = false;
	}
	c[0].cn_hrtime = 1009900;
	c[1].cn_hrtime = 990100;
	c[3].cn_hrtime = 1010100;
	struct runs rn = judged(c, 5, false, GHZ);
	only(&rn, 3, "0.337 ns a tick, most runs 0.333");
	rn = judged(c, 5, false, 0);
	assert_int_equal(rn.rn_ndisturbed, 0);
	runs_free(&rn);

	for (unsigned i = 0; i < 5; i++) {
		c[i].cn_tick = 300;
		c[i].cn_hrtime = 84;
	}
	c[4].cn_hrtime = 126;
	rn = judged(c, 5, false, 24000000);
	assert_int_equal(rn.rn_ndisturbed, 0);
	runs_free(&rn);
	rn = judged(c, 5, false, GHZ);
	only(&rn, 4, "0.420 ns a tick, most runs 0.280");
	/* A run without a tick, or of negative time, has no ratio. */
	c[4].cn_hrtime = -5;
	c[3].cn_tick = 0;
	rn = judged(c, 5, false, GHZ);
	assert_int_equal(rn.rn_ndisturbed, 0);
	runs_free(&rn);
}

TEST(disturbed_runs_are_excluded)
{
	struct condition c[] = { quiet(), quiet(), quiet() };

	c[0].cn_count[COND_NMIS] = 1;
	struct runs rn = judged(c, 3, true, GHZ);
	assert_non_null(rn.rn_excluded);
	assert_true(rn.rn_excluded[0]);
	assert_false(rn.rn_excluded[1] || rn.rn_excluded[2]);
	runs_free(&rn);
}

/* If all are disturbed, none is excluded: a mean of nothing is no result. */
TEST(all_may_be_disturbed)
{
	struct condition c[] = { quiet(), quiet(), quiet() };
	char text[120];

	c[0].cn_count[COND_NMIS] = 1;
	c[1].cn_moved = true;
	c[2].cn_moved = true;
	c[2].cn_count[COND_INTERRUPTS] = 7;
	struct runs rn = judged(c, 3, true, GHZ);
	assert_int_equal(rn.rn_ndisturbed, 3);
	assert_null(rn.rn_excluded);
	assert_string_equal(runs_reason(text, sizeof text, &rn, 2, 0),
	    "7 interrupts, most runs 0");
	assert_string_equal(
	    runs_reason(text, sizeof text, &rn, 2, 1), "moved to another CPU");
	runs_free(&rn);
}

/* Two calls of payload_interrupts(): an SMI count may wrap at 2^32. */
TEST(differences_of_calls)
{
	struct barecpc_interrupts before = { 0, BARECPC_INTERRUPTS_SMIS, 10, 2,
		UINT32_MAX, 0, 0, 0, 0, 0, 0, 0 };
	struct barecpc_interrupts after = { 0, BARECPC_INTERRUPTS_SMIS, 13, 3,
		1, 0, 0, 0, 0, 0, 0, 0 };
	struct condition c, sum;

	condition_between(&c, &before, &after);
	assert_int_equal(c.cn_count[COND_INTERRUPTS], 3);
	assert_int_equal(c.cn_count[COND_NMIS], 1);
	assert_int_equal(c.cn_count[COND_SMIS], 2);
	assert_true(c.cn_count[COND_KERNEL] == COND_UNKNOWN);
	sum = c;
	condition_add(&sum, &c);
	assert_int_equal(sum.cn_count[COND_INTERRUPTS], 6);
	assert_true(sum.cn_count[COND_KERNEL] == COND_UNKNOWN);
	after.by_flags = 0;
	condition_between(&c, &before, &after);
	assert_true(c.cn_count[COND_SMIS] == COND_UNKNOWN);
	condition_add(&sum, &c);
	assert_true(sum.cn_count[COND_SMIS] == COND_UNKNOWN);
	condition_between(&c, NULL, &after);
	assert_true(c.cn_count[COND_INTERRUPTS] == COND_UNKNOWN);
	assert_false(c.cn_moved);
}

/* One corrected error is wrong, even if each run has one. */
TEST(errors_are_never_usual)
{
	static const enum condition_kind kinds[] = { COND_THROTTLES,
		COND_ERRORS, COND_SETTINGS };
	struct condition c[] = { quiet(), quiet(), quiet() };

	for (unsigned k = 0; k < 3; k++) {
		for (unsigned i = 0; i < 3; i++)
			c[i].cn_count[kinds[k]] = 1;
		struct runs rn = judged(c, 3, false, GHZ);
		assert_int_equal(rn.rn_ndisturbed, 3);
		runs_free(&rn);
		for (unsigned i = 0; i < 3; i++)
			c[i].cn_count[kinds[k]] = 0;
	}
}

/* APERF against MPERF: 1 % is allowed, and 100 ticks of each. */
TEST(a_changed_rate_is_a_reason)
{
	struct condition c[] = { quiet(), quiet(), quiet() };

	for (unsigned i = 0; i < 3; i++) {
		c[i].cn_aperf = 1200000;
		c[i].cn_mperf = 1000000;
	}
	c[1].cn_aperf = 1188000;
	struct runs rn = judged(c, 3, false, GHZ);
	assert_int_equal(rn.rn_ndisturbed, 0);
	runs_free(&rn);
	c[1].cn_aperf = 1187000;
	rn = judged(c, 3, false, GHZ);
	only(&rn, 1, "clock at 1.187 of its base rate, most runs 1.200");
	c[1].cn_aperf = 600;
	c[1].cn_mperf = 1000;
	rn = judged(c, 3, false, GHZ);
	only(&rn, 1, "clock at 0.600 of its base rate, most runs 1.200");
	c[1].cn_aperf = 200;
	c[1].cn_mperf = 300;
	rn = judged(c, 3, false, GHZ);
	assert_int_equal(rn.rn_ndisturbed, 0);
	runs_free(&rn);
}

/* A count that the CPU does not show is unknown; else it is a difference. */
TEST(each_flag_has_its_count)
{
	struct barecpc_interrupts before = { .by_throttles = 1,
		.by_errors = 2,
		.by_settings = 3,
		.by_aperf = 100,
		.by_mperf = 200 };
	struct barecpc_interrupts after = { .by_throttles = 2,
		.by_errors = 4,
		.by_settings = 6,
		.by_aperf = 110,
		.by_mperf = 220 };
	struct condition c, sum;

	condition_between(&c, &before, &after);
	assert_true(c.cn_count[COND_THROTTLES] == COND_UNKNOWN);
	assert_true(c.cn_count[COND_ERRORS] == COND_UNKNOWN);
	assert_true(c.cn_count[COND_SETTINGS] == COND_UNKNOWN);
	assert_int_equal(c.cn_mperf, 0);
	before.by_flags = after.by_flags =
	    BARECPC_INTERRUPTS_THROTTLES | BARECPC_INTERRUPTS_ERRORS |
	    BARECPC_INTERRUPTS_SETTINGS | BARECPC_INTERRUPTS_RATE;
	condition_between(&c, &before, &after);
	assert_int_equal(c.cn_count[COND_THROTTLES], 1);
	assert_int_equal(c.cn_count[COND_ERRORS], 2);
	assert_int_equal(c.cn_count[COND_SETTINGS], 3);
	sum = c;
	condition_add(&sum, &c);
	assert_int_equal(sum.cn_aperf, 20);
	assert_int_equal(sum.cn_mperf, 40);
}
