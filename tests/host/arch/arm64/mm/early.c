/*
 * The first page tables map each part of the image with its rights, and the
 * boot CPU's stacks above their guards.  They map the code that turns the MMU
 * on, the loader's data, and nothing else.  More data of a loader is mapped
 * once.
 */
#include "tests/lib/host/support.h"

#include "arch/arm64/arm64.h"
#include "arch/arm64/asm.h"
#include "arch/arm64/mm/pt.h"
#include "kern/arch.h"
#include "kern/mm/page.h"

#define MIB      (1UL << 20)
#define GIB      (1UL << 30)
#define IMAGE_PA ((uint64_t)image_start)
#define FDT_PA   (0x4a345000UL) /* crosses no 2 MiB if 4 MiB are mapped */

/*
 * Rights of a leaf.  Arm ARM (DDI 0487), "VMSAv8-64 translation table format
 * descriptors": AP[2] is bit 7, PXN bit 53, UXN bit 54.
 */
#define READ_ONLY (1ULL << 7)
#define PXN       (1ULL << 53)
#define UXN       (1ULL << 54)
#define RIGHTS    (READ_ONLY | PXN | UXN)

/*
 * The image.  Its parts take no memory, because nothing reads them.  The
 * kernel's objects have other names for _start and __data_start here, which are
 * the host's as well.
 */
__asm__(".pushsection .bss\n"
	".balign 0x200000\n"
	".globl image_start, __rodata_start, image_data, __kern_end\n"
	"image_start: .skip 0x201000\n"
	"__rodata_start: .skip 0x3000\n"
	"image_data: .skip 0x401000\n"
	"__kern_end:\n"
	".popsection");
extern char image_start[], __rodata_start[], image_data[];
extern char arm64_boot_stack[], arm64_boot_emergency[];

/* Physical memory is the host's memory. */
char *const arch_direct = NULL;
size_t page_ntables;

void
fake_isb(void)
{
}

void *
page_zalloc(unsigned order)
{
	return NULL;
}

/* Only user addresses have tables that are freed. */

void
page_free(void *va, unsigned order)
{
	assert_null(va);
}

void
arm64_flush_table(uintptr_t va)
{
	assert_int_equal(va, 0);
}

/* The leaf that the MMU finds for va, or 0.  *bytes: what it covers. */
static uint64_t
leaf_of(uint64_t root, uintptr_t va, size_t *bytes)
{
	uint64_t table = root;

	for (unsigned shift = 39;; shift -= 9) {
		uint64_t e = ((uint64_t *)table)[va >> shift & 0x1ff];

		*bytes = 1UL << shift;
		if ((e & 3) == 0 || shift == 12 || (e & 2) == 0)
			return (e & 1) != 0 ? e : 0;
		table = e & 0xfffffffff000;
	}
}

/* All bytes that the tables map. */
static uint64_t
mapped_by(uint64_t table, unsigned shift)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < 512; i++) {
		uint64_t e = ((uint64_t *)table)[i];

		if ((e & 1) != 0)
			sum += shift > 12 && (e & 2) != 0
			           ? mapped_by(e & 0xfffffffff000, shift - 9)
			           : 1UL << shift;
	}
	return sum;
}

static uint64_t
mapped(uint64_t root)
{
	return mapped_by(root, 39);
}

static void
expect_range(
    uint64_t root, uintptr_t va, uint64_t pa, size_t len, uint64_t rights)
{
	for (size_t at = 0, bytes; at < len; at += PAGE_SIZE) {
		uint64_t e = leaf_of(root, va + at, &bytes);

		assert_int_equal(
		    e & 0xfffffffff000 & -bytes, (pa + at) & -bytes);
		assert_int_equal(e & RIGHTS, rights);
		assert_int_not_equal(e & 1 << 10, 0); /* AF */
	}
}

static void
expect_nothing(uint64_t root, uintptr_t va)
{
	size_t bytes;

	assert_int_equal(leaf_of(root, va, &bytes), 0);
}

