/* madvise(2), mmap(2)'s hint, membarrier(2), CPU clocks are as on Linux. */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TEST_KEEPS(16); /* a thread's stack, page tables */

#define PAGE       4096
#define DONTFORK   10
#define DOFORK     11
#define WIPEONFORK 18
#define KEEPONFORK 19
#ifndef CLOCK_TAI
#define CLOCK_TAI 11
#endif

static char *
map_pages(unsigned n, int flags)
{
	char *p = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE,
	    flags | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : memset(p, 'x', n * PAGE);
}

/* The byte that a child finds there, or 255 if nothing is mapped. */
static int
byte_in_child(const char *p)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(madvise((void *)p, PAGE, MADV_WILLNEED) == 0 ? *p : 255);
	return WEXITSTATUS(test_wait_status(pid));
}

static char unset[2 * PAGE] __attribute__((aligned(PAGE)));

/* The program's file has no content for these pages. */
TEST(variables_without_content_in_the_file_are_anonymous)
{
	unset[0] = 'x';
	EXPECT_EQ(madvise(unset, PAGE, WIPEONFORK), 0);
	EXPECT_EQ(byte_in_child(unset), 0);
	EXPECT_EQ(madvise(unset, PAGE, KEEPONFORK), 0);
	EXPECT_EQ(byte_in_child(unset), 'x');
}

TEST(advice_decides_what_a_child_gets)
{
	char *p = map_pages(3, MAP_PRIVATE), *s = map_pages(1, MAP_SHARED);

	REQUIRE(p != NULL && s != NULL);
	EXPECT_EQ(madvise(p + PAGE, PAGE, WIPEONFORK), 0);
	EXPECT_EQ(byte_in_child(p), 'x');
	EXPECT_EQ(byte_in_child(p + PAGE), 0);
	EXPECT_EQ(byte_in_child(p + 2 * PAGE), 'x');
	EXPECT_EQ(p[PAGE], 'x');
	EXPECT_EQ(madvise(p + PAGE, PAGE, KEEPONFORK), 0);
	EXPECT_EQ(byte_in_child(p + PAGE), 'x');
	EXPECT_ERRNO(madvise(s, PAGE, WIPEONFORK), EINVAL);
	EXPECT_EQ(madvise(p + PAGE, PAGE, DONTFORK), 0);
	EXPECT_EQ(byte_in_child(p + PAGE), 255);
	EXPECT_EQ(byte_in_child(p), 'x');
	EXPECT_EQ(madvise(p + PAGE, PAGE, DOFORK), 0);
	EXPECT_EQ(byte_in_child(p + PAGE), 'x');
	EXPECT_EQ(munmap(p, 3 * PAGE), 0);
	EXPECT_EQ(munmap(s, PAGE), 0);
}

TEST(a_grandchild_gets_zeros_too)
{
	char *p = map_pages(1, MAP_PRIVATE);
	pid_t pid;

	REQUIRE(p != NULL);
	EXPECT_EQ(madvise(p, PAGE, WIPEONFORK), 0);
	if ((pid = fork()) == 0) {
		*p = 'y';
		_exit(byte_in_child(p));
	}
	EXPECT_EQ(WEXITSTATUS(test_wait_status(pid)), 0);
	EXPECT_EQ(munmap(p, PAGE), 0);
}

TEST(advice_that_linux_refuses)
{
	char *p = map_pages(3, MAP_PRIVATE);

	REQUIRE(p != NULL);
	EXPECT_ERRNO(madvise(p, PAGE, 7), EINVAL);
	EXPECT_ERRNO(madvise(p, PAGE, MADV_MERGEABLE), EINVAL);
	EXPECT_ERRNO(madvise(p, PAGE, 63), EINVAL);
	EXPECT_ERRNO(madvise(p, PAGE, 1000), EINVAL);
	EXPECT_ERRNO(madvise(p + 1, PAGE, MADV_DONTNEED), EINVAL);
	EXPECT_EQ(madvise(p, PAGE, MADV_WILLNEED), 0);
	EXPECT_EQ(madvise(p, PAGE, MADV_DONTNEED), 0);
	EXPECT_EQ(p[0], 0);
	EXPECT_EQ(p[PAGE], 'x');
	EXPECT_EQ(munmap(p + PAGE, PAGE), 0);
	/* Both ends are advised, and the hole is reported. */
	EXPECT_ERRNO(madvise(p, 3 * PAGE, WIPEONFORK), ENOMEM);
	EXPECT_EQ(byte_in_child(p + 2 * PAGE), 0);
	EXPECT_EQ(munmap(p, 3 * PAGE), 0);

	int fd = open("/tmp/file", O_RDWR | O_CREAT, 0600);
	EXPECT_EQ(ftruncate(fd, PAGE), 0);
	/* 3: MAP_SHARED_VALIDATE */
	p = mmap(NULL, PAGE, PROT_READ, 3 | 1 << 10, fd, 0);
	EXPECT_ERRNO((long)p, EOPNOTSUPP);
	p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	EXPECT_ERRNO(madvise(p, PAGE, WIPEONFORK), EINVAL);
	EXPECT_ERRNO(madvise(p, PAGE, MADV_FREE), EINVAL);
	EXPECT_EQ(munmap(p, PAGE), 0);
	close(fd);
	EXPECT_EQ(unlink("/tmp/file"), 0);
}

