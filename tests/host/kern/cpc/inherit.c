/* CPC_BIND_LWP_INHERIT: the context of a new LWP. */
#include "tests/lib/host/kcpc/host.h"

#include <sys/time.h>

#include "kern/cpc/kcpc.h"

#include "kern/sched/cpu.h"

static struct lwp *posted;
static unsigned posts;

static void
record_post(struct lwp *l)
{
	posted = l;
	posts++;
}

static void
bind_inherit(cpc_set_t *set)
{
	assert_int_equal(cpc_bind_curlwp(cpc, set, CPC_BIND_LWP_INHERIT), 0);
}

/* CPC-INH-01 */
CPC_TEST(child_counts_from_presets)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_preset(set, "instructions", 100);
	add_preset(set, "cycles", 7);
	cpc_buf_t *buf = buf_of(set);
	bind_inherit(set);
	fake_user(20);
	fake_switch(0, 3); /* and back: counts and cycles were saved */
	fake_switch(0, 1);
	fake_user(30);
	assert_int_equal(fake_clone(2), 0);
	fake_switch(0, 2);
	assert_int_equal(cpc_set_sample(cpc, set, buf), 0);
	assert_int_equal(got(buf, 0), 100);
	assert_int_equal(got(buf, 1), 7);
	assert_int_equal(cpc_buf_tick(cpc, buf), 0);
	fake_user(5);
	assert_int_equal(sampled(set, 0), 105);
	assert_int_equal(sampled(set, 1), 7 + 15);
	fake_switch(0, 1);
	assert_int_equal(sampled(set, 0), 150);
}

/* CPC-INH-02 */
CPC_TEST(without_the_flag_nothing_is_inherited)
{
	cpc_set_t *set = set_of("instructions");
	cpc_buf_t *buf = buf_of(set);

	bind_curlwp(set);
	assert_int_equal(fake_clone(2), 0);
	fake_switch(0, 2);
	assert_int_equal(fake_pmu_running(), 0);
	assert_errno(cpc_set_sample(cpc, set, buf), EINVAL);
}

/* CPC-INH-04 */
CPC_TEST(grandchildren_inherit)
{
	cpc_set_t *set = set_of("instructions");

	bind_inherit(set);
	assert_int_equal(fake_clone(2), 0);
	fake_switch(0, 2);
	fake_user(10);
	assert_int_equal(fake_clone(3), 0);
	fake_switch(0, 3);
	fake_user(4);
	assert_int_equal(sampled(set, 0), 4);
	fake_switch(0, 2);
	assert_int_equal(sampled(set, 0), 10);
}

/* docs/design.md, "Counting": a child has its creator's PICs. */
CPC_TEST(the_assignment_is_inherited)
{
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_reqinfo_t mine, its;

	add_pic(set, "instructions", 3);
	add(set, "cycles");
	bind_inherit(set);
	assert_int_equal(fake_clone(2), 0);
	for (int i = 0; i < 2; i++) {
		fake_switch(0, 1);
		assert_int_equal(cpc_request_info(cpc, set, i, &mine), 0);
		fake_switch(0, 2);
		assert_int_equal(cpc_request_info(cpc, set, i, &its), 0);
		assert_memory_equal(&mine, &its, sizeof mine);
	}
}

static void
boot_with_signals(void)
{
	reboot();
	posts = 0;
	kcpc_set_notify(record_post);
}

/*
 * One request with notification and this preset, one without and with preset
 * 9.
 */
static cpc_set_t *
notify_set(uint64_t preset)
{
	cpc_set_t *set = cpc_set_create(cpc);

	assert_int_equal(cpc_set_add_request(cpc, set, "instructions", preset,
			     CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT, 0, NULL),
	    0);
	add_preset(set, "cycles", 9);
	return set;
}

