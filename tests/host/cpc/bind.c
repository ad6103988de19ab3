/* Binds to the current LWP: their PICs, whose counts, and how they end. */
#include "tests/lib/host/kcpc/host.h"

/* CPC-BIND-01 */
CPC_TEST(counting_has_begun_on_return)
{
	cpc_set_t *set = set_of("instructions");

	bind_curlwp(set);
	assert_int_equal(fake_pmu_running(), 1);
	fake_user(12);
	assert_int_equal(sampled(set, 0), 12);
}

/* CPC-BIND-08 */
CPC_TEST(second_set_displaces_the_first)
{
	cpc_set_t *a = set_of("instructions"), *b = set_of("cycles");
	cpc_buf_t *buf = buf_of(a);

	bind_curlwp(a);
	bind_curlwp(b);
	assert_errno(cpc_set_sample(cpc, a, buf), EINVAL);
	assert_errno(cpc_unbind(cpc, a), EINVAL);
	fake_user(1);
	assert_int_equal(sampled(b, 0), 3);
	assert_int_equal(add(a, "cycles"), 1);
}

/* CPC-BIND-10 */
CPC_TEST(binding_again_starts_again)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_preset(set, "instructions", 40);
	cpc_buf_t *buf = buf_of(set);
	bind_curlwp(set);
	fake_user(2);
	bind_curlwp(set);
	assert_int_equal(cpc_set_sample(cpc, set, buf), 0);
	assert_int_equal(got(buf, 0), 40);
	assert_int_equal(cpc_buf_tick(cpc, buf), 0);
}

/* CPC-BIND-11, CPC-CTX-01, CPC-CTX-03 */
CPC_TEST(two_lwps_count_separately)
{
	cpc_set_t *set = set_of("instructions");

	bind_curlwp(set);
	fake_user(5);
	fake_switch(0, 2);
	fake_user(1000); /* no LWP counts these */
	bind_curlwp(set);
	fake_user(7);
	assert_int_equal(sampled(set, 0), 7);
	fake_switch(0, 1);
	assert_int_equal(sampled(set, 0), 5);
	fake_user(1);
	assert_int_equal(sampled(set, 0), 6);
}

/* CPC-BIND-12, CPC-UNB-05 */
CPC_TEST(unbind_on_one_lwp_leaves_the_other)
{
	cpc_set_t *set = set_of("instructions");

	bind_curlwp(set);
	fake_switch(0, 2);
	assert_errno(cpc_unbind(cpc, set), EINVAL);
	bind_curlwp(set);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	fake_switch(0, 1);
	fake_user(3);
	assert_int_equal(sampled(set, 0), 3);
}

/* CPC-BIND-13 */
CPC_TEST(sets_of_two_handles_displace_each_other)
{
	cpc_t *first = cpc, *second = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *a = set_of("instructions"), *b;
	cpc_buf_t *buf = buf_of(a);

	bind_curlwp(a);
	cpc = second;
	b = set_of("cycles");
	bind_curlwp(b);
	cpc = first;
	assert_errno(cpc_set_sample(cpc, a, buf), EINVAL);
	fake_user(2);
	cpc = second;
	assert_int_equal(sampled(b, 0), 6);
	cpc = first;
	bind_curlwp(a);
	fake_user(2);
	assert_int_equal(sampled(a, 0), 2);
	assert_errno(cpc_unbind(second, b), EINVAL);
	cpc_close(second);
	assert_int_equal(sampled(a, 0), 2);
}

