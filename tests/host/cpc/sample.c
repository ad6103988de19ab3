/* Sampling: which sets and buffers it accepts, and which values it stores. */
#include "tests/lib/host/kcpc/host.h"

#include <sys/lwp.h>
#include <sys/time.h>

/* CPC-SMP-01 */
CPC_TEST(unbound_set_is_einval)
{
	cpc_set_t *set = set_of("instructions");

	assert_errno(cpc_set_sample(cpc, set, buf_of(set)), EINVAL);
}

/* CPC-SMP-02 */
CPC_TEST(another_sets_buffer_is_einval)
{
	cpc_set_t *set = set_of("instructions");

	bind_curlwp(set);
	assert_errno(
	    cpc_set_sample(cpc, set, buf_of(set_of("instructions"))), EINVAL);
}

/* CPC-SMP-03 */
CPC_TEST(buffer_older_than_a_request_is_einval)
{
	cpc_set_t *set = set_of("instructions");
	cpc_buf_t *buf = buf_of(set);

	add(set, "cycles");
	bind_curlwp(set);
	assert_errno(cpc_set_sample(cpc, set, buf), EINVAL);
}

/* Ground rule 6 */
CPC_TEST(foreign_set_or_buffer_is_einval)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = set_of("instructions");
	cpc_buf_t *buf = buf_of(set);

	bind_curlwp(set);
	assert_errno(cpc_set_sample(other, set, buf), EINVAL);
	assert_errno(cpc_set_sample(cpc, set, NULL), EINVAL);
	assert_errno(cpc_set_sample(cpc, NULL, buf), EINVAL);
	assert_errno(cpc_set_sample(cpc, set, (cpc_buf_t *)set), EINVAL);
	cpc_close(other);
}

/* CPC-SMP-04 */
CPC_TEST(failure_leaves_the_buffer_unchanged)
{
	cpc_set_t *set = set_of("instructions");
	cpc_buf_t *buf = buf_of(set), *copy = buf_of(set);

	bind_curlwp(set);
	fake_user(9);
	assert_int_equal(cpc_set_sample(cpc, set, buf), 0);
	cpc_buf_copy(cpc, copy, buf);
	fake_user(9);
	fake_invalidate();
	assert_errno(cpc_set_sample(cpc, set, buf), EAGAIN);
	cpc_unbind(cpc, set);
	assert_errno(cpc_set_sample(cpc, set, buf), EINVAL);
	assert_int_equal(got(buf, 0), 9);
	assert_true(cpc_buf_hrtime(cpc, buf) == cpc_buf_hrtime(cpc, copy));
	assert_true(cpc_buf_tick(cpc, buf) == cpc_buf_tick(cpc, copy));
}

/* CPC-SMP-05 */
CPC_TEST(samples_of_a_running_set_grow)
{
	cpc_set_t *set = set_of("instructions");
	cpc_buf_t *a = buf_of(set), *b = buf_of(set);

	bind_curlwp(set);
	assert_int_equal(cpc_set_sample(cpc, set, a), 0);
	fake_user(100);
	assert_int_equal(cpc_set_sample(cpc, set, b), 0);
	cpc_buf_sub(cpc, a, b, a);
	assert_int_equal(got(a, 0), 100);
	assert_int_equal(cpc_buf_tick(cpc, a), 300);
	assert_true(cpc_buf_hrtime(cpc, b) > 0);
}

/* CPC-SMP-06 */
CPC_TEST(hrtime_lies_inside_the_call)
{
	cpc_set_t *set = set_of("instructions");
	cpc_buf_t *buf = buf_of(set);

	bind_curlwp(set);
	hrtime_t before = gethrtime();
	assert_int_equal(cpc_set_sample(cpc, set, buf), 0);
	hrtime_t after = gethrtime();
	assert_true(before <= cpc_buf_hrtime(cpc, buf));
	assert_true(cpc_buf_hrtime(cpc, buf) <= after);
}

/* CPC-SMP-07: another LWP runs while this LWP sleeps. */
CPC_TEST(tick_stands_while_the_lwp_is_off_the_cpu)
{
	cpc_set_t *set = set_of("instructions");
	cpc_buf_t *buf = buf_of(set);

	bind_curlwp(set);
	fake_user(100);
	fake_switch(0, 2);
	fake_user(1000000);
	fake_switch(0, 1);
	assert_int_equal(cpc_set_sample(cpc, set, buf), 0);
	assert_int_equal(cpc_buf_tick(cpc, buf), 300);
	assert_int_equal(got(buf, 0), 100);
}

/* CPC-SMP-09 */
CPC_TEST(lwp_without_an_instance_gets_einval)
{
	cpc_set_t *set = set_of("instructions");
	cpc_buf_t *buf = buf_of(set);

	bind_curlwp(set);
	fake_switch(0, 2);
	assert_errno(cpc_set_sample(cpc, set, buf), EINVAL);
}

/* CPC-SMP-10 */
CPC_TEST(buf_sample_is_an_alias)
{
	cpc_set_t *set = set_of("instructions");
	cpc_buf_t *buf = buf_of(set);

	assert_errno(cpc_buf_sample(cpc, set, buf), EINVAL);
	bind_curlwp(set);
	fake_user(5);
	assert_int_equal(cpc_buf_sample(cpc, set, buf), 0);
	assert_int_equal(got(buf, 0), 5);
}

static void
expect_preset(void *arg, int index, const char *event, uint64_t preset,
    uint_t flags, int nattrs, const cpc_attr_t *attrs)
{
	assert_int_equal(preset, 1000);
}

/* CPC-SMP-11 */
CPC_TEST(sampling_leaves_presets_alone)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_preset(set, "instructions", 1000);
	bind_curlwp(set);
	fake_user(7);
	sampled(set, 0);
	cpc_walk_requests(cpc, set, NULL, expect_preset);
}

/* CPC-SMP-12 */
CPC_TEST(values_start_from_the_preset)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_preset(set, "instructions", 1000);
	bind_curlwp(set);
	assert_int_equal(sampled(set, 0), 1000);
	fake_user(7);
	assert_int_equal(sampled(set, 0), 1007);
}

/* include/libcpc.h: values are in the order of the requests, on any PICs. */
CPC_TEST(values_go_by_request_index)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_pic(set, "instructions", 3);
	add(set, "cycles");
	add_pic(set, "branches", 1);
	bind_curlwp(set);
	fake_user(8);
	assert_int_equal(sampled(set, 0), 8);
	assert_int_equal(sampled(set, 1), 24);
	assert_int_equal(sampled(set, 2), 2);
}

/* include/sys/lwp.h: LWP ids start at 1 in each process. */
CPC_TEST(lwp_self_is_the_lwps_id)
{
	assert_int_equal(_lwp_self(), 1);
	fake_switch(0, 3);
	assert_int_equal(_lwp_self(), 3);
	fake_switch(1, 1);
	assert_int_equal(_lwp_self(), 1);
}