/* CPC-INH-05, CPC-INH-06, CPC-INH-07, CPC-INH-08: the kernel's half */
CPC_TEST(notify_child_waits_for_its_handler)
{
	boot_with_signals();
	cpc_set_t *set = notify_set(UINT64_MAX - 999);
	bind_inherit(set);
	fake_user(10);
	assert_int_equal(fake_clone(2), 0);
	assert_int_equal(posts, 1);
	fake_user(10);
	assert_int_equal(sampled(set, 1), 9 + 60); /* the parent continues */

	fake_switch(0, 2);
	assert_ptr_equal(posted, lwp_self());
	assert_true(kcpc_sigemt_take(lwp_self(), NULL));
	assert_false(kcpc_sigemt_take(lwp_self(), NULL)); /* once */
	fake_user(10);
	assert_true(sampled(set, 0) == UINT64_MAX);
	assert_int_equal(sampled(set, 1), 9);
	assert_int_equal(cpc_set_restart(cpc, set), 0);
	fake_user(10);
	assert_true(sampled(set, 0) == UINT64_MAX - 999 + 10);
	assert_int_equal(sampled(set, 1), 9 + 30);
	assert_int_equal(posts, 1);
}

/* CPC-INH-09: a preset that the library holds takes effect at a bind. */
CPC_TEST(kernel_presets_are_inherited)
{
	cpc_set_t *set = set_of("instructions");

	bind_inherit(set);
	assert_int_equal(cpc_request_preset(cpc, 0, 40), 0);
	assert_int_equal(cpc_set_request_preset(cpc, set, 0, 7777), 0);
	assert_int_equal(fake_clone(2), 0);
	assert_int_equal(sampled(set, 0), 0);
	fake_switch(0, 2);
	assert_int_equal(sampled(set, 0), 40);
	fake_user(2);
	assert_int_equal(cpc_set_restart(cpc, set), 0);
	assert_int_equal(sampled(set, 0), 40);
	bind_inherit(set);
	assert_int_equal(sampled(set, 0), 7777);
}

/* CPC-INH-10 */
CPC_TEST(child_of_a_disabled_parent_is_disabled)
{
	cpc_set_t *set = set_of("instructions");
	cpc_buf_t *buf = buf_of(set);

	bind_inherit(set);
	fake_user(3);
	assert_int_equal(cpc_disable(cpc), 0);
	hrtime_t before = gethrtime();
	assert_int_equal(fake_clone(2), 0);
	fake_switch(0, 2);
	fake_user(100);
	assert_int_equal(cpc_set_sample(cpc, set, buf), 0);
	assert_int_equal(got(buf, 0), 0);
	assert_true(cpc_buf_hrtime(cpc, buf) >= before);
	assert_int_equal(cpc_enable(cpc), 0);
	fake_user(5);
	assert_int_equal(sampled(set, 0), 5);
	fake_switch(0, 1);
	assert_int_equal(sampled(set, 0), 3);
	assert_errno(cpc_disable(cpc), EINVAL);
}

/* CPC-INH-05: the parent is frozen by its overflow, and not signalled yet. */
CPC_TEST(child_of_an_overflowed_parent_has_its_own_signal)
{
	boot_with_signals();
	cpc_set_t *set = notify_set(UINT64_MAX);
	bind_inherit(set);
	fake_user(1);
	assert_int_equal(posts, 1);
	assert_int_equal(fake_clone(2), 0);
	assert_int_equal(posts, 2);
	assert_true(kcpc_sigemt_take(lwp_self(), NULL));
	assert_int_equal(sampled(set, 0), 0);
	fake_switch(0, 2);
	assert_true(kcpc_sigemt_take(lwp_self(), NULL));
	assert_true(sampled(set, 0) == UINT64_MAX);
}

/* CPC-INH-11 */
CPC_TEST(child_of_an_invalid_parent_has_no_set)
{
	cpc_set_t *set = set_of("instructions");
	cpc_buf_t *buf = buf_of(set);

	bind_inherit(set);
	fake_invalidate();
	assert_int_equal(fake_clone(2), 0);
	fake_switch(0, 2);
	assert_errno(cpc_set_sample(cpc, set, buf), EINVAL);
	bind_inherit(set);
}

