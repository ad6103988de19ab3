/* CPC_OP_TEST_DISTURB, by which image tests interrupt a read when they want. */
#include "tests/lib/host/kcpc/host.h"

#include "kern/cpc/kcpc_impl.h"
#include "kern/debug/debug.h"

static cpc_set_t *set;

static int
init_hooks(void **state)
{
	test_hooks_init(false);
	return 0;
}

TEST_FIRST(init_hooks);

static int
disturb(uint64_t ns, uintptr_t how)
{
	return (int)-cpc_syscall(CPC_OP_TEST_DISTURB, ns, how, 0, 0);
}

static void
bind_new_set(void)
{
	set = set_of("instructions");
	bind_curlwp(set);
}

static uint64_t
page_seq(void)
{
	return fake_ctx(0, 1)->kc_pcbe.ps_page->cg_seq;
}

CPC_TEST(it_switches_when_due)
{
	bind_new_set();
	assert_int_equal(disturb(10, CPC_DISTURB_SWITCH), 0);
	uint64_t seq = page_seq();
	fake_user(5);
	fake_time(9);
	assert_int_equal(page_seq(), seq);
	fake_time(1);
	assert_true(page_seq() > seq);
	fake_user(7);
	assert_int_equal(sampled(set, 0), 12);
}

CPC_TEST(it_freezes_when_due)
{
	bind_new_set();
	assert_int_equal(disturb(10, CPC_DISTURB_FREEZE), 0);
	fake_user(5);
	fake_time(10);
	fake_user(100);
	assert_int_equal(sampled(set, 0), 5);
	assert_int_equal(fake_pmu_running(), 0);
	assert_int_equal(cpc_enable(cpc), 0);
	fake_user(2);
	assert_int_equal(sampled(set, 0), 7);
}

CPC_TEST(it_invalidates_when_due)
{
	bind_new_set();
	assert_int_equal(disturb(10, CPC_DISTURB_INVALIDATE), 0);
	fake_time(10);
	assert_int_equal(fake_pmu_running(), 0);
	assert_errno(cpc_set_restart(cpc, set), EAGAIN);
}

/* The LWP moves to the next CPU that takes LWPs, at last to the first. */
CPC_TEST(it_migrates_when_due)
{
	static const struct {
		unsigned on;
		uint64_t online;
		int to;
	} cases[] = { { 0, 7, 1 }, { 1, 7, 2 }, { 2, 7, 0 }, { 0, 5, 2 },
		{ 0, 1, -1 } };
	unsigned i;

	bind_new_set();
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		fake_online = cases[i].online;
		fake_cpu(cases[i].on);
		fake_switch(0, 1);
		*fake_bound(0, 1) = -1;
		assert_int_equal(disturb(10, CPC_DISTURB_MIGRATE), 0);
		fake_user(3);
		fake_time(10);
		assert_int_equal(*fake_bound(0, 1), cases[i].to);
	}
	assert_int_equal(sampled(set, 0), 3 * i);
}

/* The LWP does not run when the timer is due, or its context has stopped. */
CPC_TEST(it_leaves_a_stopped_context)
{
	uintptr_t how;

	bind_new_set();
	for (how = CPC_DISTURB_SWITCH; how <= CPC_DISTURB_MIGRATE; how++) {
		assert_int_equal(disturb(10, how), 0);
		fake_user(3);
		fake_switch(0, 2);
		fake_user(50);
		fake_time(10);
		fake_switch(0, 1);
	}
	assert_int_equal(sampled(set, 0), 12);
	assert_int_equal(*fake_bound(0, 1), -1);
	assert_int_equal(disturb(10, CPC_DISTURB_FREEZE), 0);
	assert_int_equal(cpc_disable(cpc), 0);
	assert_int_equal(cpc_enable(cpc), 0);
	fake_time(10);
	fake_user(1);
	assert_int_equal(sampled(set, 0), 13);
	/* The context no longer exists. */
	assert_int_equal(disturb(10, CPC_DISTURB_SWITCH), 0);
	fake_switch(0, 2);
	assert_int_equal(cpc_set_destroy(cpc, set), 0);
	fake_time(10);
}

CPC_TEST(a_running_context_is_needed)
{
	assert_int_equal(disturb(10, CPC_DISTURB_SWITCH), EINVAL);
	bind_new_set();
	assert_int_equal(disturb(10, CPC_DISTURB_MIGRATE + 1), EINVAL);
	assert_int_equal(disturb(10, UINTPTR_MAX), EINVAL);
	assert_int_equal(cpc_disable(cpc), 0);
	assert_int_equal(disturb(10, CPC_DISTURB_SWITCH), EINVAL);
	fake_invalidate();
	assert_int_equal(disturb(10, CPC_DISTURB_SWITCH), EAGAIN);
}
