/*
 * A new LWP has a copy of its creator's set if that was bound with
 * CPC_BIND_LWP_INHERIT.  Otherwise it begins with nothing bound, and so do
 * forked processes and executed programs.
 *
 * A loop of known length is counted from the LWP's first instruction to a
 * sample.  The difference of two lengths is the loop alone, on whichever CPUs
 * the LWPs run.
 */
#include "tests/lib/image/cpc_test.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* Pages of threads' stacks, which the C library keeps. */
TEST_KEEPS(64);

#define SHORT  1000
#define LONG   30000
#define WANT   (SPIN_INSNS * (LONG - SHORT))
#define PERIOD 1000

static cpc_t *the_cpc;
static cpc_set_t *the_set;

/* The program that exec_begins_with_nothing_bound executes ends here. */
static void __attribute__((constructor)) counts_after_exec(void)
{
	cpc_t *cpc;
	cpc_buf_t *buf;
	uint64_t v[2];

	if (getenv("AFTER_EXEC") == NULL)
		return;
	/* Nothing that the old program bound is left. */
	if ((cpc = test_cpc_open()) == NULL || cpc_disable(cpc) == 0 ||
	    errno != EINVAL)
		_exit(1);
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_set_add_request(cpc, set, ANY_EVENT, 0, own_privilege(), 0, NULL);
	if ((buf = cpc_buf_create(cpc, set)) == NULL ||
	    cpc_set_sample(cpc, set, buf) == 0 || errno != EINVAL)
		_exit(2);
	if (cpc_bind_curlwp(cpc, set, 0) != 0)
		_exit(3);
	for (int i = 0; i < 2; i++) {
		work();
		if (cpc_set_sample(cpc, set, buf) != 0)
			_exit(4);
		cpc_buf_get(cpc, buf, 0, &v[i]);
	}
	_exit(v[1] > v[0] ? 0 : 5);
}

static void
bind_inherit(cpc_t *cpc, cpc_set_t *set)
{
	the_cpc = cpc;
	the_set = set;
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, CPC_BIND_LWP_INHERIT), 0);
}

/* Bind a set with INHERIT.  Its request counts the program's own code. */
static void
bind_one(cpc_t *cpc, uint64_t preset)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_preset(cpc, set, INS_EVENT, preset);
	bind_inherit(cpc, set);
}

/* A new LWP counts n iterations, after it created `child`. */
struct job {
	uint64_t n;
	struct job *child;
	cpc_buf_t *buf; /* created early: the length of an allocation varies */
	uint64_t value;
	int err;
};

static void *
run_job_lwp(void *arg)
{
	struct job *j = arg;

	if (j->child != NULL)
		as_another_lwp(run_job_lwp, j->child);
	spin(j->n);
	j->err = cpc_set_sample(the_cpc, the_set, j->buf) == 0 ? 0 : errno;
	return NULL;
}

/* Run an LWP for each job of the list, and get the counts. */
static void
run_jobs(struct job *j)
{
	for (struct job *at = j; at != NULL; at = at->child)
		at->buf = cpc_buf_create(the_cpc, the_set);
	as_another_lwp(run_job_lwp, j);
	for (struct job *at = j; at != NULL; at = at->child) {
		if (EXPECT_EQ(at->err, 0))
			cpc_buf_get(the_cpc, at->buf, 0, &at->value);
		cpc_buf_destroy(the_cpc, at->buf);
	}
}

/* CPC-INH-01, CPC-CTX-06 */
CPC_TEST(child_counts_its_own_from_the_preset)
{
	const uint64_t preset = 1ULL << 40;
	struct job brief = { .n = SHORT }, lengthy = { .n = LONG };

	NEEDS_USER_INSTRUCTIONS();
	bind_one(cpc, preset);
	spin(2 * LONG); /* no part of a child's count */
	run_jobs(&brief);
	run_jobs(&lengthy);
	EXPECT_EQ(lengthy.value - brief.value, WANT);
	EXPECT(brief.value >= preset + SPIN_INSNS * SHORT);
	EXPECT(lengthy.value < preset + SPIN_INSNS * 2 * LONG);

	/* The parent counts the creation, but not the child's work. */
	uint64_t v = sampled(cpc, the_set, 0);
	run_jobs(&lengthy);
	EXPECT(sampled(cpc, the_set, 0) - v < SPIN_INSNS * LONG);
}

