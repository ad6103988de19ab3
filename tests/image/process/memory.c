/* mmap, mprotect, mremap, munmap and brk, with Linux's errnos. */
#define _GNU_SOURCE /* mremap */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE ((size_t)4096)
#define RW   (PROT_READ | PROT_WRITE)

/* Is the byte at p readable?  If not, access(2) there gives EFAULT. */
static bool
is_readable(const char *p)
{
	errno = 0;
	return access(p, F_OK) == 0 || errno != EFAULT;
}

TEST(fresh_memory_is_zero)
{
	size_t i, bytes = 64 * PAGE;
	char *p = test_map(bytes, RW);

	REQUIRE(p != NULL);
	for (i = 0; i < bytes && p[i] == 0; i++)
		;
	EXPECT_EQ(i, bytes);
	memset(p, 0xff, bytes);
	EXPECT_EQ(munmap(p, bytes), 0);
	p = test_map(bytes, RW);
	REQUIRE(p != NULL);
	for (i = 0; i < bytes && p[i] == 0; i++)
		;
	EXPECT_EQ(i, bytes);
	EXPECT_EQ(munmap(p, bytes), 0);
}

TEST(a_length_is_rounded_up_to_pages)
{
	char *p = test_map(1, RW);

	REQUIRE(p != NULL);
	EXPECT_EQ((uintptr_t)p % PAGE, 0);
	p[PAGE - 1] = 1;
	EXPECT_EQ(munmap(p, 1), 0);
	EXPECT(!is_readable(p));
}

TEST(a_hole_can_be_unmapped)
{
	char *p = test_map(3 * PAGE, RW);

	REQUIRE(p != NULL);
	p[0] = p[2 * PAGE] = 7;
	EXPECT_EQ(munmap(p + PAGE, PAGE), 0);
	EXPECT(is_readable(p) && !is_readable(p + PAGE) &&
	       is_readable(p + 2 * PAGE));
	EXPECT_EQ(p[0] + p[2 * PAGE], 14);
	/* It is no error to unmap a range with a hole, or an unmapped range. */
	EXPECT_EQ(munmap(p, 3 * PAGE), 0);
	EXPECT_EQ(munmap(p, 3 * PAGE), 0);
	EXPECT(!is_readable(p) && !is_readable(p + 2 * PAGE));
}

