/*
 * After sorting, the boot memory map is disjoint and ascending.  Every byte
 * has the most careful of its types, and memory never grows.  A simple model
 * of a small address space gives the expected map.
 */
#include "tests/lib/host/support.h"

#include <stdlib.h>
#include <string.h>

#include "kern/platform/bootinfo.h"

#define PAGE   4096ULL
#define NPAGES 64 /* pages of the model */

static struct bootinfo bi;

static unsigned
care_of(unsigned type)
{
	static const unsigned order[] = { [BOOTMEM_FREE] = 1,
		[BOOTMEM_KEEP] = 2,
		[BOOTMEM_ACPI] = 3,
		[BOOTMEM_RUNTIME] = 4,
		[BOOTMEM_DEVICE] = 5 };

	return type == 0 ? 0 : order[type];
}

static unsigned model[NPAGES];
static uint64_t origin; /* address of the model's first page */

static void
add_range(unsigned page, unsigned n, enum bootmem_type type)
{
	bootinfo_add(&bi, origin + page * PAGE, n * PAGE, type);
	for (unsigned i = page; i < page + n; i++) {
		if (care_of(type) > care_of(model[i]))
			model[i] = type;
	}
}

static unsigned
type_at(uint64_t addr)
{
	for (uint32_t i = 0; i < bi.bi_nmem; i++) {
		const struct bootmem *m = &bi.bi_mem[i];

		if (addr - m->bm_base < m->bm_len)
			return m->bm_type;
	}
	return 0;
}

static void
check_model(void)
{
	for (uint32_t i = 1; i < bi.bi_nmem; i++)
		assert_true(
		    bi.bi_mem[i - 1].bm_base + (bi.bi_mem[i - 1].bm_len - 1) <
		    bi.bi_mem[i].bm_base);
	for (unsigned i = 0; i < NPAGES; i++)
		assert_int_equal(type_at(origin + i * PAGE), model[i]);
}

static void
reset_map(void)
{
	memset(&bi, 0, sizeof bi);
	memset(model, 0, sizeof model);
}

static void
random_maps_at(uint64_t first)
{
	origin = first;
	srand(1);
	for (unsigned round = 0; round < 2000; round++) {
		reset_map();
		for (int n = rand() % 12; n > 0; n--) {
			unsigned at = (unsigned)rand() % (NPAGES - 1);
			unsigned len = 1 + (unsigned)rand() % (NPAGES - at);

			if (rand() % 4 == 0)
				len = NPAGES - at;

			add_range(at, len, 1 + (enum bootmem_type)(rand() % 5));
		}
		bootinfo_sort(&bi);
		check_model();
		/* Reserving makes free memory KEEP; other types stay. */
		if (round % 2 == 0) {
			unsigned at = (unsigned)rand() % NPAGES;

			bootinfo_reserve(&bi, origin + at * PAGE, PAGE);
			if (care_of(model[at]) < care_of(BOOTMEM_KEEP))
				model[at] = BOOTMEM_KEEP;
			check_model();
		}
	}
}

TEST(random_maps)
{
	random_maps_at(0);
}

/* Ranges that end at 2^64 overlap and touch like all others. */
TEST(random_maps_at_the_end)
{
	random_maps_at(-(NPAGES * PAGE));
	origin = 0;
}

TEST(free_is_whole_pages)
{
	reset_map();
	bootinfo_add(&bi, 100, 3 * PAGE, BOOTMEM_FREE);
	bootinfo_add(&bi, 20 * PAGE + 1, PAGE, BOOTMEM_FREE);
	bootinfo_sort(&bi);
	assert_int_equal(bi.bi_nmem, 1);
	assert_int_equal(bi.bi_mem[0].bm_base, PAGE);
	assert_int_equal(bi.bi_mem[0].bm_len, 2 * PAGE);
}

/* A range that reaches the end of the address space does not wrap. */
TEST(top_of_memory)
{
	reset_map();
	bootinfo_add(&bi, -PAGE, 2 * PAGE, BOOTMEM_DEVICE);
	bootinfo_add(&bi, PAGE, PAGE, BOOTMEM_FREE);
	bootinfo_sort(&bi);
	assert_int_equal(type_at(PAGE), BOOTMEM_FREE);
	assert_int_equal(type_at(0), 0);
}

/* The whole address space cannot be one range: its length would be 0. */
TEST(everything)
{
	reset_map();
	bootinfo_add(&bi, 0, PAGE, BOOTMEM_DEVICE);
	bootinfo_add(&bi, PAGE, -PAGE, BOOTMEM_DEVICE);
	bootinfo_sort(&bi);
	assert_int_equal(type_at(0), BOOTMEM_DEVICE);
	assert_int_equal(type_at(PAGE), BOOTMEM_DEVICE);
	assert_int_equal(type_at(-1ULL), BOOTMEM_DEVICE);
}

