/*
 * getrusage(2), wait4(2) and times(2) return the time that a process, its
 * threads and its children had a CPU, not the time that passed.
 *
 * Bounds have a factor of two: the kernel's own work counts, too.
 */
#define _GNU_SOURCE /* wait4(2), RUSAGE_THREAD */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TEST_KEEPS(64);

#define MS   1000 /* in microseconds */
#define TIME (5 * MS)

static int64_t
user_us(const struct rusage *ru)
{
	return ru->ru_utime.tv_sec * 1000000 + ru->ru_utime.tv_usec;
}

static int64_t
used(int who)
{
	struct rusage ru = { 0 };

	EXPECT_EQ(getrusage(who, &ru), 0);
	EXPECT_EQ(ru.ru_stime.tv_sec + ru.ru_stime.tv_usec, 0);
	return user_us(&ru);
}

/* Use this much of a CPU, by the thread's own clock. */
static void
work(int64_t us)
{
	int64_t end = used(RUSAGE_THREAD) + us;

	while (used(RUSAGE_THREAD) < end)
		;
}

TEST(a_sleep_uses_nothing)
{
	int64_t before = used(RUSAGE_SELF);

	usleep(TIME);
	EXPECT(used(RUSAGE_SELF) - before < TIME / 2);
	EXPECT_ERRNO(getrusage(2, &(struct rusage){ 0 }), EINVAL);
}

static void *
work_in_thread(void *us)
{
	work((int64_t)(intptr_t)us);
	return NULL;
}

/* Let a thread work.  Returns what its start and end take of this one. */
static int64_t
run_thread(int64_t us)
{
	int64_t own = used(RUSAGE_THREAD);
	pthread_t t;

	EXPECT_EQ(
	    pthread_create(&t, NULL, work_in_thread, (void *)(intptr_t)us), 0);
	EXPECT_EQ(pthread_join(t, NULL), 0);
	return used(RUSAGE_THREAD) - own;
}

/* A thread's time belongs to its process, also when it has ended. */
TEST(threads_add_up)
{
	int64_t start = run_thread(0), self = used(RUSAGE_SELF);
	int64_t own = run_thread(TIME);

	EXPECT(used(RUSAGE_SELF) - self >= TIME);
	EXPECT(own < TIME / 2 + 2 * start);
}

/* Start a child that has a child.  Each uses this much of a CPU. */
static pid_t
start_family(int64_t us)
{
	pid_t child = fork();

	if (child != 0)
		return child;
	if (fork() == 0) {
		work(us);
		_exit(0);
	}
	wait(NULL);
	work(us);
	_exit(0);
}

/* A family that only starts and ends shows what the kernel's work takes. */
TEST(children_count_when_they_are_waited_for)
{
	struct rusage ru = { 0 };
	siginfo_t info;
	struct tms tms;
	pid_t child;

	int64_t before = used(RUSAGE_CHILDREN);
	int64_t self = used(RUSAGE_SELF);
	REQUIRE((child = start_family(0)) > 0);
	EXPECT_EQ(waitpid(child, NULL, 0), child);
	int64_t fork_children = used(RUSAGE_CHILDREN) - before;
	int64_t fork_self = used(RUSAGE_SELF) - self;

	before = used(RUSAGE_CHILDREN);
	self = used(RUSAGE_SELF);
	REQUIRE((child = start_family(TIME)) > 0);
	EXPECT_EQ(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	EXPECT_EQ(used(RUSAGE_CHILDREN), before);
	EXPECT_EQ(wait4(child, NULL, 0, &ru), child);
	EXPECT(user_us(&ru) >= 2 * TIME);
	EXPECT(user_us(&ru) < 4 * TIME + 2 * fork_children);
	/* Each time is rounded down. */
	EXPECT(used(RUSAGE_CHILDREN) - before - user_us(&ru) <= 1);
	EXPECT(used(RUSAGE_CHILDREN) - before >= user_us(&ru));
	EXPECT(used(RUSAGE_SELF) - self < TIME + 2 * fork_self);
	EXPECT(times(&tms) != -1);
	EXPECT_EQ(tms.tms_cutime, used(RUSAGE_CHILDREN) / (10 * MS));
}

/* clock(3) has the time of all threads, and goes on with none that sleep. */
TEST(the_process_clock_is_the_time_on_cpus)
{
	struct timespec asleep = { 0, TIME * 1000 };
	clock_t before = clock();

	usleep(TIME);
	EXPECT(clock() - before < TIME / 2);
	int64_t start = run_thread(0);
	before = clock();
	run_thread(TIME);
	EXPECT(clock() - before >= TIME);
	EXPECT(clock() - before < 2 * TIME + 2 * start);
	EXPECT_EQ(clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, 0, &asleep, NULL),
	    ENOTSUP);
	EXPECT_ERRNO(syscall(SYS_clock_nanosleep, CLOCK_THREAD_CPUTIME_ID, 0,
			 &asleep, NULL),
	    ENOTSUP);
}

static void *
execute(void *arg)
{
	execl("mix_exec", "mix_exec", NULL);
	return arg;
}

/* A child works, and then a thread of it executes a program. */
static int64_t
time_of_executor(int64_t us)
{
	struct rusage ru = { 0 };
	int status = -1;
	pid_t child = fork();
	pthread_t t;

	if (child == 0) {
		work(us);
		pthread_create(&t, NULL, execute, NULL);
		pthread_join(t, NULL); /* exec ends this thread */
		_exit(2);
	}
	EXPECT_EQ(wait4(child, &status, 0, &ru), child);
	EXPECT_EQ(status, 1 << 8); /* mix_exec without arguments */
	return user_us(&ru);
}

/* With checks=poison the first takes a fifth of later ones: left out. */
TEST(a_program_that_is_executed_keeps_the_time)
{
	time_of_executor(0);
	int64_t idle = time_of_executor(0);
	int64_t busy = time_of_executor(TIME);
	EXPECT(busy >= TIME);
	EXPECT(busy < 2 * TIME + 2 * idle);
}