/* CPC-INH-04 */
CPC_TEST(grandchildren_inherit)
{
	struct job grandchild[2] = { { .n = SHORT }, { .n = LONG } };
	struct job child[2] = { { .n = SHORT, .child = &grandchild[0] },
		{ .n = SHORT, .child = &grandchild[1] } };

	NEEDS_USER_INSTRUCTIONS();
	/* On one CPU both children sleep until the grandchild has ended. */
	EXPECT_EQ(processor_bind(P_PID, P_MYID, 0, NULL), 0);
	bind_one(cpc, 0);
	for (int i = 0; i < 2; i++)
		run_jobs(&child[i]);
	EXPECT_EQ(grandchild[1].value - grandchild[0].value, WANT);
	EXPECT_EQ(child[1].value, child[0].value);
}

static void *
expect_no_instance(void *arg)
{
	EXPECT_ERRNO(cpc_set_sample(the_cpc, the_set, arg), EINVAL);
	EXPECT_ERRNO(cpc_unbind(the_cpc, the_set), EINVAL);
	EXPECT_ERRNO(cpc_disable(the_cpc), EINVAL);
	return NULL;
}

/* CPC-INH-02, CPC-SMP-09 */
CPC_TEST(without_the_flag_nothing_is_inherited)
{
	the_cpc = cpc;
	the_set = set_of(cpc, ANY_EVENT);
	EXPECT_EQ(cpc_bind_curlwp(cpc, the_set, 0), 0);
	as_another_lwp(expect_no_instance, cpc_buf_create(cpc, the_set));
}

static pthread_barrier_t bound_barrier;

static void *
older_than_the_bind(void *arg)
{
	pthread_barrier_wait(&bound_barrier); /* this LWP exists */
	pthread_barrier_wait(&bound_barrier); /* the set is bound */
	return expect_no_instance(arg);
}

/* CPC-INH-03 */
CPC_TEST(older_lwps_do_not_inherit)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	pthread_t t;

	pthread_barrier_init(&bound_barrier, NULL, 2);
	REQUIRE(pthread_create(&t, NULL, older_than_the_bind,
		    cpc_buf_create(cpc, set)) == 0);
	pthread_barrier_wait(&bound_barrier);
	bind_inherit(cpc, set);
	pthread_barrier_wait(&bound_barrier);
	EXPECT_EQ(pthread_join(t, NULL), 0);
}

/* CPC-INH-09, CPC-PRE-06 */
CPC_TEST(kernel_presets_are_inherited)
{
	const uint64_t edited = 1ULL << 41, later = 1ULL << 42;
	struct job j = { .n = SHORT };

	NEEDS_INSTRUCTIONS();
	bind_one(cpc, 0);
	EXPECT_EQ(cpc_request_preset(cpc, 0, edited), 0);
	EXPECT_EQ(cpc_set_request_preset(cpc, the_set, 0, later), 0);
	run_jobs(&j);
	EXPECT(j.value > edited && j.value < later);
	EXPECT(sampled(cpc, the_set, 0) < edited);
}

static void *
starts_disabled(void *arg)
{
	EXPECT_ERRNO(cpc_disable(the_cpc), EINVAL);
	work();
	EXPECT_EQ(sampled(the_cpc, the_set, 0), 7);
	EXPECT_EQ(cpc_enable(the_cpc), 0);
	work();
	uint64_t v = sampled(the_cpc, the_set, 0);
	EXPECT(v > 7);
	EXPECT_EQ(cpc_unbind(the_cpc, the_set), 0);
	return arg;
}

