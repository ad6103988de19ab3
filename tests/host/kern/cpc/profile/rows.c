/* A profile of rows: each LWP's counts by period; its time: stat_program.sh. */
#include "tests/lib/host/kcpc/profile.h"

/* A row of two requests. */
struct row {
	struct cpc_profile_sample head;
	struct cpc_profile_usage usage;
	uint64_t count[2];
};

static void
assert_row(const struct row *r, unsigned lwp, uint64_t first, uint64_t second)
{
	assert_int_equal(r->head.cm_lwp, lwp);
	assert_int_equal(r->head.cm_nframes, CPC_PROFILE_USAGE + 2);
	assert_int_equal(r->count[0], first);
	assert_int_equal(r->count[1], second);
}

static cpc_set_t *
set_of_two(uint_t flags, uint_t second)
{
	cpc_set_t *set = profile_set(flags);

	assert_int_equal(
	    cpc_set_add_request(cpc, set, "cycles", 7, second, 0, NULL), 1);
	return set;
}

/* Without a notify request each LWP has one row, when it ends. */
PROFILE_TEST(each_lwp_has_a_row)
{
	struct row r[3];

	profile_begin(
	    set_of_two(CPC_COUNT_USER, CPC_COUNT_USER), CPC_PROFILE_ROWS);
	fake_exec();
	fake_user(5);
	assert_int_equal(fake_clone(2), 0);
	fake_switch(0, 2);
	fake_user(20);
	fake_switch(0, 1);
	fake_user(2);
	fake_exit(0, 2);
	assert_int_equal(profile_take(r, sizeof r), sizeof r[0]);
	assert_row(&r[0], 2, 20, 60); /* three cycles an instruction */
	assert_int_equal(r[0].usage.cu_switches, 1);
	fake_exit(0, 1);
	assert_int_equal(profile_take(r, sizeof r), sizeof r[0]);
	assert_row(&r[0], 1, 7, 21);
	assert_int_equal(r[0].usage.cu_switches, 2);
	assert_int_equal(r[0].usage.cu_migrations, 0);
	profile_look();
	assert_int_equal(profile_st.ct_usage.cu_switches, 3);
	assert_int_equal(profile_st.ct_left, 0);
}

/* Each overflow of the first request adds a row, and all requests restart. */
PROFILE_TEST(each_period_has_a_row)
{
	struct row r[4];

	profile_begin(set_of_two(NOTIFY, CPC_COUNT_USER), CPC_PROFILE_ROWS);
	fake_exec();
	for (unsigned i = 0; i < 2; i++)
		profile_pass(0x1000);
	fake_user(3);
	fake_exit(0, 1);
	assert_int_equal(profile_take(r, sizeof r), 3 * sizeof r[0]);
	for (unsigned i = 0; i < 2; i++)
		assert_row(&r[i], 1, PERIOD, 3 * PERIOD);
	assert_row(&r[2], 1, 3, 9);
	profile_look();
	assert_int_equal(profile_st.ct_events, 2 * PERIOD + 3);
}

/* Only the first request may notify, and only at user privilege. */
PROFILE_TEST(sets_that_have_no_rows)
{
	assert_int_equal(cpc_bind_curlwp(cpc, set_of_two(NOTIFY, NOTIFY),
			     CPC_BIND_LWP_INHERIT),
	    0);
	assert_int_equal(profile_attach(FAKE_FD, CPC_PROFILE_ROWS), EINVAL);
	assert_int_equal(
	    cpc_bind_curlwp(
		cpc, set_of_two(CPC_COUNT_USER, NOTIFY), CPC_BIND_LWP_INHERIT),
	    0);
	assert_int_equal(profile_attach(FAKE_FD, CPC_PROFILE_ROWS), EINVAL);
	bind_curlwp(set_of_two(NOTIFY, CPC_COUNT_USER));
	assert_int_equal(profile_attach(FAKE_FD, CPC_PROFILE_ROWS), EINVAL);
}
