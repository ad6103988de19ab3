/*
 * A bind takes no lock: whatever another LWP does to the set between the
 * library's look at it and the kernel's, the bind is of the set as it was
 * before or as it is afterwards, or fails as that of a set that is gone.
 */
#include "tests/lib/host/host.h"

static cpc_set_t *set, *next;

/* The other LWP, which is served before the bind that is on its way. */
static void
in_between(void (*other)(void))
{
	fake_on_syscall = other;
}

#define ONCE fake_on_syscall = NULL

static void
adds_one(void)
{
	ONCE;
	assert_int_equal(add(set, "instructions"), 1);
}

static void
a_request_more(void **state)
{
	(void)state;
	set = set_of("instructions");
	in_between(adds_one);
	bind_curlwp(set);
	assert_int_equal(fake_pmu_running(), 3);
}

/* More than the pack had room for: the kernel is handed the old one. */
static void
adds_many(void)
{
	int i;

	ONCE;
	for (i = 1; i < 8; i++)
		assert_int_equal(add(set, "instructions"), i);
}

static void
a_pack_that_moves(void **state)
{
	(void)state;
	fake_shape.npic = 8;
	reboot();
	set = set_of("instructions");
	in_between(adds_many);
	bind_curlwp(set);
	assert_int_equal(fake_pmu_running(), 0xff);
	fake_user(5);
	assert_int_equal(sampled(set, 7), 5);
}

static void
destroys(void)
{
	ONCE;
	assert_int_equal(cpc_set_destroy(cpc, set), 0);
}

static void
a_set_that_goes(void **state)
{
	(void)state;
	set = set_of("instructions");
	in_between(destroys);
	assert_silent(cpc_bind_curlwp(cpc, set, 0), EINVAL);
	assert_int_equal(fake_pmu_running(), 0);
}

/* The next set has the memory of the old one, and is not taken for it. */
static void
replaces(void)
{
	ONCE;
	assert_int_equal(cpc_set_destroy(cpc, set), 0);
	next = set_of("cycles");
}

static void
a_set_that_another_follows(void **state)
{
	(void)state;
	set = set_of("instructions");
	in_between(replaces);
	assert_silent(cpc_bind_curlwp(cpc, set, 0), EINVAL);
	assert_int_equal(fake_pmu_running(), 0);
	bind_curlwp(next);
}

/* Sets that come and go take no more memory than the first. */
static void
sets_are_used_again(void **state)
{
	cpc_set_t *old = NULL;
	int i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		set = set_of("instructions");
		assert_ptr_not_equal(set, old);
		old = set;
		bind_curlwp(set);
		assert_int_equal(cpc_set_destroy(cpc, set), 0);
		assert_errno(cpc_set_destroy(cpc, set), EINVAL);
	}
	assert_int_equal(fake_pmu_running(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_request_more),
		T(a_pack_that_moves),
		T(a_set_that_goes),
		T(a_set_that_another_follows),
		T(sets_are_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