/* CPC-INH-10, CPC-INH-12 */
CPC_TEST(child_of_a_disabled_parent_is_disabled)
{
	the_cpc = cpc;
	the_set = cpc_set_create(cpc);
	add_preset(cpc, the_set, ANY_EVENT, 7);
	bind_inherit(cpc, the_set);
	EXPECT_EQ(cpc_disable(cpc), 0);
	uint64_t v = sampled(cpc, the_set, 0);
	as_another_lwp(starts_disabled, NULL);
	EXPECT_EQ(sampled(cpc, the_set, 0), v);
	EXPECT_EQ(cpc_enable(cpc), 0);
	work();
	EXPECT(sampled(cpc, the_set, 0) > v);
}

static void *
outlives_the_unbind(void *arg)
{
	uint64_t v = sampled(the_cpc, the_set, 0);

	pthread_barrier_wait(&bound_barrier);
	pthread_barrier_wait(&bound_barrier); /* the parent has unbound */
	work();
	EXPECT(sampled(the_cpc, the_set, 0) > v);
	return arg;
}

/* CPC-INH-12, CPC-REQ-14 */
CPC_TEST(unbind_in_the_parent_keeps_the_childs_set)
{
	pthread_t t;

	bind_inherit(cpc, set_of(cpc, ANY_EVENT));
	pthread_barrier_init(&bound_barrier, NULL, 2);
	REQUIRE(pthread_create(&t, NULL, outlives_the_unbind, NULL) == 0);
	pthread_barrier_wait(&bound_barrier);
	EXPECT_EQ(cpc_unbind(cpc, the_set), 0);
	/* The child still has it bound. */
	EXPECT_ERRNO(
	    cpc_set_add_request(cpc, the_set, ANY_EVENT, 0, 0, 0, NULL),
	    EINVAL);
	pthread_barrier_wait(&bound_barrier);
	EXPECT_EQ(pthread_join(t, NULL), 0);
	EXPECT_EQ(
	    cpc_set_add_request(cpc, the_set, ANY_EVENT, 0, 0, 0, NULL), 1);
}

/* Request 0 notifies, request 1 does not. */

static volatile int handler_calls;
static pthread_t handler_thread;
static volatile uint64_t handler_counts[2];
static cpc_buf_t *handler_buf;

static void
emt_handler(int sig, siginfo_t *si, void *context)
{
	uint64_t v[2] = { 0, 0 };

	EXPECT_EQ(si->si_code, EMT_CPCOVF);
	handler_thread = pthread_self();
	EXPECT_EQ(cpc_set_sample(the_cpc, the_set, handler_buf), 0);
	for (int i = 0; i < 2; i++)
		cpc_buf_get(the_cpc, handler_buf, i, &v[i]);
	handler_counts[0] = v[0];
	handler_counts[1] = v[1];
	if (handler_calls++ == 0) {
		/* By this value a handler recognizes its first call. */
		EXPECT(v[0] == UINT64_MAX);
		EXPECT_EQ(
		    cpc_request_preset(the_cpc, 0, UINT64_MAX - PERIOD + 1), 0);
		EXPECT_EQ(cpc_set_restart(the_cpc, the_set), 0);
	}
}

static void *
check_notified(void *arg)
{
	/* The handler ran on this LWP, and saw the values at the start. */
	EXPECT_EQ(handler_calls, 1);
	EXPECT(pthread_equal(handler_thread, pthread_self()));
	EXPECT(handler_counts[0] == UINT64_MAX);
	EXPECT_EQ(handler_counts[1], 9);
	/* The handler chose this period. */
	spin(10 * PERIOD);
	EXPECT_EQ(handler_calls, 2);
	EXPECT(handler_counts[0] < PERIOD);
	return arg;
}

