/* MAP_CONTIG memory is one range of physical memory, in 2 MiB pages. */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <payload.h>
#include <stdint.h>
#include <string.h>

#define PAGE  ((size_t)4096)
#define LARGE ((size_t)2 << 20)

/* Is this barecpc, with twice this much free memory? */
static bool
is_free(size_t bytes)
{
	return test_free_pages() / 2 >= bytes / PAGE;
}

static void
check_contiguous(size_t bytes)
{
	char *p = payload_contig(bytes);
	size_t at;

	REQUIRE(p != NULL);
	uint64_t first = payload_phys(p);
	EXPECT_EQ((uintptr_t)p % LARGE, 0);
	EXPECT_EQ(first % LARGE, 0);
	for (at = 0; at < bytes; at += PAGE)
		if (payload_phys(p + at) != first + at)
			break;
	EXPECT_EQ(at, (bytes + PAGE - 1) / PAGE * PAGE);
	EXPECT_EQ(payload_phys(p + 123), first + 123);
	for (at = 0; at < bytes && p[at] == 0; at++)
		;
	EXPECT_EQ(at, bytes);
	memset(p, 0xee, bytes);
	payload_contig_free(p, bytes);
	EXPECT_EQ(payload_phys(p), UINT64_MAX);
}

TEST(one_page)
{
	if (!is_free(PAGE))
		SKIP("this is not barecpc");
	check_contiguous(1);
	check_contiguous(PAGE);
	check_contiguous(LARGE);
}

TEST(several_large_pages)
{
	if (!is_free(8 * LARGE))
		SKIP("less than 32 MiB of memory");
	check_contiguous(LARGE + 1);
	check_contiguous(8 * LARGE);
}

TEST(more_than_there_is)
{
	if (!is_free(PAGE))
		SKIP("this is not barecpc");
	EXPECT_ERRNO(payload_contig((size_t)1 << 40) == NULL ? -1 : 0, ENOMEM);
}

TEST(large_pages_do_not_split)
{
	if (!is_free(PAGE))
		SKIP("this is not barecpc");
	char *p = payload_contig(2 * LARGE);
	REQUIRE(p != NULL);
	EXPECT_ERRNO(munmap(p, PAGE), EINVAL);
	EXPECT_ERRNO(mprotect(p, PAGE, PROT_READ), EINVAL);
	EXPECT_EQ(madvise(p, PAGE, MADV_WILLNEED), 0);
	EXPECT_EQ(mlock(p, PAGE), 0);
	p[0] = p[PAGE] = 1;
	EXPECT_EQ(munmap(p, LARGE), 0);
	EXPECT_EQ(payload_phys(p), UINT64_MAX);
	EXPECT(payload_phys(p + LARGE) != UINT64_MAX);
	EXPECT_EQ(munmap(p + LARGE, LARGE), 0);
}

/* The free pages that 2 MiB of contiguous memory take. */
static uint64_t
pages_taken(char *at)
{
	uint64_t before = test_free_pages();

	EXPECT(payload_contig(LARGE) == at);
	uint64_t taken = before - test_free_pages();
	payload_contig_free(at, LARGE);
	return taken;
}

/* Small pages leave an empty table, which a large page frees. */
TEST(large_page_replaces_an_empty_table)
{
	if (!is_free(2 * LARGE))
		SKIP("this is not barecpc");
	char *p = payload_contig(LARGE);
	REQUIRE(p != NULL);
	payload_contig_free(p, LARGE);
	uint64_t alone = pages_taken(p);
	char *small = mmap(p, PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	REQUIRE(small == p);
	*small = 1;
	EXPECT_EQ(munmap(p, PAGE), 0);
	EXPECT_EQ(pages_taken(p), alone - 1);
}

TEST(physical_address_of_nothing)
{
	if (!is_free(PAGE))
		SKIP("this is not barecpc");
	EXPECT_ERRNO(payload_phys(NULL), EFAULT);
	EXPECT_ERRNO(payload_phys((void *)0xffffffff80000000), EFAULT);
	EXPECT_ERRNO(payload_phys((void *)0x0123456789abcdef), EFAULT);
}
