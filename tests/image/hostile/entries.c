/* The largest requests of one call, also with kernel_limit= (limit.sh). */
#define _GNU_SOURCE /* pipe2() */
#include "tests/lib/image/cpc_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <payload.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE  ((size_t)4096)
#define MANY  1000 /* LWPs */
#define STACK 16384

/* Many LWPs that wait for one word, or until one time. */

static int word, woken;
static struct timespec until;

static void *
wait_for_word(void *arg)
{
	while (__atomic_load_n(&word, __ATOMIC_RELAXED) == 0)
		syscall(SYS_futex, &word, 0, 0, NULL);
	__atomic_add_fetch(&woken, 1, __ATOMIC_RELAXED);
	return arg;
}

static void *
wait_until(void *arg)
{
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	return arg;
}

static pthread_t threads[MANY];

static unsigned
start_many(void *(*fn)(void *))
{
	pthread_attr_t attr;
	unsigned n = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	while (n < MANY && pthread_create(&threads[n], &attr, fn, NULL) == 0)
		n++;
	pthread_attr_destroy(&attr);
	return n;
}

static void
join_many(unsigned n)
{
	while (n > 0)
		pthread_join(threads[--n], NULL);
}

#define NARGS 4000

/* The first test: it executes this program again, which ends here. */
TEST(many_arguments)
{
	static char *argv[NARGS + 1];
	static char text[24];
	pid_t pid;

	if (test_argc == NARGS)
		_exit(strcmp(test_argv[NARGS - 1], test_argv[1]) == 0 ? 6 : 7);
	memset(text, 'x', sizeof text - 1);
	for (unsigned i = 0; i < NARGS; i++)
		argv[i] = text;
	REQUIRE((pid = fork()) >= 0);
	if (pid == 0) {
		execv(test_argv[0], argv);
		_exit(8);
	}
	EXPECT_EQ(test_exit_code(pid), 6);
}

TEST(all_are_woken_at_once)
{
	static int other;

	word = woken = 0;
	unsigned n = start_many(wait_for_word);
	EXPECT_EQ(n, MANY);
	usleep(50000);
	EXPECT_EQ(syscall(SYS_futex, &word, 3, 0, INT_MAX, &other, 0), n);
	EXPECT_EQ(syscall(SYS_futex, &other, 3, 0, INT_MAX, &word, 0), n);
	word = 1;
	EXPECT_EQ(syscall(SYS_futex, &word, 1, INT_MAX), n);
	join_many(n);
	EXPECT_EQ(woken, n);
}

TEST(all_sleep_until_one_time)
{
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec++;
	unsigned n = start_many(wait_until);
	EXPECT_EQ(n, MANY);
	join_many(n);
}

TEST(a_process_of_many_ends)
{
	pid_t pid = fork();

	if (pid == 0) {
		word = 0;
		_exit(start_many(wait_for_word) == MANY ? 3 : 4);
	}
	EXPECT_EQ(test_exit_code(pid), 3);
	pid = fork();
	if (pid == 0) {
		word = 0;
		start_many(wait_for_word);
		usleep(50000);
		kill(getpid(), SIGKILL);
	}
	EXPECT_EQ(test_exit_code(pid), -1);
}

/* It waits for one in two of them, and leaves the others. */
static int
be_parent_of_many(void)
{
	static pid_t child[MANY];
	int status;

	for (int i = 0; i < MANY; i++) {
		if ((child[i] = fork()) == 0)
			_exit(0);
	}
	if (getpgid(child[0]) != getpgrp() || kill(0, 0) != 0)
		return 6;
	for (int i = 0; i < MANY; i += 2) {
		if (waitpid(child[i], &status, 0) != child[i] || status != 0)
			return 7;
	}
	return 5;
}

TEST(a_parent_of_many_ends)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(be_parent_of_many());
	EXPECT_EQ(test_exit_code(pid), 5);
}

TEST(many_regions)
{
	const size_t n = 10000;
	char *p = test_map(2 * n * PAGE, PROT_NONE);

	REQUIRE(p != NULL);
	for (size_t i = 0; i < n; i++)
		EXPECT_EQ(munmap(p + (2 * i + 1) * PAGE, PAGE), 0);
	EXPECT_EQ(munmap(p, 2 * n * PAGE), 0);
	/* A reservation of any size takes no memory. */
	REQUIRE((p = test_map((size_t)1 << 44, PROT_NONE)) != NULL);
	EXPECT_EQ(munmap(p, (size_t)1 << 44), 0);
}

TEST(many_protections)
{
	const size_t n = 2000;
	char *p = test_map(n * PAGE, PROT_READ | PROT_WRITE);

	REQUIRE(p != NULL);
	for (size_t i = 0; i < n; i += 2)
		EXPECT_EQ(mprotect(p + i * PAGE, PAGE, PROT_READ), 0);
	EXPECT_EQ(mprotect(p, n * PAGE, PROT_NONE), 0);
	EXPECT_EQ(mprotect(p, n * PAGE, PROT_READ | PROT_WRITE), 0);
	p = mremap(p, n * PAGE, 2 * n * PAGE, MREMAP_MAYMOVE);
	REQUIRE(p != MAP_FAILED);
	EXPECT_EQ(madvise(p, 2 * n * PAGE, MADV_DONTNEED), 0);
	EXPECT_EQ(munmap(p, 2 * n * PAGE), 0);
}