/* CPC-BIND-20. cpc_request_info() shows the PIC. */
CPC_TEST(a_single_request_lands_on_pic_0)
{
	cpc_set_t *set = set_of("0x7");
	cpc_reqinfo_t info;

	bind_curlwp(set);
	assert_int_equal(fake_pmu_running(), 1);
	assert_int_equal(cpc_request_info(cpc, set, 0, &info), 0);
	assert_int_equal(info.ri_picnum, 0);
	assert_int_equal(info.ri_width, 48);
	assert_int_equal(info.ri_code, 7);
	assert_int_equal(info.ri_index, FAKE_READ_INDEX);
	assert_errno(cpc_request_info(cpc, set, 1, &info), EINVAL);
	assert_errno(cpc_request_info(cpc, set, -1, &info), EINVAL);
	fake_switch(0, 2);
	assert_errno(cpc_request_info(cpc, set, 0, &info), EINVAL);
}

/* CPC-BIND-21 */
CPC_TEST(picnum_pins_the_counter)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_pic(set, "instructions", 3);
	bind_curlwp(set);
	fake_user(21);
	assert_int_equal(fake_pmu_running(), 1 << 3);
	assert_int_equal(fake_pmu_raw(3), 21);
}

/* CPC-BIND-22 */
CPC_TEST(assignment_moves_an_earlier_request)
{
	cpc_reqinfo_t info;

	fake_shape.asymmetric = true;
	reboot();
	cpc_set_t *set = set_of("cycles"); /* on PICs 0 and 1 */
	add(set, "branches");              /* on PIC 0 */
	bind_curlwp(set);
	assert_int_equal(cpc_request_info(cpc, set, 0, &info), 0);
	assert_int_equal(info.ri_picnum, 1);
	assert_int_equal(cpc_request_info(cpc, set, 1, &info), 0);
	assert_int_equal(info.ri_picnum, 0);
}

/* CPC-BIND-23.  The fixture checks for leaks. */
CPC_TEST(ten_thousand_binds)
{
	cpc_set_t *set = set_of("instructions");

	for (int i = 0; i < 10000; i++) {
		assert_int_equal(cpc_bind_curlwp(cpc, set, 0), 0);
		assert_int_equal(cpc_unbind(cpc, set), 0);
	}
}

/* CPC-BIND-24 */
CPC_TEST(rebind_starts_at_the_add_time_preset)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_preset(set, "instructions", 9);
	bind_curlwp(set);
	fake_user(100);
	sampled(set, 0);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	bind_curlwp(set);
	assert_int_equal(sampled(set, 0), 9);
}

/* CPC-BIND-25 */
CPC_TEST(privileges_are_counted_separately)
{
	cpc_set_t *set = set_of("instructions");

	add_flags(set, "instructions", CPC_COUNT_SYSTEM);
	add_flags(set, "instructions", CPC_COUNT_USER | CPC_COUNT_SYSTEM);
	bind_curlwp(set);
	fake_user(100);
	fake_system(30);
	assert_int_equal(sampled(set, 0), 100);
	assert_int_equal(sampled(set, 1), 30);
	assert_int_equal(sampled(set, 2), 130);
}

/* CPC-BIND-27 */
CPC_TEST(library_preset_is_for_the_next_bind)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = set_of("instructions");

	assert_int_equal(cpc_set_request_preset(cpc, set, 0, 50), 0);
	bind_curlwp(set);
	assert_int_equal(sampled(set, 0), 50);
	assert_int_equal(cpc_set_request_preset(cpc, set, 0, 60), 0);
	assert_int_equal(sampled(set, 0), 50);
	assert_errno(cpc_set_request_preset(cpc, set, 1, 0), EINVAL);
	assert_errno(cpc_set_request_preset(cpc, set, -1, 0), EINVAL);
	assert_errno(cpc_set_request_preset(other, set, 0, 0), EINVAL);
	cpc_close(other);
	bind_curlwp(set);
	assert_int_equal(sampled(set, 0), 60);
}

