/*
 * No mapping of memory that others have, such as a file's, has a large page,
 * because a program may unmap each of its pages alone.
 *
 * Each page of code that is written is synchronized with what CPUs fetch.  So
 * are the first and the last page, of which only a part is written.  Images
 * cannot show it, because an emulator fetches what memory has.
 */
#include "tests/lib/host/support.h"

#include <string.h>

#include "kern/arch.h"
#include "kern/mm/as.h"
#include "kern/mm/populate.h"
#include "kern/platform/entry_budget.h"
#include "kern/platform/errno.h"

#define FIRST 0x400000UL
#define PAGES 8U
#define HOLE  3U /* this page is not there */

static char ram[PAGES * PAGE_SIZE];
char *const arch_direct = ram;
uint64_t entry_budget_pages;

static struct as as;
static unsigned synced[PAGES];

uint64_t
arch_translate(struct as *of, uintptr_t va)
{
	unsigned page = (unsigned)((va - FIRST) / PAGE_SIZE);

	assert_ptr_equal(of, &as);
	assert_true(page < PAGES);
	return page == HOLE ? ~0ULL : page * PAGE_SIZE;
}

void
arch_icache_sync(void *at, size_t bytes)
{
	size_t offset = (size_t)((char *)at - ram);

	assert_int_equal(offset % PAGE_SIZE, 0);
	assert_int_equal(bytes, PAGE_SIZE);
	synced[offset / PAGE_SIZE]++;
}

TEST(each_page_is_synchronized_once)
{
	static const struct {
		unsigned from, bytes, first, last;
	} runs[] = {
		{ PAGE_SIZE, PAGE_SIZE, 1, 1 },
		{ 2 * PAGE_SIZE - 4, 4, 1, 1 },
		{ 2 * PAGE_SIZE - 4, 8, 1, 2 },
		{ 4, 6 * PAGE_SIZE, 0, 6 },
	};

	for (unsigned i = 0; i < sizeof runs / sizeof runs[0]; i++) {
		memset(synced, 0, sizeof synced);
		as_sync_code(&as, FIRST + runs[i].from, runs[i].bytes);
		for (unsigned p = 0; p < PAGES; p++)
			assert_int_equal(synced[p], p >= runs[i].first &&
							p <= runs[i].last &&
							p != HOLE);
	}
}

static size_t mapped, unmapped, left; /* bytes; how many may be mapped */

int
arch_map(struct as *to, uintptr_t va, uint64_t pa, size_t len, unsigned prot)
{
	assert_ptr_equal(to, &as);
	assert_true(len < LARGE_SIZE && prot == (PROT_READ | PROT_USER));
	assert_int_equal(va, 4 * LARGE_SIZE + mapped);
	assert_int_equal(pa, 8 * LARGE_SIZE + mapped);
	if (len > left)
		return ENOMEM;
	left -= len;
	mapped += len;
	return 0;
}

void
arch_unmap(struct as *from, uintptr_t va, size_t len)
{
	assert_ptr_equal(from, &as);
	if (va == 4 * LARGE_SIZE)
		unmapped = len;
}

static int
map_shared(size_t len)
{
	mapped = unmapped = 0;
	return pages_map_shared(
	    &as, 4 * LARGE_SIZE, 8 * LARGE_SIZE, len, PROT_READ);
}

TEST(shared_memory_has_no_large_page)
{
	left = SIZE_MAX;
	assert_int_equal(map_shared(PAGE_SIZE), 0);
	assert_int_equal(mapped, PAGE_SIZE);
	assert_int_equal(map_shared(3 * LARGE_SIZE + PAGE_SIZE), 0);
	assert_int_equal(mapped, 3 * LARGE_SIZE + PAGE_SIZE);
	left = 2 * LARGE_SIZE;
	assert_int_equal(map_shared(3 * LARGE_SIZE), ENOMEM);
	assert_int_equal(unmapped, 2 * LARGE_SIZE);
}
