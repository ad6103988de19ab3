/*
 * Memory that is not there is refused with ENOMEM, at once and leaving
 * nothing behind; what is given back can be had again.
 */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <payload.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK ((size_t)1 << 20)

static void *
map(size_t bytes, int flags)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Take all memory in chunks, linked through their first words. */
static unsigned
take_all(void **chain, size_t chunk)
{
	unsigned n;
	void **p;

	for (n = 0; (p = map(chunk, 0)) != NULL; n++) {
		*p = *chain;
		*chain = p;
	}
	EXPECT_EQ(errno, ENOMEM);
	return n;
}

static void
give_back(void *chain, size_t chunk)
{
	void *next;

	for (; chain != NULL; chain = next) {
		next = *(void **)chain;
		munmap(chain, chunk);
	}
}

TEST(more_than_there_can_be)
{
	EXPECT_ERRNO(map((size_t)1 << 45, 0) == NULL ? -1 : 0, ENOMEM);
	EXPECT_ERRNO(map((size_t)1 << 62, 0) == NULL ? -1 : 0, ENOMEM);
	EXPECT_ERRNO(map(SIZE_MAX - 4095, 0) == NULL ? -1 : 0, ENOMEM);
}

/* All memory, in chunks and then in pages; returns the number of chunks. */
static unsigned
round_trip(void)
{
	void *chunks = NULL, *pages = NULL;
	unsigned n = take_all(&chunks, CHUNK);

	EXPECT_ERRNO(payload_contig(1) == NULL ? -1 : 0, ENOMEM);
	/* Or another chunk had fitted. */
	EXPECT(take_all(&pages, 4096) < CHUNK / 4096);
	/* The program still runs, and is told. */
	EXPECT_ERRNO(map(1, 0) == NULL ? -1 : 0, ENOMEM);
	give_back(pages, 4096);
	give_back(chunks, CHUNK);
	return n;
}

TEST(all_of_it_twice)
{
	struct barecpc_stat before, after;
	unsigned first;

	if (payload_stat(&before) == -1)
		SKIP("this is not barecpc");
	/* The first round leaves page tables, the second finds them. */
	first = round_trip();
	EXPECT(first > 0);
	REQUIRE(payload_stat(&before) == 0);
	EXPECT_EQ(round_trip(), first);
	REQUIRE(payload_stat(&after) == 0);
	EXPECT_EQ(after.bs_free_pages, before.bs_free_pages);
}

TEST(malloc_says_so)
{
	void *volatile p = malloc((size_t)1 << 44);

	EXPECT(p == NULL && errno == ENOMEM);
	p = malloc(1000);
	EXPECT(p != NULL);
	free(p);
}

/* Page tables of all memory, of a machine with 4 GiB at most. */
TEST_KEEPS(2048 + 16);
