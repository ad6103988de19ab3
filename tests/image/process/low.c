/* A program at vm.mmap_min_addr, where some linkers put it, runs. */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

extern const char __ehdr_start[];

static volatile int value = 41;

TEST(it_is_where_it_was_linked)
{
	EXPECT_EQ((uintptr_t)__ehdr_start, 0x10000);
	value++;
	EXPECT_EQ(value, 42);
}

TEST(nothing_can_be_mapped_below)
{
	EXPECT(
	    mmap((void *)0xf000, 4096, PROT_READ,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED);
	EXPECT_EQ(errno, ENOMEM);
}
