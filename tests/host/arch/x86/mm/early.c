/* Each GiB of a loader's data above 4 GiB is mapped, and nothing else. */
#include "tests/lib/host/support.h"

#include "arch/x86/asm.h"
#include "arch/x86/mm/pt.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/platform/bootinfo.h"

#define GIB      (1ULL << 30)
#define IMAGE_PA 0x4200000

uint64_t x86_early_pdpt[PT_ENTRIES], x86_image_pa = IMAGE_PA;

static void
expect_at(uint64_t pa, uint64_t bytes)
{
	assert_int_equal((uintptr_t)x86_early_ptr(pa, bytes), DIRECT_BASE + pa);
}

/* The table of this GiB maps all of it, in pages of 2 MiB. */
static void
expect_mapped(uint64_t gib)
{
	uint64_t entry = x86_early_pdpt[gib];
	const uint64_t *pd =
	    (const uint64_t *)(entry - PT_P - IMAGE_PA + IMAGE_BASE);

	assert_int_equal(entry & PT_P, PT_P);
	for (uint64_t i = 0; i < PT_ENTRIES; i++)
		assert_int_equal(
		    pd[i], (gib * GIB + i * LARGE_SIZE) | PT_P | PT_PS);
}

static unsigned
entries_used(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < PT_ENTRIES; i++)
		n += x86_early_pdpt[i] != 0;
	return n;
}

/* One test: a mapping stays, and there is room for four. */
TEST(each_gib_is_mapped_once)
{
	const struct bootinfo *bi;

	for (unsigned i = 0; i < 4; i++)
		x86_early_pdpt[i] = PT_P; /* by start.S */
	expect_at(0x1000, 1);
	expect_at(4 * GIB - sizeof *bi, sizeof *bi);
	assert_int_equal(entries_used(), 4);
	/* A struct bootinfo is longer than a page, and may cross a GiB. */
	expect_at(6 * GIB - 4096, sizeof *bi);
	assert_int_equal(entries_used(), 6);
	expect_mapped(5);
	expect_mapped(6);
	expect_at(5 * GIB, GIB);
	assert_int_equal(entries_used(), 6);
	expect_at(511 * GIB, GIB);
	expect_mapped(511);
	expect_at(9 * GIB, 1);
	assert_null(x86_early_ptr(10 * GIB, 1));
	expect_mapped(9);
}

TEST(other_addresses_are_refused)
{
	assert_null(x86_early_ptr(0, 1));
	assert_null(x86_early_ptr(0x1000, 0));
	assert_null(x86_early_ptr(512 * GIB, 1));
	assert_null(x86_early_ptr(512 * GIB - 1, 2));
	assert_null(x86_early_ptr(~0ULL, 2));
}
