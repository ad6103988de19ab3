/* The page allocator and the heap: blocks were free, are aligned, come back. */
#include "tests/lib/host/support.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kern/arch.h"
#include "kern/mm/page.h"
#include "kern/platform/bootinfo.h"

#define RAM_PAGES 8192UL /* 32 MiB */
#define UNTOUCHED 0x5a

static char ram[RAM_PAGES * PAGE_SIZE] __attribute__((aligned(4 << 20)));
char *const arch_direct = ram;

void
arch_page_zero(void *va, size_t bytes)
{
	memset(va, 0, bytes);
}

static struct bootinfo bi;
static size_t nfree, ntouched; /* pages, by page_init() */

/* Three ranges with holes, so that blocks do not end at powers of two. */
static int
setup(void **state)
{
	bootinfo_add(&bi, 0, 1000 * PAGE_SIZE, BOOTMEM_FREE);
	bootinfo_add(&bi, 1003 * PAGE_SIZE, 2045 * PAGE_SIZE, BOOTMEM_FREE);
	bootinfo_add(&bi, 3072 * PAGE_SIZE, (RAM_PAGES - 3072) * PAGE_SIZE,
	    BOOTMEM_FREE);
	bootinfo_sort(&bi);
	memset(ram, UNTOUCHED, sizeof ram);
	page_init(&bi);
	for (size_t i = 0; i < RAM_PAGES; i++)
		ntouched += ram[i * PAGE_SIZE] != UNTOUCHED;
	nfree = page_nfree();
	return 0;
}

TEST_FIRST(setup);

static size_t
page_of(const void *va)
{
	return (size_t)((const char *)va - ram) / PAGE_SIZE;
}

static bool owned[RAM_PAGES];

static void
set_owned(const void *va, size_t pages, bool value)
{
	for (size_t i = page_of(va); i < page_of(va) + pages; i++) {
		assert_true(i > 0 && i < RAM_PAGES);
		assert_false(i >= 1000 && i < 1003);
		assert_false(i >= 3048 && i < 3072);
		assert_int_equal(owned[i], !value);
		owned[i] = value;
	}
}

/*
 * The boot writes the links of smaller blocks, and a page of bitmaps.  There is
 * at most one block of each of 10 orders at both ends of 3 ranges.  The others
 * are not touched: a hypervisor need not give them to its guest.
 */
TEST(the_boot_touches_little)
{
	assert_in_range(ntouched, 1, 10 * 2 * 3 + 1);
	for (size_t i = 4096; i < RAM_PAGES; i += 1024)
		assert_int_equal(ram[i * PAGE_SIZE], UNTOUCHED);
}

TEST(random_blocks)
{
	struct {
		void *va;
		unsigned order;
	} held[200] = { { NULL, 0 } };

	srand(2);
	for (unsigned round = 0; round < 20000; round++) {
		unsigned i = (unsigned)rand() % 200;

		if (held[i].va != NULL) {
			set_owned(held[i].va, 1UL << held[i].order, false);
			page_free(held[i].va, held[i].order);
			held[i].va = NULL;
			continue;
		}
		held[i].order = (unsigned)rand() % 8;
		held[i].va = page_alloc(held[i].order);
		if (held[i].va == NULL)
			continue;
		assert_int_equal(
		    page_of(held[i].va) % (1UL << held[i].order), 0);
		set_owned(held[i].va, 1UL << held[i].order, true);
	}
	for (unsigned i = 0; i < 200; i++) {
		if (held[i].va == NULL)
			continue;
		set_owned(held[i].va, 1UL << held[i].order, false);
		page_free(held[i].va, held[i].order);
	}
	assert_int_equal(page_nfree(), nfree);
}

/* Allocate all memory as single pages.  Freeing merges them again. */
TEST(allocate_all)
{
	static void *all[RAM_PAGES];
	size_t n = 0;
	void *large;

	while ((all[n] = page_alloc(0)) != NULL)
		set_owned(all[n++], 1, true);
	assert_int_equal(n, nfree);
	assert_int_equal(page_nfree(), 0);
	assert_null(kmalloc(32));
	while (n-- > 0) {
		set_owned(all[n], 1, false);
		page_free(all[n], 0);
	}
	assert_int_equal(page_nfree(), nfree);
	assert_non_null(large = page_alloc(PAGE_MAXORDER));
	page_free(large, PAGE_MAXORDER);
}