TEST(long_reads)
{
	const size_t bytes = 32UL << 20;
	char *p = test_map(bytes, PROT_READ | PROT_WRITE);
	int zero = open("/dev/zero", O_RDONLY);
	int self = open(test_argv[0], O_RDONLY), root = open("/", O_RDONLY);

	REQUIRE(p != NULL && zero >= 0 && self >= 0 && root >= 0);
	EXPECT_EQ(read(zero, p, bytes), bytes);
	EXPECT_EQ(getrandom(p, bytes, 0), bytes - 1);
	EXPECT(read(self, p, bytes) > 0);
	EXPECT(syscall(SYS_getdents64, root, p, bytes) > 0);
	EXPECT_EQ(munmap(p, bytes), 0);
	close(zero);
	close(self);
	close(root);
}

/* Write blanks, because the log of this test is not read. */
TEST(long_writes)
{
	static struct iovec iov[1024];
	const size_t bytes = 1UL << 16;
	char *p = test_map(bytes, PROT_READ | PROT_WRITE);
	int fd = open("/dev/stderr", O_WRONLY);

	REQUIRE(p != NULL && fd >= 0);
	memset(p, ' ', bytes);
	for (unsigned i = 0; i < 1024; i++)
		iov[i] = (struct iovec){ p, bytes };
	/* writev(2) writes no more than one write(2) may. */
	EXPECT_EQ(writev(fd, iov, 1024), bytes);
	EXPECT_EQ(write(fd, "\n", 1), 1);
	close(fd);
	EXPECT_EQ(munmap(p, bytes), 0);
}

TEST(long_paths)
{
	static char path[PATH_MAX];

	for (size_t i = 0; i + 2 < 1000; i += 2)
		memcpy(path + i, "/x", 3);
	EXPECT_ERRNO(open(path, O_RDONLY), ENOENT);
	memset(path, '/', 1000);
	EXPECT(open(path, O_RDONLY) >= 0);
	for (size_t i = 0; i + 7 < 1000; i += 7)
		memcpy(path + i, "/tmp/..", 8);
	EXPECT(open(path, O_RDONLY) >= 0);
}

TEST(many_signals)
{
	union sigval none = { 0 };
	sigset_t set;
	int n = 0;

	signal(SIGRTMIN, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	while (sigqueue(getpid(), SIGRTMIN, none) == 0)
		n++;
	EXPECT_EQ(n, 1024);
	signal(SIGRTMIN, SIG_IGN); /* discards all of them */
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

TEST(many_descriptors)
{
	struct pollfd fds[64];
	int pipes[2];

	REQUIRE(pipe(pipes) == 0);
	for (unsigned i = 0; i < 64; i++)
		fds[i] = (struct pollfd){ pipes[0], POLLIN, 0 };
	EXPECT_EQ(poll(fds, 64, 1), 0);
	EXPECT_ERRNO(poll(fds, 100000, 1), EINVAL);
	close(pipes[0]);
	close(pipes[1]);
}

/* Many objects of one kind: no call takes time for each of them. */

TEST(a_directory_of_many_files_is_read)
{
	enum { FILES = 2000 };
	static char entries[32768];
	char name[32];
	long n, seen = 0;
	int fd;

	EXPECT_EQ(mkdir("/tmp/many", 0755), 0);
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof name, "/tmp/many/%d", i);
		fd = open(name, O_CREAT | O_WRONLY, 0644);
		EXPECT(fd >= 0 && close(fd) == 0);
	}
	fd = open("/tmp/many", O_RDONLY | O_DIRECTORY);
	while ((n = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0) {
		/* d_reclen is at 16. */
		for (long at = 0; at < n; seen++)
			at += *(unsigned short *)(entries + at + 16);
	}
	EXPECT_EQ(n, 0);
	EXPECT_EQ(seen, FILES + 2);
	EXPECT_EQ(close(fd), 0);
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof name, "/tmp/many/%d", i);
		EXPECT_EQ(unlink(name), 0);
	}
	EXPECT_EQ(rmdir("/tmp/many"), 0);
}

/* 20 processes have 1,000 sets, in none of which the pipe is. */
TEST(a_pipe_changes_and_closes_next_to_many_epoll_sets)
{
	enum { CHILDREN = 20, SETS = 50 };
	struct epoll_event ee = { .events = EPOLLIN | EPOLLET };
	pid_t child[CHILDREN];
	int ready[2], held[2], fd[2];
	char byte = 'x';

	REQUIRE(pipe(ready) == 0 && pipe(held) == 0);
	for (int i = 0; i < CHILDREN; i++) {
		if ((child[i] = fork()) != 0)
			continue;
		close(held[1]);
		for (int j = 0; j < SETS; j++) {
			int set = epoll_create1(0);

			if (set < 0 ||
			    epoll_ctl(set, EPOLL_CTL_ADD, held[0], &ee) != 0)
				_exit(1);
		}
		_exit(write(ready[1], &byte, 1) != 1 ||
		      read(held[0], &byte, 1) != 0);
	}
	for (int i = 0; i < CHILDREN; i++)
		EXPECT_EQ(read(ready[0], &byte, 1), 1);
	REQUIRE(pipe(fd) == 0);
	EXPECT_EQ(write(fd[1], &byte, 1), 1);
	EXPECT_EQ(read(fd[0], &byte, 1), 1);
	EXPECT(close(fd[0]) == 0 && close(fd[1]) == 0);
	EXPECT_EQ(close(held[1]), 0);
	for (int i = 0; i < CHILDREN; i++)
		EXPECT_EQ(test_exit_code(child[i]), 0);
	close(held[0]);
	close(ready[0]);
	close(ready[1]);
}

