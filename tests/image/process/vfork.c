/* vfork(2)'s child has its parent's memory, so posix_spawn(3) can say why. */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

TEST_KEEPS(8); /* the C library's stacks for children */

static volatile int shared;
static char none;

static int
write_shared(void *arg)
{
	shared = 7;
	*(volatile char **)arg = test_map(4096, PROT_READ | PROT_WRITE);
	(*(volatile char **)arg)[0] = 'x';
	_exit(3);
}

TEST(the_parent_sees_what_the_child_writes_and_maps)
{
	volatile char *page = NULL;
	pid_t pid = test_vfork(write_shared, &page);

	REQUIRE(pid > 0);
	EXPECT_EQ(shared, 7);
	REQUIRE(page != NULL);
	EXPECT_EQ(page[0], 'x');
	EXPECT_EQ(munmap((void *)page, 4096), 0);
	EXPECT_EQ(WEXITSTATUS(test_wait_status(pid)), 3);
}

TEST(spawning_a_missing_program_says_so)
{
	char *const argv[] = { "none", NULL };
	pid_t pid;

	EXPECT_EQ(posix_spawn(&pid, "/none", NULL, NULL, argv, NULL), ENOENT);
	EXPECT_EQ(
	    posix_spawn(&pid, "/dev/null", NULL, NULL, argv, NULL), EACCES);
	EXPECT_ERRNO(waitpid(-1, NULL, 0), ECHILD);
}

static int
kill_self(void *arg)
{
	shared++;
	kill(getpid(), SIGKILL);
	return 0;
}

static int
run_vfork(void *arg)
{
	pid_t pid = test_vfork(arg, NULL);

	_exit(pid > 0 && WTERMSIG(test_wait_status(pid)) == SIGKILL ? 4 : 5);
}

TEST(a_child_in_it_may_make_another)
{
	shared = 0;
	pid_t pid = test_vfork(run_vfork, (void *)kill_self);
	REQUIRE(pid > 0);
	EXPECT_EQ(shared, 1);
	EXPECT_EQ(WEXITSTATUS(test_wait_status(pid)), 4);
}

/* The memory is there as long as one of the two. */
static int
outlive(void *arg)
{
	int *end = arg;
	char c;

	close(end[1]);
	/* Until the parent is gone. */
	while (read(end[0], &c, 1) > 0)
		;
	_exit(none);
}

TEST(the_child_may_outlive_its_parent)
{
	int end[2];
	pid_t pid;

	REQUIRE(pipe(end) == 0);
	if ((pid = fork()) == 0) {
		test_vfork(outlive, end);
		_exit(1);
	}
	usleep(1000);
	EXPECT_EQ(kill(pid, SIGKILL), 0);
	EXPECT_EQ(WTERMSIG(test_wait_status(pid)), SIGKILL);
	close(end[0]);
	close(end[1]);
	usleep(1000);
}
