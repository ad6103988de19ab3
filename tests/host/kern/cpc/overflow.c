/* Counters below 64 bits: an overflow interrupt or a timer extends them. */
#include "tests/lib/host/kcpc/host.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/cpc/soft/soft_pcbe.h"

static unsigned posted;

static void
count_post(struct lwp *l)
{
	posted++;
}

/* Boot with 32-bit counters, and a kernel that can or cannot signal. */
static void
boot_narrow(bool notify)
{
	fake_shape.width = 32;
	reboot();
	posted = 0;
	if (notify)
		kcpc_set_notify(count_post);
}

static cpc_set_t *
notify_set(uint64_t preset)
{
	cpc_set_t *set = cpc_set_create(cpc);

	assert_int_equal(cpc_set_add_request(cpc, set, "instructions", preset,
			     CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT, 0, NULL),
	    0);
	return set;
}

static uint64_t
stray_pmis(void)
{
	struct kcpc_stat st;

	kcpc_stat(&st);
	return st.ks_stray;
}

/* CPC-CTX-04, CPC-OVF-15 */
CPC_TEST(wraps_extend_the_count)
{
	boot_narrow(false);
	cpc_set_t *set = set_of("instructions");
	bind_curlwp(set);
	for (int i = 0; i < 10; i++)
		fake_user(0x80000001);
	assert_true(sampled(set, 0) == 10 * 0x80000001ULL);
	assert_int_equal(posted, 0);
}

/* CPC-CTX-04, across switches */
CPC_TEST(wraps_and_switches_extend_the_count)
{
	boot_narrow(false);
	cpc_set_t *set = set_of("instructions");
	bind_curlwp(set);
	for (int i = 0; i < 10; i++) {
		fake_user(0xfffffff0);
		fake_switch(0, 2);
		fake_user(12345);
		fake_switch(0, 1);
	}
	assert_true(sampled(set, 0) == 10 * 0xfffffff0ULL);
}

/* Deliver the interrupt that was held. */
static bool
release_pmi(void)
{
	fake_hold_pmi = false;
	return fake_pmi();
}

/* The interrupt comes after the counter has passed its last sample's value. */
CPC_TEST(late_interrupt_still_counts_the_wrap)
{
	boot_narrow(false);
	cpc_set_t *set = set_of("instructions");
	bind_curlwp(set);
	fake_user(5);
	assert_int_equal(sampled(set, 0), 5);
	fake_hold_pmi = true;
	fake_user(0xffffffff);
	fake_user(100);
	assert_true(release_pmi());
	assert_true(sampled(set, 0) == 0x100000000 + 104);
}

/* A sample between the wrap and its interrupt counts the wrap, once. */
CPC_TEST(sample_before_the_interrupt_counts_the_wrap_once)
{
	boot_narrow(false);
	cpc_set_t *set = set_of("instructions");
	bind_curlwp(set);
	fake_user(0xfffffff0);
	sampled(set, 0);
	fake_hold_pmi = true;
	fake_user(0x20);
	assert_true(sampled(set, 0) == 0x100000010);
	fake_user(0x20);
	release_pmi();
	assert_true(sampled(set, 0) == 0x100000030);
	fake_user(0xffffffff);
	assert_true(sampled(set, 0) == 0x20000002f);
}

/* An overflow belongs to the LWP that made it, whichever runs later. */
CPC_TEST(overflow_belongs_to_its_lwp)
{
	boot_narrow(true);
	uint64_t before = stray_pmis();
	cpc_set_t *set = notify_set(UINT64_MAX);
	bind_curlwp(set);
	fake_hold_pmi = true;
	fake_user(1);
	fake_switch(0, 2);
	assert_int_equal(posted, 1);
	bind_curlwp(set);
	assert_false(release_pmi());
	assert_int_equal(posted, 1);
	assert_int_equal(stray_pmis(), before + 1);
	assert_int_equal(sampled(set, 0), UINT64_MAX);
	fake_switch(0, 1);
	assert_int_equal(fake_pmu_running(), 0);
	assert_int_equal(sampled(set, 0), 0);
}