/* Memory at the end is allocated, and alignment does not wrap to 0. */
TEST(take_at_the_end)
{
	reset_map();
	bootinfo_add(&bi, -2 * PAGE, 2 * PAGE, BOOTMEM_FREE);
	bootinfo_sort(&bi);
	assert_int_equal(bootinfo_take(&bi, PAGE, 4 * PAGE, 0, ~0ULL), 0);
	assert_int_equal(bootinfo_take(&bi, PAGE, PAGE, 0, ~0ULL), -2 * PAGE);
	assert_int_equal(type_at(-PAGE), BOOTMEM_FREE);
}

/* RAM beyond the mapped limit is removed; devices stay. */
TEST(cut_ram)
{
	reset_map();
	bootinfo_add(&bi, 8 * PAGE, 8 * PAGE, BOOTMEM_FREE);
	bootinfo_add(&bi, 20 * PAGE, -20 * PAGE, BOOTMEM_ACPI);
	bootinfo_add(&bi, 18 * PAGE, PAGE, BOOTMEM_DEVICE);
	bootinfo_sort(&bi);
	assert_int_equal(bootinfo_cut(&bi, 10 * PAGE), 6 * PAGE - 20 * PAGE);
	assert_int_equal(type_at(9 * PAGE), BOOTMEM_FREE);
	assert_int_equal(type_at(10 * PAGE), 0);
	assert_int_equal(type_at(18 * PAGE), BOOTMEM_DEVICE);
	assert_int_equal(type_at(20 * PAGE), 0);
	assert_int_equal(bootinfo_cut(&bi, 10 * PAGE), 0);
}

TEST(take_memory)
{
	reset_map();
	add_range(1, 40, BOOTMEM_FREE);
	bootinfo_sort(&bi);
	uint64_t a = bootinfo_take(&bi, 2 * PAGE, 4 * PAGE, 0, ~0ULL);
	assert_int_equal(a, 4 * PAGE);
	uint64_t b = bootinfo_take(&bi, PAGE, PAGE, 10 * PAGE, 12 * PAGE);
	assert_int_equal(b, 10 * PAGE);
	assert_int_equal(type_at(a), BOOTMEM_KEEP);
	assert_int_equal(type_at(b), BOOTMEM_KEEP);
	assert_int_equal(
	    bootinfo_take(&bi, 2 * PAGE, PAGE, 10 * PAGE, 12 * PAGE), 0);
	assert_int_equal(bootinfo_take(&bi, 41 * PAGE, PAGE, 0, ~0ULL), 0);
}

/* Address 0 means failure, so it is never allocated. */
TEST(take_never_zero)
{
	reset_map();
	add_range(0, 2, BOOTMEM_FREE);
	bootinfo_sort(&bi);
	assert_int_equal(bootinfo_take(&bi, PAGE, PAGE, 0, ~0ULL), PAGE);
	assert_int_equal(bootinfo_take(&bi, PAGE, PAGE, 0, ~0ULL), 0);
}

/* Ranges of RAM that follow each other are one, whatever their types. */
TEST(ram_without_a_hole)
{
	reset_map();
	add_range(1, 4, BOOTMEM_FREE);
	add_range(5, 1, BOOTMEM_ACPI);
	add_range(6, 2, BOOTMEM_KEEP);
	add_range(8, 1, BOOTMEM_DEVICE);
	add_range(9, 1, BOOTMEM_FREE);
	bootinfo_sort(&bi);
	assert_true(bootinfo_is_ram(&bi, PAGE, 7 * PAGE));
	assert_true(bootinfo_is_ram(&bi, 8 * PAGE - 1, 1));
	assert_false(bootinfo_is_ram(&bi, PAGE, 7 * PAGE + 1));
	assert_false(bootinfo_is_ram(&bi, PAGE, 9 * PAGE));
	assert_false(bootinfo_is_ram(&bi, 0, 2 * PAGE));
	assert_false(bootinfo_is_ram(&bi, 8 * PAGE, 1));
	assert_true(bootinfo_is_ram(&bi, 9 * PAGE, PAGE));
	assert_false(bootinfo_is_ram(&bi, 9 * PAGE, ~0ULL));
}

/* A full map loses RAM, but no reservation. */
TEST(full_map)
{
	reset_map();
	for (unsigned i = 0; i < BOOTINFO_NMEM; i++)
		bootinfo_add(&bi, 2 * i * PAGE, PAGE, BOOTMEM_FREE);
	bootinfo_add(&bi, 1 << 30, PAGE, BOOTMEM_FREE);
	bootinfo_add(&bi, 1 << 30, PAGE, BOOTMEM_RUNTIME);
	bootinfo_sort(&bi);
	assert_int_equal(bi.bi_nmem, BOOTINFO_NMEM);
	assert_int_equal(type_at(1 << 30), BOOTMEM_RUNTIME);
	bootinfo_reserve(&bi, 0, PAGE);
	assert_int_equal(type_at(0), BOOTMEM_KEEP);
	assert_true(bi.bi_nmem <= BOOTINFO_NMEM);
}