/* One test: the tables stay. */
TEST(each_part_is_mapped_with_its_rights)
{
	size_t bytes;

	arm64_early_map(FDT_PA);
	uint64_t kernel = arm64_roots.r_kernel;
	uint64_t identity = arm64_roots.r_identity;
	assert_int_equal(mapped(arm64_roots.r_empty), 0);

	expect_range(kernel, KERN_LINK, IMAGE_PA, 0x201000, READ_ONLY | UXN);
	expect_range(kernel, KERN_LINK + 0x201000, (uint64_t)__rodata_start,
	    0x3000, READ_ONLY | PXN | UXN);
	expect_range(kernel, KERN_LINK + 0x204000, (uint64_t)image_data,
	    0x401000, PXN | UXN);
	/* Code and data have one large leaf each. */
	leaf_of(kernel, KERN_LINK, &bytes);
	assert_int_equal(bytes, 2 * MIB);
	leaf_of(kernel, KERN_LINK + 4 * MIB, &bytes);
	assert_int_equal(bytes, 2 * MIB);
	expect_range(kernel, BOOT_STACK, (uint64_t)arm64_boot_stack,
	    KSTACK_BYTES, PXN | UXN);
	expect_range(kernel, BOOT_EMERGENCY, (uint64_t)arm64_boot_emergency,
	    KSTACK_BYTES, PXN | UXN);
	expect_nothing(kernel, BOOT_STACK - PAGE_SIZE);
	expect_nothing(kernel, BOOT_EMERGENCY - PAGE_SIZE);
	assert_int_equal(mapped(kernel), 0x605000 + 2 * KSTACK_BYTES);

	expect_range(identity, IMAGE_PA, IMAGE_PA, 2 * MIB, READ_ONLY | UXN);
	expect_range(identity, FDT_PA, FDT_PA, ARM64_HANDED_MAX, RIGHTS);
	assert_int_equal(mapped(identity), (2 + 4) * MIB);
}

static void
expect_at(uint64_t pa, uint64_t bytes)
{
	assert_int_equal((uintptr_t)arm64_early_ptr(pa, bytes), pa);
	expect_range(arm64_roots.r_identity, pa & -PAGE_SIZE, pa & -PAGE_SIZE,
	    bytes, RIGHTS);
}

TEST(loaders_data_is_mapped_once)
{
	uint64_t identity = arm64_roots.r_identity, before = mapped(identity);
	unsigned left;

	expect_at(FDT_PA, ARM64_HANDED_MAX);
	assert_int_equal(mapped(identity), before);
	/* It crosses a GiB, so it takes two tables, and no more later. */
	left = arm64_pt_left();
	expect_at(300 * GIB - 4096, 3 * MIB);
	assert_int_equal(mapped(identity), before + 6 * MIB);
	assert_int_equal(arm64_pt_left(), left - 2);
	expect_at(300 * GIB - 1, 2);
	expect_at(299 * GIB + 4 * MIB, 2 * MIB);
	assert_int_equal(mapped(identity), before + 8 * MIB);
	assert_int_equal(arm64_pt_left(), left - 2);
	/* The last address that tables of four levels have. */
	expect_at((1UL << 48) - 4096, 4096);
}

/* Addresses of 49 bits would take the place of others. */
TEST(other_addresses_are_refused)
{
	uint64_t before = mapped(arm64_roots.r_identity);

	assert_null(arm64_early_ptr(0, 1));
	assert_null(arm64_early_ptr(1UL << 48, 1));
	assert_null(arm64_early_ptr((1UL << 48) - 4096, 4097));
	assert_null(arm64_early_ptr(~0UL, 2));
	assert_null(arm64_early_ptr(~0UL - 4 * MIB, 1));
	assert_int_equal(mapped(arm64_roots.r_identity), before);
}

/* The last test: it takes all tables. */
TEST(no_table_is_left)
{
	uint64_t pa = 1UL << 40;

	while (arm64_pt_left() > 0) {
		expect_at(pa, 1);
		pa += GIB;
	}
	assert_null(arm64_early_ptr(pa, 1));
	expect_at(FDT_PA, 1);
}
