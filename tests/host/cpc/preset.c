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
static void
preset_changes_no_sample(void **state)
{
	cpc_set_t *set = bound_set(10);

	(void)state;
	fake_user(1);
	assert_int_equal(cpc_request_preset(cpc, 0, 500), 0);
	assert_int_equal(sampled(set, 0), 11);
}

/* CPC-PRE-02 */
static void
restart_takes_the_new_preset(void **state)
{
	cpc_set_t *set = cpc_set_create(cpc);

	(void)state;
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
static void
without_a_context_is_einval(void **state)
{
	cpc_set_t *set = set_of("instructions");

	(void)state;
	assert_errno(cpc_request_preset(cpc, 0, 0), EINVAL);
	assert_errno(cpc_set_restart(cpc, set), EINVAL);
	assert_errno(cpc_set_restart(cpc, NULL), EINVAL);
}

/* CPC-PRE-04 */
static void
index_out_of_range_is_einval(void **state)
{
	(void)state;
	bound_set(0);
	assert_errno(cpc_request_preset(cpc, -1, 0), EINVAL);
	assert_errno(cpc_request_preset(cpc, 1, 0), EINVAL);
	assert_errno(cpc_request_preset(cpc, INT_MAX, 0), EINVAL);
}

/* CPC-PRE-05 */
static void
preset_is_lost_at_rebind(void **state)
{
	cpc_set_t *set = bound_set(10);

	(void)state;
	assert_int_equal(cpc_request_preset(cpc, 0, 500), 0);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	bind_curlwp(set);
	assert_int_equal(cpc_set_restart(cpc, set), 0);
	assert_int_equal(sampled(set, 0), 10);
}

/* CPC-PRE-06 */
static void
preset_is_the_lwps_own(void **state)
{
	cpc_set_t *set = bound_set(10);

	(void)state;
	fake_switch(0, 2);
	bind_curlwp(set);
	assert_int_equal(cpc_request_preset(cpc, 0, 500), 0);
	fake_switch(0, 1);
	assert_int_equal(cpc_set_restart(cpc, set), 0);
	assert_int_equal(sampled(set, 0), 10);
}

/* CPC-RST-01 */
static void
restart_resets_every_value(void **state)
{
	cpc_set_t *set = cpc_set_create(cpc);

	(void)state;
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
static void
restart_does_not_reset_tick(void **state)
{
	cpc_set_t *set = bound_set(0);
	cpc_buf_t *buf = buf_of(set);

	(void)state;
	fake_user(10);
	assert_int_equal(cpc_set_restart(cpc, set), 0);
	fake_user(10);
	assert_int_equal(cpc_set_sample(cpc, set, buf), 0);
	assert_int_equal(cpc_buf_tick(cpc, buf), 60);
}

/* CPC-RST-03 */
static void
restart_thaws(void **state)
{
	cpc_set_t *set = bound_set(10);

	(void)state;
	fake_user(5);
	assert_int_equal(cpc_disable(cpc), 0);
	fake_user(1000);
	assert_int_equal(cpc_set_restart(cpc, set), 0);
	fake_user(1);
	assert_int_equal(sampled(set, 0), 11);
}

/* CPC-RST-04.  Changing a preset fails in the same way. */
static void
invalid_context_is_eagain(void **state)
{
	cpc_set_t *set = bound_set(10);

	(void)state;
	fake_invalidate();
	assert_errno(cpc_set_restart(cpc, set), EAGAIN);
	assert_errno(cpc_request_preset(cpc, 0, 1), EAGAIN);
	assert_errno(cpc_set_sample(cpc, set, buf_of(set)), EAGAIN);
}

/* An invalid context stays invalid across switches. */
static void
invalid_context_never_revives(void **state)
{
	cpc_set_t *set = bound_set(10);

	(void)state;
	fake_invalidate();
	fake_switch(0, 2);
	fake_switch(0, 1);
	assert_int_equal(fake_pmu_running(), 0);
	assert_errno(cpc_set_restart(cpc, set), EAGAIN);
}

/* CPC-RST-05 */
static void
restart_of_another_set_is_einval(void **state)
{
	cpc_set_t *other = set_of("cycles");
	cpc_t *handle = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = bound_set(10);

	(void)state;
	fake_user(1);
	assert_errno(cpc_set_restart(cpc, other), EINVAL);
	assert_errno(cpc_set_restart(handle, set), EINVAL);
	assert_int_equal(sampled(set, 0), 11);
	assert_int_equal(cpc_set_restart(cpc, NULL), 0);
	assert_int_equal(sampled(set, 0), 10);
	cpc_close(handle);
}

/* CPC-ENA-01 */
static void
frozen_samples_are_identical(void **state)
{
	cpc_set_t *set = bound_set(10);
	cpc_buf_t *a = buf_of(set), *b = buf_of(set);

	(void)state;
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
static void
enable_resumes_from_the_frozen_values(void **state)
{
	cpc_set_t *set = bound_set(10);
	cpc_buf_t *buf = buf_of(set);

	(void)state;
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
static void
disable_and_enable_do_not_nest(void **state)
{
	(void)state;
	bound_set(0);
	assert_errno(cpc_enable(cpc), EINVAL);
	assert_int_equal(cpc_disable(cpc), 0);
	assert_errno(cpc_disable(cpc), EINVAL);
	assert_int_equal(cpc_enable(cpc), 0);
	assert_errno(cpc_enable(cpc), EINVAL);
}

/* CPC-ENA-04 */
static void
enable_needs_a_valid_context(void **state)
{
	(void)state;
	assert_errno(cpc_disable(cpc), EINVAL);
	assert_errno(cpc_enable(cpc), EINVAL);
	bound_set(0);
	fake_invalidate();
	assert_errno(cpc_disable(cpc), EAGAIN);
	assert_errno(cpc_enable(cpc), EAGAIN);
}

/* CPC-ENA-06, with one process */
static void
any_handle_will_do(void **state)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = bound_set(0);

	(void)state;
	assert_int_equal(cpc_disable(other), 0);
	fake_user(10);
	assert_int_equal(sampled(set, 0), 0);
	assert_int_equal(cpc_enable(other), 0);
	cpc_close(other);
}

/* docs/design.md, "Counting": a switch starts no frozen context. */
static void
frozen_stays_frozen_across_switches(void **state)
{
	cpc_set_t *set = bound_set(0);

	(void)state;
	fake_user(3);
	assert_int_equal(cpc_disable(cpc), 0);
	fake_switch(0, 2);
	fake_switch(0, 1);
	fake_user(100);
	assert_int_equal(fake_pmu_running(), 0);
	assert_int_equal(sampled(set, 0), 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(preset_changes_no_sample),
		T(restart_takes_the_new_preset),
		T(without_a_context_is_einval),
		T(index_out_of_range_is_einval),
		T(preset_is_lost_at_rebind),
		T(preset_is_the_lwps_own),
		T(restart_resets_every_value),
		T(restart_does_not_reset_tick),
		T(restart_thaws),
		T(invalid_context_is_eagain),
		T(invalid_context_never_revives),
		T(restart_of_another_set_is_einval),
		T(frozen_samples_are_identical),
		T(enable_resumes_from_the_frozen_values),
		T(disable_and_enable_do_not_nest),
		T(enable_needs_a_valid_context),
		T(any_handle_will_do),
		T(frozen_stays_frozen_across_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
