/* Counter pages of LWPs that get or lose a set without the library. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/lib/image/cpc_test.h"

TEST_KEEPS(16);

/* fork(2) without the C library, so that no fork handler runs. */
static pid_t
raw_fork(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static uint64_t
sample_value(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf)
{
	uint64_t v = 0;

	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	EXPECT_EQ(cpc_buf_get(cpc, buf, 0, &v), 0);
	return v;
}

/* The count of the loop between two samples by the page. */
static uint64_t
count_loop(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf)
{
	sample_value(cpc, set, buf); /* finds the page and the buffer */
	sample_value(cpc, set, buf);
	uint64_t before = sample_value(cpc, set, buf);
	spin_loop(1000);
	return sample_value(cpc, set, buf) - before;
}

/* CPC-FORK-01: the child has no instance, but can bind and count. */
static int
child_status(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf, uint64_t want)
{
	if (cpc_set_sample(cpc, set, buf) != -1 || errno != EINVAL)
		return 1;
	if (cpc_bind_curlwp(cpc, set, 0) != 0)
		return 2;
	return count_loop(cpc, set, buf) == want ? 0 : 3;
}

static void
check_fork(cpc_t *cpc, pid_t (*forks)(void))
{
	cpc_set_t *set = set_of(cpc, INS_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	pid_t pid;

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	uint64_t want = count_loop(cpc, set, buf);
	if ((pid = forks()) == 0)
		_exit(child_status(cpc, set, buf, want));
	EXPECT_EQ(test_wait_status(pid), 0);
	EXPECT_EQ(count_loop(cpc, set, buf), want);
}

CPC_TEST(a_forked_process_has_a_page_of_its_own)
{
	if (software_pmu || !have_event(cpc, INS_EVENT))
		SKIP("this PMU does not count the loop's instructions");
	check_fork(cpc, fork);
}

CPC_TEST(fork_by_system_call_works_alike)
{
	if (software_pmu || !have_event(cpc, INS_EVENT))
		SKIP("this PMU does not count the loop's instructions");
	check_fork(cpc, raw_fork);
}

/* CPC-EXEC-01: the new program does not have the old program's page. */
CPC_TEST(the_next_program_counts_from_scratch)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	int fd[2];
	char text[512];
	pid_t pid;

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(pipe(fd), 0);
	if ((pid = fork()) == 0) {
		dup2(fd[1], STDOUT_FILENO);
		close(fd[0]);
		close(fd[1]);
		if (cpc_bind_curlwp(cpc, set, 0) == 0)
			execl("cpc_buf", "cpc_buf", NULL);
		_exit(1);
	}
	close(fd[1]);
	while (read(fd[0], text, sizeof text) > 0)
		;
	close(fd[0]);
	EXPECT_EQ(test_wait_status(pid), 0);
}

/* The program that overflow_and_exec() executes ends here. */
static void __attribute__((constructor)) after_exec(void)
{
	if (getenv("AFTER_EXEC") != NULL)
		_exit(0);
}

static volatile bool other_lwp_runs;

static void *
run_for_ever(void *arg)
{
	for (;;)
		other_lwp_runs = true;
	return arg;
}

/* More kernel instructions than a bind, fewer than an execve(2). */
#define PERIOD 50000

static void
overflow_and_exec(cpc_t *cpc)
{
	char *argv[] = { test_argv[0], NULL };
	char *envv[] = { "AFTER_EXEC=", NULL };
	cpc_set_t *set = cpc_set_create(cpc);
	pthread_t t;

	if (cpc_set_add_request(cpc, set, INS_EVENT, -PERIOD,
		CPC_COUNT_SYSTEM | CPC_OVF_NOTIFY_EMT, 0, NULL) != 0 ||
	    pthread_create(&t, NULL, run_for_ever, NULL) != 0)
		_exit(1);
	while (!other_lwp_runs)
		sched_yield();
	if (cpc_bind_curlwp(cpc, set, 0) == 0)
		execve(test_argv[0], argv, envv);
	_exit(2);
}

/*
 * execve(2) sleeps until the other LWP, on another CPU if there is one, has
 * ended.  The switch finds the overflow.  Then execve(2) must sleep again.
 */
CPC_TEST(exec_waits_although_an_overflow_is_due)
{
	pid_t pid;

	if (software_pmu || !have_event(cpc, INS_EVENT) ||
	    (cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)
		SKIP("overflows do not interrupt here");
	if (own_privilege() == CPC_COUNT_SYSTEM)
		SKIP("at system privilege the program is counted, too");
	if ((pid = fork()) == 0)
		overflow_and_exec(cpc);
	EXPECT_EQ(test_wait_status(pid), 0);
}

static cpc_t *the_cpc;
static cpc_set_t *the_set;

static void *
count_inherited(void *counted)
{
	cpc_buf_t *buf = cpc_buf_create(the_cpc, the_set);

	*(uint64_t *)counted = count_loop(the_cpc, the_set, buf);
	cpc_buf_destroy(the_cpc, buf);
	return NULL;
}

/* CPC-INH-01: the new LWP samples by a page, too, after its first sample. */
CPC_TEST(a_new_lwp_counts_what_its_creator_counts)
{
	uint64_t own, inherited = 0;
	pthread_t t;

	if (software_pmu || !have_event(cpc, INS_EVENT))
		SKIP("this PMU does not count the loop's instructions");
	the_cpc = cpc;
	the_set = set_of(cpc, INS_EVENT);
	EXPECT_EQ(cpc_bind_curlwp(cpc, the_set, CPC_BIND_LWP_INHERIT), 0);
	own = count_loop(cpc, the_set, cpc_buf_create(cpc, the_set));
	EXPECT_EQ(pthread_create(&t, NULL, count_inherited, &inherited), 0);
	EXPECT_EQ(pthread_join(t, NULL), 0);
	EXPECT_EQ(inherited, own);
}

/* CPC-ENA-01: page and kernel give the same sample of a frozen set. */
CPC_TEST(a_frozen_set_is_sampled_as_it_is)
{
	struct {
		struct cpc_sample head;
		uint64_t value[1];
	} kernel;
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	uint64_t v;

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	work();
	EXPECT_EQ(cpc_disable(cpc), 0);
	for (int i = 0; i < 3; i++) {
		v = sample_value(cpc, set, buf);
		EXPECT_EQ(cpc_syscall(CPC_OP_SAMPLE, (uintptr_t)set >> 24,
			      (uintptr_t)&kernel, 1, 0),
		    0);
		EXPECT_EQ(v, kernel.value[0]);
		EXPECT_EQ(cpc_buf_tick(cpc, buf), kernel.head.cs_tick);
		EXPECT_EQ(cpc_buf_hrtime(cpc, buf), kernel.head.cs_hrtime);
	}
	EXPECT_EQ(cpc_enable(cpc), 0);
	work();
	EXPECT(software_pmu || sample_value(cpc, set, buf) > v);
	EXPECT_EQ(cpc_disable(cpc), 0);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_ERRNO(cpc_set_sample(cpc, set, buf), EINVAL);
}
