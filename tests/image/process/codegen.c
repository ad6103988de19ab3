/* A program can write instructions, run them, and replace them by others. */
#define _GNU_SOURCE /* mremap */
#include "tests/lib/image/test.h"

#include <payload.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

extern const char return_one[], return_one_end[];
extern const char return_two[], return_two_end[];

static int
run_copy(char *where, const char *code, const char *end)
{
	int (*fn)(void) = (int (*)(void))(uintptr_t)where;

	memcpy(where, code, (size_t)(end - code));
	payload_isync(where, (size_t)(end - code));
	return fn();
}

static void
rewrite_many_times(char *where)
{
	int i, right = 0;

	for (i = 0; i < 100; i++) {
		right += run_copy(where, return_one, return_one_end) == 1;
		right += run_copy(where, return_two, return_two_end) == 2;
	}
	EXPECT_EQ(right, 200);
}

TEST(writable_and_executable_memory_on_request)
{
	char *p = test_map(4096, PROT_READ | PROT_WRITE | PROT_EXEC);

	REQUIRE(p != NULL);
	rewrite_many_times(p);
	EXPECT_EQ(munmap(p, 4096), 0);
}

TEST(contiguous_executable_memory)
{
	char *p = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_CONTIG, -1, 0);

	REQUIRE(p != MAP_FAILED);
	rewrite_many_times(p + 4000); /* across a boundary of 4 KiB */
	rewrite_many_times(p + (2 << 20) - 64);
	EXPECT_EQ(munmap(p, 2 << 20), 0);
}

TEST(code_that_moves_still_runs)
{
	const int prot = PROT_READ | PROT_WRITE | PROT_EXEC;
	char *p = test_map(2 * 4096, prot);

	REQUIRE(p != NULL);
	EXPECT_EQ(run_copy(p, return_one, return_one_end), 1);
	/* The second page of p is in the way. */
	EXPECT_EQ(mprotect(p + 4096, 4096, PROT_READ), 0);
	char *q = mremap(p, 4096, 2 * 4096, MREMAP_MAYMOVE);
	REQUIRE(q != MAP_FAILED);
	EXPECT(q != p);
	EXPECT_EQ(((int (*)(void))(uintptr_t)q)(), 1);
	EXPECT_EQ(run_copy(q + 4096, return_two, return_two_end), 2);
	EXPECT_EQ(munmap(p + 4096, 4096), 0);
	EXPECT_EQ(munmap(q, 2 * 4096), 0);
}

TEST(write_then_execute)
{
	char *p = test_map(4096, PROT_READ | PROT_WRITE);
	int (*fn)(void) = (int (*)(void))(uintptr_t)p;

	REQUIRE(p != NULL);
	memcpy(p, return_two, (size_t)(return_two_end - return_two));
	payload_isync(p, 64);
	EXPECT_EQ(mprotect(p, 4096, PROT_READ | PROT_EXEC), 0);
	EXPECT_EQ(fn(), 2);
	EXPECT_EQ(mprotect(p, 4096, PROT_READ | PROT_WRITE), 0);
	memcpy(p, return_one, (size_t)(return_one_end - return_one));
	payload_isync(p, 64);
	EXPECT_EQ(mprotect(p, 4096, PROT_READ | PROT_EXEC), 0);
	EXPECT_EQ(fn(), 1);
	EXPECT_EQ(munmap(p, 4096), 0);
}