/* The kernel keeps the last unbind's context: binding again allocates none. */
CPC_TEST(binding_again_takes_no_memory)
{
	cpc_set_t *small = set_of("cycles"), *big = set_of("cycles"),
		  *bigger = set_of("cycles");

	add(big, "cycles");
	add(bigger, "cycles");
	add(bigger, "cycles");
	for (int i = 0; i < 3; i++) {
		fake_kmalloc_fails = 1;
		assert_int_equal(cpc_bind_curlwp(cpc, bigger, 0), 0);
		assert_int_equal(cpc_unbind(cpc, bigger), 0);
	}
	fake_kmalloc_fails = 0;
	bind_curlwp(small);
	fake_switch(0, 2);
	bind_curlwp(big);
	fake_kmalloc_fails = 1;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(cpc_bind_curlwp(cpc, small, 0), 0);
		assert_int_equal(cpc_bind_curlwp(cpc, big, 0), 0);
	}
	assert_int_equal(cpc_bind_curlwp(cpc, bigger, 0), 0);
	fake_kmalloc_fails = 0;
	/* The last unbind frees all but the room for the first context. */
	assert_int_equal(cpc_unbind(cpc, bigger), 0);
	fake_switch(0, 1);
	assert_int_equal(cpc_unbind(cpc, small), 0);
}

/* CPC-UNB-01 */
CPC_TEST(unbind_twice_is_einval)
{
	cpc_set_t *set = set_of("instructions");

	bind_curlwp(set);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	assert_errno(cpc_unbind(cpc, set), EINVAL);
}

/* CPC-UNB-02 */
CPC_TEST(unbind_closes_direct_reads)
{
	cpc_set_t *set = set_of("instructions");

	bind_curlwp(set);
	assert_int_equal(fake_pmu_readable(), 1);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	assert_int_equal(fake_pmu_readable(), 0);
	assert_int_equal(fake_pmu_running(), 0);
}

/* CPC-UNB-03 */
CPC_TEST(unbind_of_an_invalid_context_is_0)
{
	cpc_set_t *set = set_of("instructions");

	bind_curlwp(set);
	fake_invalidate();
	assert_int_equal(fake_pmu_running(), 0);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	bind_curlwp(set);
}

/* CPC-UNB-04 */
CPC_TEST(unbind_of_a_frozen_set_is_0)
{
	cpc_set_t *set = set_of("instructions");

	bind_curlwp(set);
	assert_int_equal(cpc_disable(cpc), 0);
	assert_int_equal(cpc_unbind(cpc, set), 0);
}

/* CPC-CTX-05 */
CPC_TEST(exits_with_bound_sets_leak_nothing)
{
	cpc_set_t *set = set_of("instructions");

	for (int i = 0; i < 1000; i++) {
		fake_switch(0, 2);
		bind_curlwp(set);
		fake_exit(0, 2);
		assert_int_equal(fake_pmu_running(), 0);
	}
	fake_switch(0, 1);
}

/* CPC-CTX-06 */
CPC_TEST(counts_of_an_exited_lwp_vanish)
{
	cpc_set_t *set = set_of("instructions");

	bind_curlwp(set);
	fake_user(5);
	fake_switch(0, 2);
	bind_curlwp(set);
	fake_user(1000);
	fake_exit(0, 2);
	fake_switch(0, 1);
	assert_int_equal(sampled(set, 0), 5);
}

/* Invariant 3: a set of one process has no meaning in another. */
CPC_TEST(processes_are_independent)
{
	cpc_set_t *set = set_of("instructions");
	cpc_buf_t *buf = buf_of(set);

	bind_curlwp(set);
	fake_user(4);
	fake_switch(1, 1);
	assert_errno(cpc_set_sample(cpc, set, buf), EINVAL);
	assert_errno(cpc_unbind(cpc, set), EINVAL);
	/* it is bound in another process only */
	assert_int_equal(add(set, "cycles"), 1);
	fake_switch(0, 1);
	/* The set grew in the other process, but one library serves both. */
	assert_int_equal(cpc_set_sample(cpc, set, buf), 0);
	assert_int_equal(got(buf, 0), 4);
	assert_int_equal(cpc_unbind(cpc, set), 0);
}