TEST(fixed_mappings_replace)
{
	char *p = test_map(3 * PAGE, RW), *q;

	REQUIRE(p != NULL);
	memset(p, 5, 3 * PAGE);
	q = mmap(
	    p + PAGE, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	EXPECT(q == p + PAGE);
	EXPECT_EQ(p[PAGE - 1], 5);
	EXPECT_EQ(p[PAGE], 0);
	EXPECT_EQ(p[2 * PAGE], 5);
	EXPECT_EQ(munmap(p, 3 * PAGE), 0);
}

TEST(protection_follows_mprotect)
{
	char *p = test_map(2 * PAGE, PROT_NONE);

	REQUIRE(p != NULL);
	EXPECT(!is_readable(p));
	EXPECT_EQ(mprotect(p, PAGE, RW), 0);
	EXPECT(is_readable(p) && !is_readable(p + PAGE));
	p[0] = 9;
	EXPECT_EQ(mprotect(p, PAGE, PROT_READ), 0);
	EXPECT_EQ(p[0], 9);
	/* The kernel may not write there, either, as getcwd(2) does. */
	errno = 0;
	EXPECT(getcwd(p, PAGE) == NULL && errno == EFAULT);
	EXPECT_EQ(p[0], 9);
	EXPECT_EQ(mprotect(p, PAGE, PROT_NONE), 0);
	EXPECT(!is_readable(p));
	EXPECT_EQ(mprotect(p, PAGE, RW), 0);
	EXPECT_EQ(p[0], 9);
	EXPECT_EQ(munmap(p, 2 * PAGE), 0);
}

TEST(mremap_grows_moves_and_shrinks)
{
	char *p = test_map(2 * PAGE, RW), *q;

	REQUIRE(p != NULL);
	p[0] = 1;
	p[2 * PAGE - 1] = 2;
	q = mremap(p, 2 * PAGE, 40 * PAGE, MREMAP_MAYMOVE);
	REQUIRE(q != MAP_FAILED);
	EXPECT_EQ(q[0] + q[2 * PAGE - 1], 3);
	EXPECT_EQ(q[40 * PAGE - 1], 0);
	EXPECT(q == p || !is_readable(p));
	p = mremap(q, 40 * PAGE, PAGE, 0);
	EXPECT(p == q);
	EXPECT(p[0] == 1 && !is_readable(p + PAGE));
	EXPECT_EQ(munmap(p, PAGE), 0);
}

TEST(mremap_does_not_move_unasked)
{
	char *p = test_map(2 * PAGE, RW), *q;

	REQUIRE(p != NULL);
	/* The second page blocks the growth of the first. */
	q = mremap(p, PAGE, 2 * PAGE, 0);
	EXPECT_ERRNO(q == MAP_FAILED ? -1 : 0, ENOMEM);
	EXPECT_EQ(munmap(p, 2 * PAGE), 0);
}

/* Grow the page below which no other may be: the last of the main stack. */
static __attribute__((noinline, noreturn)) void
grow_last_page(void)
{
	static char copy[PAGE];
	char *last = (char *)0x00007fffffc00000 - PAGE, *q;

	memcpy(copy, last, PAGE);
	q = mremap(last, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
	bool moved = q != MAP_FAILED && memcmp(q, copy, PAGE) == 0 &&
	             q[2 * PAGE - 1] == 0 && !is_readable(last);
	_exit(moved ? 0 : 1);
}

/* The function that moves the page has its frame in another one. */
static __attribute__((noinline)) void
call_below(void (*call)(void))
{
	volatile char room[2 * PAGE];

	room[0] = 0;
	call();
	(void)room[0];
}

TEST(mremap_moves_a_region_that_ends_with_the_address_space)
{
	pid_t pid = fork();

	if (pid == 0)
		call_below(grow_last_page);
	EXPECT_EQ(test_wait_status(pid), 0);
}

/* Pages with contents, without access, then a hole and a page. */
TEST(madvise_zeroes_all_regions_of_a_range)
{
	char *p = test_map(5 * PAGE, RW);

	REQUIRE(p != NULL);
	memset(p, 7, 5 * PAGE);
	/* The range ends inside a region. */
	EXPECT_EQ(madvise(p, PAGE, MADV_DONTNEED), 0);
	EXPECT_EQ(p[0] + p[PAGE], 7);
	memset(p, 7, PAGE);
	EXPECT_EQ(mprotect(p + PAGE, PAGE, PROT_READ), 0);
	EXPECT_EQ(mprotect(p + 2 * PAGE, PAGE, PROT_NONE), 0);
	EXPECT_EQ(madvise(p, 3 * PAGE, MADV_DONTNEED), 0);
	EXPECT_EQ(mprotect(p, 3 * PAGE, RW), 0);
	EXPECT_EQ(p[0] + p[PAGE] + p[2 * PAGE] + p[3 * PAGE - 1], 0);
	EXPECT_EQ(p[3 * PAGE], 7);
	/* As on Linux, what is mapped after a hole is zeroed, too. */
	EXPECT_EQ(munmap(p + 3 * PAGE, PAGE), 0);
	p[0] = 7;
	EXPECT_ERRNO(madvise(p, 5 * PAGE, MADV_DONTNEED), ENOMEM);
	EXPECT_EQ(p[0] + p[4 * PAGE], 0);
	EXPECT_EQ(munmap(p, 5 * PAGE), 0);
}

TEST(impossible_requests_are_refused)
{
	char *p = test_map(2 * PAGE, RW);

	REQUIRE(p != NULL);
	EXPECT_EQ(munmap(p + PAGE, PAGE), 0);
	EXPECT_ERRNO(test_map(0, RW) == NULL ? -1 : 0, EINVAL);
	EXPECT_ERRNO(
	    test_map(SIZE_MAX & ~(PAGE - 1), RW) == NULL ? -1 : 0, ENOMEM);
	EXPECT_ERRNO(munmap(p + 1, PAGE), EINVAL);
	EXPECT_ERRNO(munmap(p, 0), EINVAL);
	/* By the kernel: musl's mprotect() aligns the address. */
	EXPECT_ERRNO(syscall(SYS_mprotect, p + 1, PAGE, RW), EINVAL);
	EXPECT_ERRNO(mprotect(p, 2 * PAGE, RW), ENOMEM);
	EXPECT_ERRNO(
	    mmap(p + 1, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		0) == MAP_FAILED
		? -1
		: 0,
	    EINVAL);
	EXPECT_ERRNO((long)mmap(NULL, PAGE, RW, MAP_PRIVATE, 77, 0), EBADF);
	EXPECT_ERRNO((long)mmap(NULL, 0, RW, MAP_PRIVATE, 77, 0), EBADF);
	EXPECT_EQ(munmap(p, PAGE), 0);
}

TEST(the_kernels_half_cannot_be_mapped)
{
	void *where[] = { (void *)0xffffffff80000000,
		(void *)0xffff800000000000, (void *)0x0000800000000000,
		(void *)0x00007ffffffff000 };

	for (unsigned i = 0; i < sizeof where / sizeof where[0]; i++) {
		void *p = mmap(where[i], 2 * PAGE, RW,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

		EXPECT_ERRNO(p == MAP_FAILED ? -1 : 0, ENOMEM);
		EXPECT(munmap(where[i], 2 * PAGE) == -1);
		EXPECT(mprotect(where[i], 2 * PAGE, RW) == -1);
	}
}

TEST(reservations_take_no_memory_and_no_time)
{
	uint64_t before = test_free_pages();
	/* A loop over its pages would take days. */
	size_t bytes = (size_t)1 << 46;

	if (before == 0)
		SKIP("this is not barecpc");
	char *p = test_map(bytes, PROT_NONE);
	REQUIRE(p != NULL);
	EXPECT(before - test_free_pages() <= 4);
	/* It cannot all be made writable, and the refusal takes no time. */
	EXPECT_ERRNO(mprotect(p, bytes, RW), ENOMEM);
	/* A page in its middle is used and unmapped. */
	char *q = p + bytes / 2;
	EXPECT_EQ(mprotect(q, PAGE, RW), 0);
	*q = 1;
	EXPECT_EQ(mprotect(q, PAGE, PROT_NONE), 0);
	EXPECT_EQ(munmap(q, PAGE), 0);
	q = mremap(p, bytes / 4, bytes / 8, 0);
	EXPECT(q == p);
	EXPECT_EQ(munmap(p, bytes), 0);
	/* The page tables of both protections stay. */
	EXPECT(before - test_free_pages() <= 16);
}

/* The end of the process unmaps it, in no more time. */
TEST(a_reservation_may_stay_mapped)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(test_map((size_t)1 << 45, PROT_NONE) == NULL);
	EXPECT_EQ(test_wait_status(pid), 0);
}

TEST(a_lock_needs_memory)
{
	char *p = test_map(3 * PAGE, RW);
	char *q;
	pid_t child;

	REQUIRE(p != NULL);
	EXPECT_EQ(mprotect(p + PAGE, PAGE, PROT_READ), 0);
	EXPECT_EQ(mlock(p + 1, 3 * PAGE - 1), 0);
	EXPECT_ERRNO(madvise(p, PAGE, MADV_DONTNEED), EINVAL);
	EXPECT_ERRNO(madvise(p, PAGE, MADV_FREE), EINVAL);
	EXPECT_ERRNO(msync(p, PAGE, MS_SYNC | MS_INVALIDATE), EBUSY);
	EXPECT_EQ(munlock(p, 3 * PAGE), 0);
	EXPECT_EQ(msync(p, PAGE, MS_SYNC | MS_INVALIDATE), 0);
	EXPECT_ERRNO(msync(p, PAGE, MS_SYNC | MS_ASYNC), EINVAL);
	EXPECT_ERRNO(msync(p, PAGE, 8), EINVAL);
	EXPECT_ERRNO(msync(p + 1, PAGE, MS_SYNC), EINVAL);
	EXPECT_ERRNO(msync(p, (size_t)-1, MS_SYNC), ENOMEM);
	EXPECT_EQ(mlockall(MCL_CURRENT | MCL_FUTURE), 0);
	EXPECT_ERRNO(madvise(p, PAGE, MADV_DONTNEED), EINVAL);
	q = mmap(NULL, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT_ERRNO(madvise(q, PAGE, MADV_DONTNEED), EINVAL);
	child = fork(); /* locks none */
	if (child == 0)
		_exit(madvise(p, 3 * PAGE, MADV_DONTNEED));
	EXPECT_EQ(test_wait_status(child), 0);
	EXPECT_EQ(munlockall(), 0);
	EXPECT_EQ(madvise(q, PAGE, MADV_DONTNEED), 0);
	EXPECT_EQ(mlock(q, PAGE), 0);
	q = mremap(q, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
	EXPECT_ERRNO(madvise(q + PAGE, PAGE, MADV_DONTNEED), EINVAL);
	EXPECT_EQ(munlock(q, PAGE), 0);
	EXPECT_EQ(munlockall(), 0); /* then it is one mapping again */
	q = mremap(q, 2 * PAGE, 3 * PAGE, MREMAP_MAYMOVE);
	EXPECT_EQ(munmap(q, 3 * PAGE), 0);
	EXPECT_ERRNO(mlockall(0), EINVAL);
	EXPECT_ERRNO(mlockall(8), EINVAL);
	EXPECT_EQ(munmap(p + PAGE, PAGE), 0);
	EXPECT_ERRNO(mlock(p, 3 * PAGE), ENOMEM);
	EXPECT_ERRNO(mlock(p, (size_t)-1), EINVAL);
	EXPECT_EQ(munmap(p, 3 * PAGE), 0);
}

TEST(brk_grows_and_shrinks)
{
	char *start = (char *)syscall(SYS_brk, 0), *end;

	end = (char *)syscall(SYS_brk, start + 10 * PAGE);
	REQUIRE(end == start + 10 * PAGE);
	start[10 * PAGE - 1] = 1;
	EXPECT_EQ(syscall(SYS_brk, start), start);
	EXPECT(!is_readable(start + 5 * PAGE));
	EXPECT_EQ(syscall(SYS_brk, start + 10 * PAGE), start + 10 * PAGE);
	EXPECT_EQ(start[10 * PAGE - 1], 0);
	EXPECT_EQ(syscall(SYS_brk, start), start);
	/* An impossible request leaves the break unchanged. */
	EXPECT_EQ(syscall(SYS_brk, (uintptr_t)1 << 46), start);
}

TEST_TWICE(); /* page tables stay */