/* CPC-PCBE-01 */
CPC_TEST(preset_bits_above_the_width_survive)
{
	boot_narrow(false);
	cpc_set_t *set = cpc_set_create(cpc);
	add_preset(set, "instructions", 0x123456789abcdef0);
	bind_curlwp(set);
	fake_user(16);
	assert_true(sampled(set, 0) == 0x123456789abcdf00);
}

/* If only notify requests interrupt, a timer folds the others in time. */
CPC_TEST(mute_counters_are_folded_in_time)
{
	fake_shape.mute = true;
	boot_narrow(false);
	cpc_set_t *set = set_of("instructions");
	bind_curlwp(set);
	for (int i = 0; i < 100; i++) {
		fake_user(0xf0000000);
		fake_time(100 * 1000000);
	}
	assert_true(sampled(set, 0) == 100 * 0xf0000000ULL);
	assert_int_equal(cpc_unbind(cpc, set), 0); /* no timer remains */
}

/* docs/overflow.md: a sample also folds, in case the timer is late. */
CPC_TEST(mute_counters_are_folded_by_a_sample)
{
	fake_shape.mute = true;
	boot_narrow(false);
	cpc_set_t *set = set_of("instructions");
	bind_curlwp(set);
	for (uint64_t i = 1; i <= 10; i++) {
		fake_user(0xf0000000);
		assert_true(sampled(set, 0) == i * 0xf0000000);
	}
}

/* The timer belongs to the LWP that runs. */
CPC_TEST(mute_counters_of_a_switched_out_lwp_rest)
{
	fake_shape.mute = true;
	boot_narrow(false);
	cpc_set_t *set = set_of("instructions");
	bind_curlwp(set);
	fake_user(5);
	fake_switch(0, 2);
	fake_user(7);
	fake_time(1000000000);
	fake_switch(0, 1);
	assert_int_equal(sampled(set, 0), 5);
}

/* CPC-OVF-01, CPC-OVF-04, CPC-OVF-05: the kernel's half */
CPC_TEST(notify_freezes_at_the_overflow)
{
	boot_narrow(true);
	cpc_set_t *set = notify_set(UINT64_MAX - 999);
	cpc_buf_t *a = buf_of(set);
	cpc_buf_t *b = buf_of(set);
	bind_curlwp(set);
	fake_user(999);
	assert_int_equal(posted, 0);
	hrtime_t before = gethrtime();
	fake_user(1);
	hrtime_t after = gethrtime();
	assert_int_equal(posted, 1);
	fake_user(5000);
	assert_int_equal(posted, 1);
	assert_int_equal(cpc_set_sample(cpc, set, a), 0);
	assert_int_equal(cpc_set_sample(cpc, set, b), 0);
	assert_int_equal(got(a, 0), 0);
	assert_int_equal(cpc_buf_tick(cpc, a), 3000);
	assert_int_equal(cpc_buf_tick(cpc, b), 3000);
	assert_true(cpc_buf_hrtime(cpc, a) == cpc_buf_hrtime(cpc, b));
	assert_true(before <= cpc_buf_hrtime(cpc, a));
	assert_true(cpc_buf_hrtime(cpc, a) <= after);
}

/* CPC-INV-04, CPC-OVF-05: posted once, and not for an invalid context. */
CPC_TEST(a_signal_is_due_once)
{
	struct lwp *l = fake_lwp(0, 1);

	boot_narrow(true);
	assert_false(kcpc_sigemt_due(l));
	assert_false(kcpc_sigemt_take(l, NULL));
	cpc_set_t *set = notify_set(UINT64_MAX);
	bind_curlwp(set);
	assert_false(kcpc_sigemt_due(l));
	fake_user(1);
	assert_true(kcpc_sigemt_due(l));
	assert_true(kcpc_sigemt_take(l, NULL));
	assert_false(kcpc_sigemt_due(l));
	assert_false(kcpc_sigemt_take(l, NULL));
	assert_int_equal(cpc_set_restart(cpc, set), 0);
	fake_user(1);
	fake_invalidate();
	assert_false(kcpc_sigemt_due(l));
	assert_false(kcpc_sigemt_take(l, NULL));
}