/* CPC-INH-12 */
CPC_TEST(unbind_of_one_leaves_the_other)
{
	cpc_set_t *set = set_of("instructions");
	cpc_buf_t *buf = buf_of(set);

	bind_inherit(set);
	assert_int_equal(fake_clone(2), 0);
	assert_int_equal(fake_clone(3), 0);
	fake_switch(0, 2);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	assert_errno(cpc_set_sample(cpc, set, buf), EINVAL);
	fake_switch(0, 1);
	fake_user(6);
	assert_int_equal(sampled(set, 0), 6);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	fake_switch(0, 3);
	fake_user(8);
	assert_int_equal(sampled(set, 0), 8);
}

/* docs/design.md, "Counting": without memory no LWP is created. */
CPC_TEST(no_memory_is_eagain)
{
	struct kcpc_stat before, after;
	cpc_set_t *set = set_of("instructions");

	bind_inherit(set);
	kcpc_stat(&before);
	fake_kmalloc_fails = 1;
	assert_int_equal(fake_clone(2), EAGAIN);
	kcpc_stat(&after);
	assert_int_equal(after.ks_contexts, before.ks_contexts);
	assert_int_equal(after.ks_pics, before.ks_pics);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	assert_int_equal(add(set, "cycles"), 1);
}

/* CPC-INH-12: if a timer folds narrow counters, each context has its own. */
CPC_TEST(each_context_folds_mute_counters)
{
	fake_shape.width = 32;
	fake_shape.mute = true;
	reboot();
	cpc_set_t *set = set_of("instructions");
	bind_inherit(set);
	assert_int_equal(fake_clone(2), 0);
	for (int i = 0; i < 4; i++) {
		fake_switch(0, 1 + i % 2);
		fake_user(0xf0000000);
		fake_time(100 * 1000000);
	}
	assert_true(sampled(set, 0) == 2 * 0xf0000000ULL);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	fake_switch(0, 1);
	assert_true(sampled(set, 0) == 2 * 0xf0000000ULL);
}

/* A child takes its own helper PICs and frees them. */
CPC_TEST(helpers_are_inherited)
{
	struct kcpc_stat st;

	fake_shape.helpers = true;
	boot_with_signals();
	cpc_set_t *set = notify_set(UINT64_MAX - 999);
	bind_inherit(set);
	assert_int_equal(fake_clone(2), 0);
	kcpc_stat(&st);
	assert_int_equal(st.ks_pics, 2 * 3);
	fake_switch(0, 2);
	assert_true(kcpc_sigemt_take(lwp_self(), NULL));
	assert_int_equal(cpc_set_restart(cpc, set), 0);
	fake_user(1000);
	assert_int_equal(posts, 2);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	kcpc_stat(&st);
	assert_int_equal(st.ks_pics, 3);
}

/* docs/design.md, "Counting": a set is bound while an instance lives. */
CPC_TEST(live_instances_are_counted)
{
	cpc_set_t *set = set_of("instructions"), *other = set_of("cycles");
	static const int orders[][3] = { { 1, 2, 3 }, { 2, 3, 1 }, { 3, 1, 2 },
		{ 3, 2, 1 }, { 2, 1, 3 }, { 1, 3, 2 } };
	unsigned i, n;

	for (i = 0; i < sizeof orders / sizeof *orders; i++) {
		for (n = 1; n <= 3; n++) {
			fake_switch(0, (int)n);
			bind_curlwp(set);
		}
		fake_switch(0, 4);
		bind_curlwp(other);
		for (n = 0; n < 3; n++) {
			assert_errno(cpc_set_add_request(
					 cpc, set, "cycles", 0, 0, 0, NULL),
			    EINVAL);
			fake_switch(0, orders[i][n]);
			assert_int_equal(cpc_unbind(cpc, set), 0);
		}
		assert_int_equal(add(set, "instructions"), i % 3 + 1);
		if (i == 2) {
			cpc_set_destroy(cpc, set);
			set = set_of("instructions");
		}
	}
}
