/* malloc(3): blocks of every size are aligned, disjoint, and come back. */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 100

static size_t
size_of(unsigned i)
{
	return 1 + ((size_t)i * i * 37) % 70000;
}

TEST(blocks_keep_what_is_written)
{
	static unsigned char *block[BLOCKS];
	size_t j, bytes;

	for (unsigned i = 0; i < BLOCKS; i++) {
		block[i] = malloc(size_of(i));
		REQUIRE(block[i] != NULL);
		EXPECT_EQ((uintptr_t)block[i] % _Alignof(max_align_t), 0);
		memset(block[i], (int)(i & 0xff), size_of(i));
	}
	for (unsigned i = 0; i < BLOCKS; i++) {
		bytes = size_of(i);
		for (j = 0; j < bytes && block[i][j] == (i & 0xff); j++)
			;
		EXPECT_EQ(j, bytes);
		free(block[i]);
	}
}

TEST(realloc_keeps_the_content)
{
	size_t bytes = 16, i;
	unsigned char *p = malloc(bytes);

	REQUIRE(p != NULL);
	for (i = 0; i < bytes; i++)
		p[i] = (unsigned char)i;
	for (; bytes <= 8 << 20; bytes *= 8) {
		p = realloc(p, bytes);
		REQUIRE(p != NULL);
		for (i = 0; i < 16; i++)
			EXPECT_EQ(p[i], i);
	}
	free(p);
}

TEST(calloc_is_zero_after_use)
{
	size_t bytes = 1 << 20, i;
	unsigned char *p = malloc(bytes);

	REQUIRE(p != NULL);
	memset(p, 0xa5, bytes);
	free(p);
	p = calloc(1, bytes);
	REQUIRE(p != NULL);
	for (i = 0; i < bytes && p[i] == 0; i++)
		;
	EXPECT_EQ(i, bytes);
	free(p);
}

TEST(a_block_larger_than_any_memory_is_refused)
{
	void *volatile p = malloc((size_t)1 << 46);

	EXPECT(p == NULL && errno == ENOMEM);
	p = malloc(100);
	EXPECT(p != NULL);
	free(p);
}

TEST(big_blocks_come_and_go)
{
	/*
	 * 320 MiB in the two rounds are more than there is, so freed memory is
	 * used again.
	 */
	for (unsigned i = 0; i < 40; i++) {
		char *p = malloc(4 << 20);

		REQUIRE(p != NULL);
		p[i] = p[(4 << 20) - 1] = 1;
		free(p);
	}
}

TEST_TWICE();
