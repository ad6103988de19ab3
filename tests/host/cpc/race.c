/*
 * A bind takes no lock.  Another LWP may change the set after the library read
 * it and before the kernel does.  The bind then uses the old set or the new
 * set, or fails because the set was destroyed.
 */
#include "tests/lib/host/kcpc/host.h"

static cpc_set_t *set, *next;

/* The other LWP acts just before the system call of the bind. */
static void
run_before_call(void (*other)(void))
{
	fake_on_syscall = other;
}

#define ONCE fake_on_syscall = NULL

static void
add_one(void)
{
	ONCE;
	assert_int_equal(add(set, "instructions"), 1);
}

CPC_TEST(one_more_request)
{
	set = set_of("instructions");
	run_before_call(add_one);
	bind_curlwp(set);
	assert_int_equal(fake_pmu_running(), 3);
}

/* More requests than the pack had room for: the kernel gets the old pack. */
static void
add_many(void)
{
	ONCE;
	for (int i = 1; i < 8; i++)
		assert_int_equal(add(set, "instructions"), i);
}

CPC_TEST(the_pack_moves)
{
	fake_shape.npic = 8;
	reboot();
	set = set_of("instructions");
	run_before_call(add_many);
	bind_curlwp(set);
	assert_int_equal(fake_pmu_running(), 0xff);
	fake_user(5);
	assert_int_equal(sampled(set, 7), 5);
}

static void
destroy_set(void)
{
	ONCE;
	assert_int_equal(cpc_set_destroy(cpc, set), 0);
}

CPC_TEST(the_set_is_destroyed)
{
	set = set_of("instructions");
	run_before_call(destroy_set);
	assert_silent(cpc_bind_curlwp(cpc, set, 0), EINVAL);
	assert_int_equal(fake_pmu_running(), 0);
}

/* The next set reuses the memory of the old one, but is another set. */
static void
replace_set(void)
{
	ONCE;
	assert_int_equal(cpc_set_destroy(cpc, set), 0);
	next = set_of("cycles");
}

CPC_TEST(the_set_is_replaced)
{
	set = set_of("instructions");
	run_before_call(replace_set);
	assert_silent(cpc_bind_curlwp(cpc, set, 0), EINVAL);
	assert_int_equal(fake_pmu_running(), 0);
	bind_curlwp(next);
}

/* Creating and destroying sets repeatedly needs the memory of one set. */
CPC_TEST(set_memory_is_reused)
{
	cpc_set_t *old = NULL;

	for (int i = 0; i < 1000; i++) {
		set = set_of("instructions");
		assert_ptr_not_equal(set, old);
		old = set;
		bind_curlwp(set);
		assert_int_equal(cpc_set_destroy(cpc, set), 0);
		assert_errno(cpc_set_destroy(cpc, set), EINVAL);
	}
	assert_int_equal(fake_pmu_running(), 0);
}
