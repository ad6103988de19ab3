/*
 * Counter pages where an LWP comes by its set, or loses it, without the
 * library's knowing: fork(2), by whatever way, execve(2), inheritance.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/image/cpc_test.h"

TEST_KEEPS(16);

/* fork(2) without the C library's knowing: no handler runs. */
static pid_t
raw_fork(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static uint64_t
value(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf)
{
	uint64_t v = 0;

	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	EXPECT_EQ(cpc_buf_get(cpc, buf, 0, &v), 0);
	return v;
}

/* What the loop counts between two samples, both by the page. */
static uint64_t
looped(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf)
{
	uint64_t before;

	value(cpc, set, buf); /* finds the page, and the buffer */
	value(cpc, set, buf);
	before = value(cpc, set, buf);
	spin_loop(1000);
	return value(cpc, set, buf) - before;
}

/*
 * CPC-FORK-01: the child has no instance.  It samples nothing, can bind, and
 * then counts as its parent does.
 */
static int
child(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf, uint64_t want)
{
	if (cpc_set_sample(cpc, set, buf) != -1 || errno != EINVAL)
		return 1;
	if (cpc_bind_curlwp(cpc, set, 0) != 0)
		return 2;
	return looped(cpc, set, buf) == want ? 0 : 3;
}

static void
forked(cpc_t *cpc, pid_t (*forks)(void))
{
	cpc_set_t *set = set_of(cpc, INS_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	uint64_t want;
	int status = -1;
	pid_t pid;

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	want = looped(cpc, set, buf);
	if ((pid = forks()) == 0)
		_exit(child(cpc, set, buf, want));
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(looped(cpc, set, buf), want);
}

CPC_TEST(a_forked_process_has_a_page_of_its_own)
{
	if (software_pmu || !have_event(cpc, INS_EVENT))
		SKIP("nothing here counts the loop");
	forked(cpc, fork);
}

CPC_TEST(fork_by_system_call_is_no_different)
{
	if (software_pmu || !have_event(cpc, INS_EVENT))
		SKIP("nothing here counts the loop");
	forked(cpc, raw_fork);
}

/* CPC-EXEC-01: the page goes with the program that had it. */
CPC_TEST(the_next_program_counts_from_scratch)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	int fd[2], status = -1;
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
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
}

/* The program that the next test executes. */
static void __attribute__((constructor)) after_exec(void)
{
	if (getenv("AFTER_EXEC") != NULL)
		_exit(0);
}

static volatile bool turning;

static void *
turn_for_ever(void *arg)
{
	for (;;)
		turning = true;
	return arg;
}

/* Kernel's work that execve(2) is longer than, and a bind is not. */
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
	    pthread_create(&t, NULL, turn_for_ever, NULL) != 0)
		_exit(1);
	while (!turning)
		sched_yield();
	if (cpc_bind_curlwp(cpc, set, 0) == 0)
		execve(test_argv[0], argv, envv);
	_exit(2);
}

/*
 * The overflow is found when its LWP goes to sleep until the other one, which
 * runs on another CPU if there is any, has ended: then it shall sleep again.
 */
CPC_TEST(exec_waits_though_an_overflow_is_due)
{
	int status = -1;
	pid_t pid;

	if (software_pmu || !have_event(cpc, INS_EVENT) ||
	    (cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)
		SKIP("overflows do not interrupt here");
	if (own_privilege() == CPC_COUNT_SYSTEM)
		SKIP("this program works at the kernel's privilege");
	if (counts_all_cpus(cpc))
		SKIP("QEMU's counters count what all of its CPUs retire");
	if ((pid = fork()) == 0)
		overflow_and_exec(cpc);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
}

static cpc_t *the_cpc;
static cpc_set_t *the_set;

static void *
heir(void *counted)
{
	cpc_buf_t *buf = cpc_buf_create(the_cpc, the_set);

	*(uint64_t *)counted = looped(the_cpc, the_set, buf);
	cpc_buf_destroy(the_cpc, buf);
	return NULL;
}

/* CPC-INH-01: it samples by a page, too, from its second sample on. */
CPC_TEST(an_heir_counts_what_its_parent_counts)
{
	uint64_t own, heirs = 0;
	pthread_t t;

	if (software_pmu || !have_event(cpc, INS_EVENT))
		SKIP("nothing here counts the loop");
	the_cpc = cpc;
	the_set = set_of(cpc, INS_EVENT);
	EXPECT_EQ(cpc_bind_curlwp(cpc, the_set, CPC_BIND_LWP_INHERIT), 0);
	own = looped(cpc, the_set, cpc_buf_create(cpc, the_set));
	EXPECT_EQ(pthread_create(&t, NULL, heir, &heirs), 0);
	EXPECT_EQ(pthread_join(t, NULL), 0);
	EXPECT_EQ(heirs, own);
}

/* CPC-ENA-01: what is frozen reads the same by the page and by the kernel. */
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
		v = value(cpc, set, buf);
		EXPECT_EQ(cpc_syscall(CPC_OP_SAMPLE, (uintptr_t)set >> 24,
			      (uintptr_t)&kernel, 1, 0),
		    0);
		EXPECT_EQ(v, kernel.value[0]);
		EXPECT_EQ(cpc_buf_tick(cpc, buf), kernel.head.cs_tick);
		EXPECT_EQ(cpc_buf_hrtime(cpc, buf), kernel.head.cs_hrtime);
	}
	EXPECT_EQ(cpc_enable(cpc), 0);
	work();
	EXPECT(software_pmu || value(cpc, set, buf) > v);
	EXPECT_EQ(cpc_disable(cpc), 0);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_ERRNO(cpc_set_sample(cpc, set, buf), EINVAL);
}
