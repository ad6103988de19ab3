/*
 * An LWP that binds a set to a CPU has to go there first.  What others do on
 * the way.
 */
#include "tests/lib/host/host.h"

#include <pthread.h>
#include <time.h>

#include "kern/cpc/kcpc.h"

static void
bind_cpu(processorid_t cpu, cpc_set_t *set)
{
	assert_int_equal(cpc_bind_cpu(cpc, cpu, set, 0), 0);
}

static cpc_t *mine;
static cpc_set_t *rival;
static int rivals_cpu;

/* LWP 2 of process 1 runs there in between. */
static void
rival_binds(void)
{
	fake_on_move = NULL;
	fake_cpu((unsigned)rivals_cpu);
	fake_switch(1, 2);
	bind_cpu(rivals_cpu, rival);
	fake_cpu(0);
}

/* The bind to CPU 1 fails, and nothing of it is left; the rival's counts. */
static void
rival_is_first(int its_cpu, int err)
{
	cpc_set_t *set = set_of("instructions");

	/* Of another handle, since this one's lock is held. */
	mine = cpc;
	cpc = cpc_open(CPC_VER_CURRENT);
	rival = set_of("cycles");
	rivals_cpu = its_cpu;
	*fake_bound(0, 1) = 0;
	fake_on_move = rival_binds;
	assert_errno(cpc_bind_cpu(mine, 1, set, 0), err);
	assert_int_equal(*fake_bound(0, 1), 0);
	fake_cpu((unsigned)its_cpu);
	fake_switch(1, 2);
	fake_user(1);
	assert_int_equal(sampled(rival, 0), 3);
	cpc_close(cpc);
	cpc = mine;
}

/* CPC-CPU-03, CPC-CPU-08: the CPU was free when the LWP set out for it. */
static void
it_is_late_for_the_cpu(void **state)
{
	(void)state;
	rival_is_first(1, EAGAIN);
}

/* CPC-CPU-03, Part 4.5: and so was its sibling. */
static void
a_sibling_is_bound_on_the_way(void **state)
{
	(void)state;
	fake_shape.shared = true;
	reboot();
	rival_is_first(2, EACCES);
}

static void
other_moves_it(void)
{
	fake_on_move = NULL;
	*fake_bound(0, 1) = 2;
}

/* Part 4.5: by a processor_bind(2) of another LWP; it does not insist. */
static void
it_is_moved_on_the_way(void **state)
{
	(void)state;
	fake_on_move = other_moves_it;
	assert_silent(cpc_bind_cpu(cpc, 1, set_of("instructions"), 0), EAGAIN);
	assert_false(fake_pmu_any());
}

static cpc_set_t *bound_meanwhile;

static void
other_binds_it_for_itself(void)
{
	fake_on_move = NULL;
	fake_cpu(1);
	fake_switch(0, 2);
	bind_curlwp(bound_meanwhile);
	fake_cpu(0);
}

/* CPC-BIND-28: that one came first, and is gone. */
static void
the_set_is_bound_on_the_way(void **state)
{
	cpc_buf_t *buf;

	(void)state;
	bound_meanwhile = set_of("instructions");
	buf = buf_of(bound_meanwhile);
	fake_on_move = other_binds_it_for_itself;
	bind_cpu(1, bound_meanwhile);
	fake_user(6);
	assert_int_equal(sampled(bound_meanwhile, 0), 6);
	fake_switch(0, 2);
	assert_errno(cpc_set_sample(cpc, bound_meanwhile, buf), EINVAL);
	assert_int_equal(cpc_unbind(cpc, bound_meanwhile), 0);
}

static pthread_t helper;
static void *(*others_call)(void *set);

static void *
unbind(void *set)
{
	return cpc_unbind(cpc, set) == 0 ? set : NULL;
}

static void *
destroy(void *set)
{
	return cpc_set_destroy(cpc, set) == 0 ? set : NULL;
}

/* It has time enough to get into the kernel, if nothing holds it. */
static void
other_calls(void)
{
	const struct timespec ms = { 0, 20000000 };

	fake_on_move = NULL;
	assert_int_equal(
	    pthread_create(&helper, NULL, others_call, bound_meanwhile), 0);
	nanosleep(&ms, NULL);
}

/*
 * Part 4.5: an unbind, and a destroy, wait for a bind that is on its way to
 * its CPU, so that nothing stays bound.
 */
static void
a_bind_on_its_way_is_waited_for(void **state)
{
	void *(*const calls[])(void *) = { unbind, destroy };
	struct kcpc_stat st;
	void *done;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		bound_meanwhile = set_of("instructions");
		others_call = calls[i];
		fake_on_move = other_calls;
		bind_cpu(1, bound_meanwhile);
		assert_int_equal(pthread_join(helper, &done), 0);
		assert_ptr_equal(done, bound_meanwhile);
		kcpc_stat(&st);
		assert_int_equal(st.ks_contexts, 0);
		assert_false(fake_pmu_any());
		fake_cpu(0);
		fake_switch(0, 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(it_is_late_for_the_cpu),
		T(a_sibling_is_bound_on_the_way),
		T(it_is_moved_on_the_way),
		T(the_set_is_bound_on_the_way),
		T(a_bind_on_its_way_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