/* kern/cpc/pcbe.h: requests whose overflow in the kernel notifies at once. */
CPC_TEST(urgent_requests_notify_in_the_kernel)
{
	static const struct {
		uint_t flags[2];
		uint32_t urgent;
	} cases[] = {
		{ { CPC_COUNT_SYSTEM | CPC_OVF_NOTIFY_EMT, CPC_COUNT_USER },
		    1 },
		{ { CPC_COUNT_USER, CPC_COUNT_SYSTEM | CPC_OVF_NOTIFY_EMT },
		    2 },
		{ { CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT, CPC_COUNT_SYSTEM },
		    0 },
		{ { CPC_COUNT_SYSTEM, CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT },
		    0 },
		{ { CPC_COUNT_SYSTEM, CPC_COUNT_SYSTEM }, 0 },
	};
	cpc_set_t *set;

	boot_narrow(true);
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		set = cpc_set_create(cpc);
		add_flags(set, "instructions", cases[i].flags[0]);
		add_flags(set, "cycles", cases[i].flags[1]);
		bind_curlwp(set);
		assert_int_equal(
		    fake_ctx(0, 1)->kc_pcbe.ps_nmi_pics, cases[i].urgent);
	}
}

/* CPC-OVF-06, CPC-OVF-07: the kernel's half */
CPC_TEST(restart_enables_the_next_signal)
{
	boot_narrow(true);
	cpc_set_t *set = notify_set(UINT64_MAX - 999);
	add_preset(set, "cycles", 5);
	bind_curlwp(set);
	for (int i = 1; i <= 5; i++) {
		fake_user(1000);
		assert_int_equal(posted, i);
		assert_int_equal(sampled(set, 1), 3005);
		assert_int_equal(cpc_set_restart(cpc, set), 0);
		assert_int_equal(sampled(set, 1), 5);
	}
}

/* CPC-OVF-08: the kernel's half */
CPC_TEST(enable_counts_past_the_wrap)
{
	boot_narrow(true);
	cpc_set_t *set = notify_set(UINT64_MAX);
	bind_curlwp(set);
	fake_user(1);
	assert_int_equal(posted, 1);
	assert_int_equal(cpc_enable(cpc), 0);
	fake_user(40);
	assert_int_equal(sampled(set, 0), 40);
}

/* CPC-OVF-15: with PRECISE the wrap of another request does not notify. */
CPC_TEST(precise_wrap_of_another_request_is_silent)
{
	boot_narrow(true);
	cpc_set_t *set = notify_set(0);
	add_preset(set, "cycles", UINT64_MAX - 2);
	bind_curlwp(set);
	fake_user(4);
	assert_int_equal(posted, 0);
	assert_int_equal(sampled(set, 0), 4);
	assert_int_equal(sampled(set, 1), 9);
}

/* CPC-OVF-16 */
CPC_TEST(imprecise_wrap_of_any_request_notifies)
{
	fake_shape.imprecise = true;
	boot_narrow(true);
	cpc_set_t *set = notify_set(0);
	add_preset(set, "cycles", UINT64_MAX - 2);
	bind_curlwp(set);
	fake_user(4);
	assert_int_equal(posted, 1);
}

/* CPC-OVF-17 */
CPC_TEST(two_overflows_notify_once)
{
	boot_narrow(true);
	cpc_set_t *set = notify_set(UINT64_MAX);
	cpc_set_add_request(cpc, set, "instructions", UINT64_MAX,
	    CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT, 0, NULL);
	bind_curlwp(set);
	fake_user(1);
	assert_int_equal(posted, 1);
}

/* CPC-OVF-16, CPC-OVF-17: any of several requests notifies. */
CPC_TEST(any_notify_request_notifies)
{
	uint64_t presets[2];
	cpc_set_t *set;

	boot_narrow(true);
	for (int i = 0; i < 2; i++) {
		presets[i] = UINT64_MAX - 9;
		presets[1 - i] = 0;
		set = notify_set(presets[0]);
		cpc_set_add_request(cpc, set, "instructions", presets[1],
		    CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT, 0, NULL);
		bind_curlwp(set);
		fake_user(10);
		assert_int_equal(posted, 1 + i);
		assert_int_equal(sampled(set, i), 0);
		assert_int_equal(sampled(set, 1 - i), 10);
	}
}

