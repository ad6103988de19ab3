/* Presets, restart, disable and enable of the LWP's own context. */
#include "tests/lib/host/kcpc/host.h"

#include <limits.h>

static cpc_set_t *
bound_set(uint64_t preset)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_preset(set, "instructions", preset);
	bind_curlwp(set);
	return set;
}

/* CPC-PRE-01 */
CPC_TEST(preset_changes_no_sample)
{
	cpc_set_t *set = bound_set(10);

	fake_user(1);
	assert_int_equal(cpc_request_preset(cpc, 0, 500), 0);
	assert_int_equal(sampled(set, 0), 11);
}

/* CPC-PRE-02 */
CPC_TEST(restart_takes_the_new_preset)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_preset(set, "instructions", 10);
	add_preset(set, "cycles", 20);
	bind_curlwp(set);
	fake_user(5);
	assert_int_equal(cpc_request_preset(cpc, 0, 500), 0);
	assert_int_equal(cpc_set_restart(cpc, set), 0);
	assert_int_equal(sampled(set, 0), 500);
	assert_int_equal(sampled(set, 1), 20);
	fake_user(5);
	assert_int_equal(sampled(set, 0), 505);
	assert_int_equal(sampled(set, 1), 35);
}

/* CPC-PRE-03 */
CPC_TEST(without_a_context_is_einval)
{
	cpc_set_t *set = set_of("instructions");

	assert_errno(cpc_request_preset(cpc, 0, 0), EINVAL);
	assert_errno(cpc_set_restart(cpc, set), EINVAL);
	assert_errno(cpc_set_restart(cpc, NULL), EINVAL);
}

/* CPC-PRE-04 */
CPC_TEST(index_out_of_range_is_einval)
{
	bound_set(0);
	assert_errno(cpc_request_preset(cpc, -1, 0), EINVAL);
	assert_errno(cpc_request_preset(cpc, 1, 0), EINVAL);
	assert_errno(cpc_request_preset(cpc, INT_MAX, 0), EINVAL);
}

/* CPC-PRE-05 */
CPC_TEST(preset_is_lost_at_rebind)
{
	cpc_set_t *set = bound_set(10);

	assert_int_equal(cpc_request_preset(cpc, 0, 500), 0);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	bind_curlwp(set);
	assert_int_equal(cpc_set_restart(cpc, set), 0);
	assert_int_equal(sampled(set, 0), 10);
}

/* CPC-PRE-06 */
CPC_TEST(preset_is_the_lwps_own)
{
	cpc_set_t *set = bound_set(10);

	fake_switch(0, 2);
	bind_curlwp(set);
	assert_int_equal(cpc_request_preset(cpc, 0, 500), 0);
	fake_switch(0, 1);
	assert_int_equal(cpc_set_restart(cpc, set), 0);
	assert_int_equal(sampled(set, 0), 10);
}

/* CPC-RST-01 */
CPC_TEST(restart_resets_every_value)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_preset(set, "instructions", 10);
	add_preset(set, "cycles", UINT64_MAX);
	add(set, "instructions");
	bind_curlwp(set);
	fake_user(90);
	assert_int_equal(cpc_set_restart(cpc, set), 0);
	assert_int_equal(sampled(set, 0), 10);
	assert_true(sampled(set, 1) == UINT64_MAX);
	assert_int_equal(sampled(set, 2), 0);
	fake_user(1); /* it counts */
	assert_int_equal(sampled(set, 0), 11);
	assert_int_equal(sampled(set, 1), 2);
	assert_int_equal(sampled(set, 2), 1);
}

/* CPC-RST-02 */
CPC_TEST(restart_does_not_reset_tick)
{
	cpc_set_t *set = bound_set(0);
	cpc_buf_t *buf = buf_of(set);

	fake_user(10);
	assert_int_equal(cpc_set_restart(cpc, set), 0);
	fake_user(10);
	assert_int_equal(cpc_set_sample(cpc, set, buf), 0);
	assert_int_equal(cpc_buf_tick(cpc, buf), 60);
}

/* CPC-RST-03 */
CPC_TEST(restart_thaws)
{
	cpc_set_t *set = bound_set(10);

	fake_user(5);
	assert_int_equal(cpc_disable(cpc), 0);
	fake_user(1000);
	assert_int_equal(cpc_set_restart(cpc, set), 0);
	fake_user(1);
	assert_int_equal(sampled(set, 0), 11);
}

