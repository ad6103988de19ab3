/* More memory than there is: ENOMEM at once, and nothing is kept. */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <payload.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define CHUNK ((size_t)1 << 20)

static void *
map_memory(size_t bytes, int flags)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Take all memory in chunks, linked by their first words: their number. */
static unsigned
take_all(void **chain, size_t chunk)
{
	unsigned n;
	void **p;

	for (n = 0; (p = map_memory(chunk, 0)) != NULL; n++) {
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

TEST(more_than_any_machine_has)
{
	EXPECT_ERRNO(map_memory((size_t)1 << 45, 0) == NULL ? -1 : 0, ENOMEM);
	EXPECT_ERRNO(map_memory((size_t)1 << 62, 0) == NULL ? -1 : 0, ENOMEM);
	EXPECT_ERRNO(map_memory(SIZE_MAX - 4095, 0) == NULL ? -1 : 0, ENOMEM);
}

/* Take all memory, in chunks and pages, and free it: the chunks. */
static unsigned
round_trip(void)
{
	void *chunks = NULL, *pages = NULL;
	unsigned n = take_all(&chunks, CHUNK);

	EXPECT_ERRNO(payload_contig(1) == NULL ? -1 : 0, ENOMEM);
	/* With more pages left, another chunk would have fitted. */
	EXPECT(take_all(&pages, 4096) < CHUNK / 4096);
	/* The program still runs, and gets ENOMEM. */
	EXPECT_ERRNO(map_memory(1, 0) == NULL ? -1 : 0, ENOMEM);
	give_back(pages, 4096);
	give_back(chunks, CHUNK);
	return n;
}

TEST(all_memory_twice)
{
	uint64_t before;
	unsigned first;

	if (test_free_pages() == 0)
		SKIP("this is not barecpc");
	/* The first round leaves page tables, which the second uses again. */
	first = round_trip();
	EXPECT(first > 0);
	before = test_free_pages();
	EXPECT_EQ(round_trip(), first);
	EXPECT_EQ(test_free_pages(), before);
}

TEST(malloc_fails_with_enomem)
{
	void *volatile p = malloc((size_t)1 << 44);

	EXPECT(p == NULL && errno == ENOMEM);
	p = malloc(1000);
	EXPECT(p != NULL);
	free(p);
}

/* Page tables for all memory of a machine with at most 4 GiB. */
TEST_KEEPS(2048 + 16);