/*
 * docs/overflow.md: an interrupt without an overflow is a stray PMI, with a
 * running context (kcpc_pmi() has a fast path for it) or without.  It changes
 * nothing else.
 */
CPC_TEST(interrupt_without_overflow_is_ignored)
{
	uint64_t before = stray_pmis();

	boot_narrow(false);
	cpc_set_t *set = set_of("instructions");
	bind_curlwp(set);
	fake_user(3);
	assert_false(fake_pmi());
	fake_user(3);
	assert_int_equal(sampled(set, 0), 6);
	assert_int_equal(stray_pmis(), before + 1);
	fake_switch(0, 2);
	assert_false(fake_pmi());
	assert_int_equal(stray_pmis(), before + 2);
	fake_shape.npic = 0;
	reboot();
	assert_false(fake_pmi());
}

/* docs/overflow.md: it is counted, and PICs without a context stop. */
CPC_TEST(overflow_without_context_is_stray)
{
	uint64_t before = stray_pmis();

	boot_narrow(true);
	cpc_set_t *set = notify_set(UINT64_MAX);
	bind_curlwp(set);
	fake_switch(0, 2);
	fake_ops->program(&fake_ctx(0, 1)->kc_pcbe);
	fake_hold_pmi = true;
	fake_user(1);
	assert_true(release_pmi());
	assert_int_equal(fake_pmu_running(), 0);
	assert_int_equal(stray_pmis(), before + 1);
	kcpc_pmi_late(); /* a PMI whose overflow was handled before it came */
	assert_int_equal(stray_pmis(), before + 2);
	assert_int_equal(posted, 0);
}

/* docs/boot.md, "The software PMU": pmi= says how often an interrupt comes. */
CPC_TEST(a_machine_interrupts_twice)
{
	static const enum soft_pmi pmis[] = { SOFT_PMI_ONCE, SOFT_PMI_TWICE };
	struct soft_shape shape = soft_shape_default;

	for (unsigned i = 0; i < 2; i++) {
		boot_narrow(true);
		shape.ns_pmi = pmis[i];
		const struct pcbe_ops *soft = soft_pcbe(&shape, "software");
		bind_curlwp(notify_set(UINT64_MAX - 9));
		uint64_t before = stray_pmis();
		soft->advance(9, CPC_COUNT_USER);
		assert_int_equal(posted, 0);
		soft->advance(1, CPC_COUNT_USER);
		assert_int_equal(posted, 1);
		assert_int_equal(stray_pmis(), before + i);
	}
}

/* Every fourth instruction is a branch, from the start of each set on. */
CPC_TEST(a_part_of_an_event_is_not_kept)
{
	fake_shape = fake_ordinary;
	reboot();
	cpc_set_t *set = set_of("branches");
	for (int round = 0; round < 2; round++) {
		bind_curlwp(set);
		fake_user(3);
		assert_int_equal(sampled(set, 0), 0);
		fake_user(1);
		assert_int_equal(sampled(set, 0), 1);
		fake_user(2);
		assert_int_equal(cpc_unbind(cpc, set), 0);
	}
}

/* docs/overflow.md: a helper PIC belongs to the context, and ends with it. */
CPC_TEST(helpers_come_from_the_spare_pics)
{
	struct kcpc_stat st;

	fake_shape.helpers = true;
	boot_narrow(true);
	cpc_set_t *set = notify_set(0);
	add(set, "cycles");
	add(set, "cycles");
	bind_curlwp(set);
	kcpc_stat(&st);
	assert_int_equal(st.ks_pics, 4);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	add(set, "cycles");
	assert_reported(cpc_bind_curlwp(cpc, set, 0), EINVAL, "cpc_bind_curlwp",
	    CPC_RESOURCE_UNAVAIL);
}