TEST(a_free_hint_is_taken)
{
	char *p = map_pages(4, MAP_PRIVATE), *q;

	REQUIRE(p != NULL);
	EXPECT_EQ(munmap(p + PAGE, 2 * PAGE), 0);
	q = mmap(p + PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(q == p + PAGE);
	q = mmap(p + 2 * PAGE + 5, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
	    -1, 0);
	EXPECT(q == p + 2 * PAGE);
	/* One that is taken is no error, and moves nothing. */
	q = mmap(p, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(q != MAP_FAILED && q != p && p[0] == 'x');
	EXPECT_EQ(munmap(q, PAGE), 0);
	q = mmap(
	    (void *)-4096, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(q != MAP_FAILED);
	EXPECT_EQ(munmap(q, PAGE), 0);
	EXPECT_EQ(munmap(p, 4 * PAGE), 0);
}

TEST(barriers)
{
	long known = syscall(SYS_membarrier, 0, 0, 0);

	/* Global; for a process; the same for instructions; with registrations.
	 */
	EXPECT_EQ(known & 0x79, 0x79);
	EXPECT_ERRNO(syscall(SYS_membarrier, 8, 0, 0), EPERM);
	EXPECT_ERRNO(syscall(SYS_membarrier, 0, 1 << 5, 0), EINVAL);
	EXPECT_ERRNO(syscall(SYS_membarrier, 1 << 20, 0, 0), EINVAL);
	EXPECT_EQ(syscall(SYS_membarrier, 16, 0, 0), 0);
	EXPECT_EQ(syscall(SYS_membarrier, 8, 0, 0), 0);
	EXPECT_ERRNO(syscall(SYS_membarrier, 32, 0, 0), EPERM);
	EXPECT_EQ(syscall(SYS_membarrier, 64, 0, 0), 0);
	EXPECT_EQ(syscall(SYS_membarrier, 32, 0, 0), 0);
	EXPECT_EQ(syscall(SYS_membarrier, 1, 0, 0), 0);
}

static pthread_barrier_t meet;

static void *
work(void *arg)
{
	for (volatile int i = 0; i < 100000; i++)
		;
	pthread_barrier_wait(&meet);
	pthread_barrier_wait(&meet);
	return arg;
}

TEST(clocks_of_others)
{
	struct timespec ts = { 0, 0 }, own;
	clockid_t clock;
	pthread_t t;

	EXPECT_EQ(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own), 0);
	pthread_barrier_init(&meet, NULL, 2);
	REQUIRE(pthread_create(&t, NULL, work, NULL) == 0);
	pthread_barrier_wait(&meet);
	EXPECT_EQ(pthread_getcpuclockid(t, &clock), 0);
	EXPECT(clock < 0);
	EXPECT_EQ(clock_gettime(clock, &ts), 0);
	EXPECT(ts.tv_sec > 0 || ts.tv_nsec > 0);
	EXPECT_EQ(clock_getres(clock, &ts), 0);
	pthread_barrier_wait(&meet);
	pthread_join(t, NULL);
	EXPECT_ERRNO(clock_gettime(clock, &ts), EINVAL);
	EXPECT_EQ(clock_getcpuclockid(getpid(), &clock), 0);
	EXPECT_EQ(clock_gettime(clock, &ts), 0);
	EXPECT_EQ(clock_gettime((clockid_t)-6, &ts), 0); /* own process */
	EXPECT_ERRNO(clock_gettime((clockid_t)-5, &ts), EINVAL);
	EXPECT_EQ(clock_gettime(CLOCK_TAI, &ts), 0);
	EXPECT_ERRNO(clock_gettime(50, &ts), EINVAL);
}