/* CPC-INH-05, CPC-INH-06, CPC-INH-07, CPC-INH-08 */
CPC_TEST(child_of_a_notify_set_is_signalled_first)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_RESTART };

	/* At system privilege the signal's delivery would be counted. */
	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0 ||
	    own_privilege() != CPC_COUNT_USER)
		SKIP("overflows of user code do not interrupt here");
	NEEDS_INSTRUCTIONS();
	sa.sa_sigaction = emt_handler;
	sigaction(SIGEMT, &sa, NULL);
	handler_calls = 0;
	the_set = cpc_set_create(cpc);
	EXPECT_EQ(
	    cpc_set_add_request(cpc, the_set, INS_EVENT, UINT64_MAX - INT32_MAX,
		CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT, 0, NULL),
	    0);
	add_preset(cpc, the_set, INS_EVENT, 9);
	handler_buf = cpc_buf_create(cpc, the_set);
	bind_inherit(cpc, the_set);
	as_another_lwp(check_notified, NULL);
	EXPECT_EQ(handler_calls, 2);
	/* The parent was neither frozen nor signalled. */
	uint64_t v = sampled(cpc, the_set, 1);
	work();
	EXPECT(sampled(cpc, the_set, 1) > v);
	EXPECT_EQ(cpc_unbind(cpc, the_set), 0);
	signal(SIGEMT, SIG_DFL);
}

/*
 * Processes
 */

/* In the forked child: 0 if nothing is bound, or the step that failed. */
static int
child_status(cpc_t *cpc, cpc_buf_t *buf)
{
	uint64_t v = 0;

	if (cpc_set_sample(cpc, the_set, buf) == 0 || errno != EINVAL)
		return 1;
	if (cpc_unbind(cpc, the_set) == 0 || errno != EINVAL)
		return 2;
	if (cpc_disable(cpc) == 0 || errno != EINVAL)
		return 3;
	if (cpc_bind_curlwp(cpc, the_set, 0) != 0)
		return 4;
	work();
	if (cpc_set_sample(cpc, the_set, buf) != 0)
		return 5;
	cpc_buf_get(cpc, buf, 0, &v);
	return v > 0 ? 0 : 6;
}

/* CPC-FORK-01 */
CPC_TEST(forked_child_has_no_context)
{
	pid_t pid;

	bind_inherit(cpc, set_of(cpc, ANY_EVENT));
	cpc_buf_t *buf = cpc_buf_create(cpc, the_set);
	REQUIRE((pid = fork()) >= 0);
	if (pid == 0)
		_exit(child_status(cpc, buf));
	EXPECT_EQ(test_wait_status(pid), 0);
	sampled(cpc, the_set, 0);
}

/* The parent's count of the loop and of a fork whose child counts, too. */
static uint64_t
count_fork(uint64_t n, cpc_buf_t *buf)
{
	uint64_t v = 0;

	EXPECT_EQ(cpc_bind_curlwp(the_cpc, the_set, 0), 0);
	pid_t pid = fork();
	if (pid == 0)
		_exit(child_status(the_cpc, buf));
	spin(n);
	EXPECT_EQ(test_wait_status(pid), 0);
	EXPECT_EQ(cpc_set_sample(the_cpc, the_set, buf), 0);
	cpc_buf_get(the_cpc, buf, 0, &v);
	return v;
}

/* CPC-FORK-02 */
CPC_TEST(fork_costs_the_parent_no_count)
{
	NEEDS_USER_INSTRUCTIONS();
	the_cpc = cpc;
	the_set = set_of(cpc, INS_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, the_set);
	count_fork(SHORT, buf);
	uint64_t v = count_fork(SHORT, buf);
	EXPECT_EQ(count_fork(LONG, buf) - v, WANT);
}

/* CPC-EXEC-01 */
CPC_TEST(exec_begins_with_nothing_bound)
{
	char *argv[] = { test_argv[0], NULL },
	     *envv[] = { "AFTER_EXEC=", NULL };
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	pid_t pid = fork();

	REQUIRE(pid >= 0);
	if (pid == 0) {
		bind_inherit(cpc, set);
		execve(test_argv[0], argv, envv);
		_exit(99);
	}
	EXPECT_EQ(test_wait_status(pid), 0);
}
