/* An LWP that binds a set to a CPU must move there first.  Others act then. */
#include "tests/lib/host/kcpc/host.h"

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

/* LWP 2 of process 1 binds its set while the other LWP moves. */
static void
rival_binds(void)
{
	fake_on_move = NULL;
	fake_cpu((unsigned)rivals_cpu);
	fake_switch(1, 2);
	bind_cpu(rivals_cpu, rival);
	fake_cpu(0);
}

/* The rival uses another handle, because the first handle is locked. */
static void
make_rival(int its_cpu)
{
	mine = cpc;
	cpc = cpc_open(CPC_VER_CURRENT);
	rival = set_of("cycles");
	rivals_cpu = its_cpu;
}

/* The bind to CPU 1 fails and leaves nothing; the rival's set counts. */
static void
rival_binds_first(int its_cpu, int err)
{
	cpc_set_t *set = set_of("instructions");

	make_rival(its_cpu);
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

/* CPC-CPU-03, CPC-CPU-08: the CPU was free when the LWP began to move. */
CPC_TEST(the_cpu_is_bound_on_the_way)
{
	rival_binds_first(1, EAGAIN);
}

/* CPC-CPU-03: its sibling was free, too. */
CPC_TEST(a_sibling_is_bound_on_the_way)
{
	fake_shape.shared = true;
	reboot();
	rival_binds_first(2, EACCES);
}

static void
bind_lwp_elsewhere(void)
{
	fake_on_move = NULL;
	*fake_bound(0, 1) = 2;
}

/* Another LWP calls processor_bind(2), which holds; the bind gives up. */
CPC_TEST(the_lwp_is_moved_on_the_way)
{
	fake_on_move = bind_lwp_elsewhere;
	assert_silent(cpc_bind_cpu(cpc, 1, set_of("instructions"), 0), EAGAIN);
	assert_false(fake_pmu_any());
	assert_int_equal(*fake_bound(0, 1), 2);
}

static cpc_set_t *shared_set;

static void
bind_to_lwp_2(void)
{
	fake_on_move = NULL;
	fake_cpu(1);
	fake_switch(0, 2);
	bind_curlwp(shared_set);
	fake_cpu(0);
}

/* CPC-BIND-28: the other LWP's binding came first, and this bind ends it. */
CPC_TEST(the_set_is_bound_on_the_way)
{
	shared_set = set_of("instructions");
	cpc_buf_t *buf = buf_of(shared_set);
	fake_on_move = bind_to_lwp_2;
	bind_cpu(1, shared_set);
	fake_user(6);
	assert_int_equal(sampled(shared_set, 0), 6);
	fake_switch(0, 2);
	assert_errno(cpc_set_sample(cpc, shared_set, buf), EINVAL);
	assert_int_equal(cpc_unbind(cpc, shared_set), 0);
}

static void
unbind_shared_set(void)
{
	fake_on_move = NULL;
	fake_cpu(0);
	fake_switch(0, 2);
	assert_int_equal(cpc_unbind(mine, shared_set), 0);
	fake_idle();
}

/*
 * While LWP 1 moves, LWP 2 unbinds its other set.  The bind succeeds.  At the
 * end LWP 1 is bound to where it was before both sets.
 */
CPC_TEST(the_other_set_ends_on_the_way)
{
	mine = cpc;
	for (int before = -1; before <= 2; before++) {
		cpc_set_t *set = set_of("instructions");

		shared_set = set_of("cycles");
		*fake_bound(0, 1) = before;
		bind_cpu(1, shared_set);
		fake_on_move = unbind_shared_set;
		bind_cpu(2, set);
		assert_int_equal(*fake_bound(0, 1), 2);
		assert_int_equal(cpc_unbind(cpc, set), 0);
		assert_int_equal(*fake_bound(0, 1), before);
		fake_cpu(0);
		fake_switch(0, 1);
	}
}

static void
rival_binds_and_other_set_ends(void)
{
	unbind_shared_set();
	rival_binds();
	fake_cpu(0);
}

/* A bind that fails in its wait leaves the LWP bound to `after`. */
static void
fail_on_the_way(void (*on_move)(void), int by_hand, int after)
{
	cpc_set_t *set = set_of("instructions");

	*fake_bound(0, 1) = 2;
	bind_cpu(1, shared_set = set_of("cycles"));
	*fake_bound(0, 1) = by_hand;
	make_rival(2);
	fake_on_move = on_move;
	assert_errno(cpc_bind_cpu(mine, 2, set, 0), EAGAIN);
	cpc_close(cpc);
	cpc = mine;
	assert_int_equal(*fake_bound(0, 1), after);
}

/* It is bound again to where it was before both sets. */
CPC_TEST(the_other_set_ends_before_a_failure)
{
	fail_on_the_way(rival_binds_and_other_set_ends, 1, 2);
}

/* CPC-CPU-03, CPC-CPU-13: the CPU of processor_bind(2) is kept. */
CPC_TEST(a_binding_by_hand_outlives_a_failure)
{
	fail_on_the_way(rival_binds, 0, 0);
}

static pthread_t helper;
static void *(*others_call)(void *set);

static void *
unbind_set(void *set)
{
	return cpc_unbind(cpc, set) == 0 ? set : NULL;
}

static void *
destroy_set(void *set)
{
	return cpc_set_destroy(cpc, set) == 0 ? set : NULL;
}

/* The helper has time to enter the kernel, if nothing stops it. */
static void
start_helper(void)
{
	const struct timespec ms = { 0, 20000000 };

	fake_on_move = NULL;
	assert_int_equal(
	    pthread_create(&helper, NULL, others_call, shared_set), 0);
	nanosleep(&ms, NULL);
}

/* An unbind or a destroy waits for a bind on its way: nothing stays bound. */
CPC_TEST(unbind_waits_for_a_bind)
{
	void *(*const calls[])(void *) = { unbind_set, destroy_set };
	struct kcpc_stat st;
	void *done;

	for (int i = 0; i < 2; i++) {
		shared_set = set_of("instructions");
		others_call = calls[i];
		fake_on_move = start_helper;
		bind_cpu(1, shared_set);
		assert_int_equal(pthread_join(helper, &done), 0);
		assert_ptr_equal(done, shared_set);
		kcpc_stat(&st);
		assert_int_equal(st.ks_contexts, 0);
		assert_false(fake_pmu_any());
		fake_cpu(0);
		fake_switch(0, 1);
	}
}