/* Timers due at one time, one of each process, and many files. */
TEST(many_timers_of_many_processes_are_due_at_once)
{
	enum { CHILDREN = 20, FILES = 50 };
	struct itimerspec due = { .it_value = { 0, 0 } };
	const struct itimerval alarm = { .it_value = { 0, 400000 } };
	pid_t child[CHILDREN];
	uint64_t n;
	int fd = -1;

	clock_gettime(CLOCK_MONOTONIC, &due.it_value);
	due.it_value.tv_sec++;
	for (int i = 0; i < CHILDREN; i++) {
		if ((child[i] = fork()) != 0) {
			setpgid(child[i], child[0]);
			continue;
		}
		for (int j = 0; j < FILES; j++) {
			fd = timerfd_create(CLOCK_MONOTONIC, 0);
			if (fd < 0 || timerfd_settime(fd, TFD_TIMER_ABSTIME,
					  &due, NULL) != 0)
				_exit(1);
		}
		signal(SIGALRM, SIG_IGN);
		if (read(fd, &n, sizeof n) != sizeof n || n != 1 ||
		    setitimer(ITIMER_REAL, &alarm, NULL) != 0)
			_exit(2);
		pause(); /* until the parent's signal */
	}
	usleep(2000000);
	EXPECT_EQ(kill(-child[0], SIGTERM), 0);
	for (int i = 0; i < CHILDREN; i++) {
		int status = test_wait_status(child[i]);

		EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	}
}

/* LWPs that poll wake at each change of a pipe. */

static int held[2];

static void *
poll_held(void *arg)
{
	struct pollfd fd = { held[0], POLLIN, 0 };

	EXPECT_EQ(poll(&fd, 1, -1), 1);
	return arg;
}

TEST(a_pipe_changes_next_to_many_that_poll)
{
	char byte = 'x';
	int fd[2];

	REQUIRE(pipe(held) == 0 && pipe(fd) == 0);
	unsigned n = start_many(poll_held);
	EXPECT_EQ(n, MANY);
	usleep(50000);
	EXPECT_EQ(write(fd[1], &byte, 1), 1);
	EXPECT_EQ(write(held[1], &byte, 1), 1);
	join_many(n);
	for (int i = 0; i < 2; i++)
		EXPECT(close(held[i]) == 0 && close(fd[i]) == 0);
}

/* Half of the LWPs have an instance of one set, half of another. */

static cpc_t *cpc;
static cpc_set_t *sets[2];
static int bound;

static void *
bind_and_wait(void *arg)
{
	unsigned turn =
	    (unsigned)__atomic_fetch_add(&bound, 1, __ATOMIC_RELAXED);

	EXPECT_EQ(cpc_bind_curlwp(cpc, sets[turn / (MANY / 2)], 0), 0);
	return wait_for_word(arg);
}

static unsigned
bind_many(void)
{
	word = bound = 0;
	for (int i = 0; i < 2; i++)
		sets[i] = set_of(cpc, INS_EVENT);
	unsigned n = start_many(bind_and_wait);
	while (__atomic_load_n(&bound, __ATOMIC_RELAXED) < (int)n)
		usleep(10000);
	usleep(100000);
	return n;
}

static void
end_many(unsigned n)
{
	word = 1;
	EXPECT(syscall(SYS_futex, &word, 1, INT_MAX) >= 0);
	join_many(n);
	EXPECT_EQ(n, MANY);
}

TEST(sets_of_many_instances_are_destroyed)
{
	struct barecpc_stat st;

	if ((cpc = test_cpc_open()) == NULL)
		SKIP("no usable PMU here");
	unsigned n = bind_many();
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(payload_stat(&st), 0);
		EXPECT_EQ(st.bs_contexts, n - (unsigned)i * n / 2);
		EXPECT_EQ(cpc_set_destroy(cpc, sets[i]), 0);
	}
	end_many(n);
	EXPECT_EQ(cpc_close(cpc), 0);
}

TEST(a_set_of_the_cpu_takes_the_counters_from_many)
{
	if ((cpc = test_cpc_open()) == NULL)
		SKIP("no usable PMU here");
	unsigned n = bind_many();
	cpc_set_t *set = set_of(cpc, INS_EVENT);
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, set, 0), 0);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	end_many(n);
	EXPECT_EQ(cpc_close(cpc), 0);
}

TEST_TWICE();