/* CPC-RST-04.  Changing a preset fails in the same way. */
CPC_TEST(invalid_context_is_eagain)
{
	cpc_set_t *set = bound_set(10);

	fake_invalidate();
	assert_errno(cpc_set_restart(cpc, set), EAGAIN);
	assert_errno(cpc_request_preset(cpc, 0, 1), EAGAIN);
	assert_errno(cpc_set_sample(cpc, set, buf_of(set)), EAGAIN);
}

/* An invalid context stays invalid across switches. */
CPC_TEST(invalid_context_never_revives)
{
	cpc_set_t *set = bound_set(10);

	fake_invalidate();
	fake_switch(0, 2);
	fake_switch(0, 1);
	assert_int_equal(fake_pmu_running(), 0);
	assert_errno(cpc_set_restart(cpc, set), EAGAIN);
}

/* CPC-RST-05 */
CPC_TEST(restart_of_another_set_is_einval)
{
	cpc_set_t *other = set_of("cycles");
	cpc_t *handle = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = bound_set(10);

	fake_user(1);
	assert_errno(cpc_set_restart(cpc, other), EINVAL);
	assert_errno(cpc_set_restart(handle, set), EINVAL);
	assert_int_equal(sampled(set, 0), 11);
	assert_int_equal(cpc_set_restart(cpc, NULL), 0);
	assert_int_equal(sampled(set, 0), 10);
	cpc_close(handle);
}

/* CPC-ENA-01 */
CPC_TEST(frozen_samples_are_identical)
{
	cpc_set_t *set = bound_set(10);
	cpc_buf_t *a = buf_of(set), *b = buf_of(set);

	fake_user(1);
	assert_int_equal(cpc_disable(cpc), 0);
	assert_int_equal(cpc_set_sample(cpc, set, a), 0);
	assert_int_equal(cpc_set_sample(cpc, set, b), 0);
	assert_int_equal(got(a, 0), 11);
	assert_int_equal(got(b, 0), 11);
	assert_true(cpc_buf_hrtime(cpc, a) == cpc_buf_hrtime(cpc, b));
	assert_int_equal(cpc_buf_tick(cpc, a), cpc_buf_tick(cpc, b));
}

/* CPC-ENA-02, CPC-ENA-05 */
CPC_TEST(enable_resumes_from_the_frozen_values)
{
	cpc_set_t *set = bound_set(10);
	cpc_buf_t *buf = buf_of(set);

	fake_user(1);
	assert_int_equal(cpc_disable(cpc), 0);
	fake_user(1000);
	assert_int_equal(cpc_enable(cpc), 0);
	fake_user(2);
	assert_int_equal(cpc_set_sample(cpc, set, buf), 0);
	assert_int_equal(got(buf, 0), 13);
	assert_int_equal(cpc_buf_tick(cpc, buf), 9);
}

/* CPC-ENA-03 */
CPC_TEST(disable_and_enable_do_not_nest)
{
	bound_set(0);
	assert_errno(cpc_enable(cpc), EINVAL);
	assert_int_equal(cpc_disable(cpc), 0);
	assert_errno(cpc_disable(cpc), EINVAL);
	assert_int_equal(cpc_enable(cpc), 0);
	assert_errno(cpc_enable(cpc), EINVAL);
}

/* CPC-ENA-04 */
CPC_TEST(enable_needs_a_valid_context)
{
	assert_errno(cpc_disable(cpc), EINVAL);
	assert_errno(cpc_enable(cpc), EINVAL);
	bound_set(0);
	fake_invalidate();
	assert_errno(cpc_disable(cpc), EAGAIN);
	assert_errno(cpc_enable(cpc), EAGAIN);
}

/* CPC-ENA-06, with one process */
CPC_TEST(any_handle_will_do)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = bound_set(0);

	assert_int_equal(cpc_disable(other), 0);
	fake_user(10);
	assert_int_equal(sampled(set, 0), 0);
	assert_int_equal(cpc_enable(other), 0);
	cpc_close(other);
}

/* docs/design.md, "Counting": a switch starts no frozen context. */
CPC_TEST(frozen_stays_frozen_across_switches)
{
	cpc_set_t *set = bound_set(0);

	fake_user(3);
	assert_int_equal(cpc_disable(cpc), 0);
	fake_switch(0, 2);
	fake_switch(0, 1);
	fake_user(100);
	assert_int_equal(fake_pmu_running(), 0);
	assert_int_equal(sampled(set, 0), 3);
}