/* Repeated allocation and freeing uses the same block, which is split once. */
TEST(repeated_allocation)
{
	static const unsigned order[] = { 0, 2, 5 };
	void *first[3], *second[3];

	for (unsigned i = 0; i < 3; i++)
		first[i] = page_alloc(order[i]);
	page_free(first[0], 0);
	page_free(first[1], 2);
	page_free_run(first[2], 32);
	assert_int_equal(page_nfree(), nfree);
	for (unsigned i = 0; i < 3; i++) {
		second[i] = page_alloc(order[i]);
		assert_ptr_equal(second[i], first[i]);
	}
	for (unsigned i = 0; i < 3; i++)
		page_free(second[i], order[i]);
	assert_int_equal(page_nfree(), nfree);
}

TEST(zeroed)
{
	unsigned char *p = page_alloc(3);

	memset(p, 0xee, 8 * PAGE_SIZE);
	page_free(p, 3);
	p = page_zalloc(3);
	for (size_t i = 0; i < 8 * PAGE_SIZE; i++)
		assert_int_equal(p[i], 0);
	page_free(p, 3);
}

TEST(page_runs)
{
	static const size_t pages[] = { 1, 3, 512, 1024, 1536, 2048, 4096 };

	for (unsigned i = 0; i < sizeof pages / sizeof *pages; i++) {
		char *p = page_alloc_run(pages[i]);

		assert_non_null(p);
		set_owned(p, pages[i], true);
		assert_int_equal(page_nfree(), nfree - pages[i]);
		if (pages[i] % 512 == 0)
			assert_int_equal(page_of(p) % 512, 0);
		set_owned(p, pages[i], false);
		/* Free it in parts, the middle one first. */
		page_free_run(p + pages[i] / 3 * PAGE_SIZE, pages[i] / 3);
		page_free_run(p, pages[i] / 3);
		page_free_run(p + pages[i] / 3 * 2 * PAGE_SIZE,
		    pages[i] - pages[i] / 3 * 2);
		assert_int_equal(page_nfree(), nfree);
	}
	assert_null(page_alloc_run(RAM_PAGES));
	assert_null(page_alloc_run(~0UL >> PAGE_SHIFT));
}

TEST(heap)
{
	struct {
		unsigned char *p;
		size_t n;
	} held[300] = { { NULL, 0 } };

	srand(3);
	for (unsigned round = 0; round < 30000; round++) {
		unsigned i = (unsigned)rand() % 300;

		if (held[i].p != NULL) {
			for (size_t k = 0; k < held[i].n; k++)
				assert_int_equal(
				    held[i].p[k], (unsigned char)i);
			kfree(held[i].p);
			held[i].p = NULL;
			continue;
		}
		held[i].n = (size_t)rand() % (rand() % 16 ? 1200 : 20000);
		held[i].p = kmalloc(held[i].n);
		assert_non_null(held[i].p);
		assert_int_equal((uintptr_t)held[i].p % 16, 0);
		for (size_t k = 0; k < held[i].n; k++)
			assert_int_equal(held[i].p[k], 0);
		memset(held[i].p, (int)i, held[i].n);
	}
	for (unsigned i = 0; i < 300; i++)
		kfree(held[i].p);
	assert_int_equal(page_nfree(), nfree);
	assert_null(kmalloc(~0UL));
	assert_null(kmalloc(64UL << 20));
}

/* With checks=poison, a write to any word of a freed page after its mark. */
TEST(write_after_free)
{
	static const unsigned at[] = { 0x18, 0x7d0, PAGE_SIZE - 8 };
	char said[200], want[40];
	int status, out[2];

	for (unsigned i = 0; i < sizeof at / sizeof at[0]; i++) {
		assert_int_equal(pipe(out), 0);
		if (fork() == 0) {
			dup2(out[1], 2);
			page_poison_start();
			char *page = page_alloc(0);
			page_free(page, 0);
			page[at[i]] ^= 1;
			page_alloc(0);
			_exit(0);
		}
		wait(&status);
		assert_int_equal(WTERMSIG(status), SIGABRT);
		said[read(out[0], said, sizeof said - 1)] = '\0';
		snprintf(want, sizeof want, "freed: at +%#x is ", at[i]);
		assert_non_null(strstr(said, want));
		close(out[0]);
		close(out[1]);
	}
}

/* Freed and allocated again without a write, next to pages with contents. */
TEST(poison_alone)
{
	char *page[64];
	int status;

	if (fork() == 0) {
		page_poison_start();
		for (unsigned i = 0; i < 64; i++)
			memset(page[i] = page_alloc(0), 1, PAGE_SIZE);
		for (unsigned i = 0; i < 64; i += 2)
			page_free(page[i], 0);
		for (unsigned i = 0; i < 64; i += 2)
			page[i] = page_alloc(0);
		_exit(0);
	}
	wait(&status);
	assert_int_equal(status, 0);
}
