/*
 * Struct boot_params and UEFI's tables, which a loader of Linux hands over.
 * Nothing beyond the memory of a damaged list is read.
 *
 * Offsets: Linux, Documentation/arch/x86/zero-page.rst, and the UEFI
 * Specification, "EFI System Table".
 */
#include "tests/lib/host/support.h"

#include <stdlib.h>
#include <string.h>

#include "arch/x86/x86.h"
#include "kern/platform/bootinfo.h"

#define PARAMS     0x90000
#define EXTENSION  0x91000
#define CMDLINE    0x92000
#define SYSTAB     0x93000
#define TABLES     0x94000
#define RESERVED   0x95000
#define PAGE       4096
#define E820_RAM   1
#define E820_ACPI  3
#define PARAMS_MAX 3280

/* Memory.  A request beyond a range is refused, as one beyond 4 GiB is. */
static struct range {
	uint64_t pa;
	size_t bytes;
	unsigned char *at;
} ranges[8];
static unsigned nrange;
static struct bootinfo bi;
static unsigned char *params;

static unsigned char *
add_range(uint64_t pa, size_t bytes)
{
	assert_true(nrange < 8);
	ranges[nrange] = (struct range){ pa, bytes, calloc(1, bytes) };
	return ranges[nrange++].at;
}

static const void *
map(uint64_t pa, uint64_t bytes)
{
	for (unsigned i = 0; i < nrange; i++) {
		const struct range *r = &ranges[i];

		if (pa >= r->pa && pa - r->pa < r->bytes &&
		    bytes <= r->bytes - (pa - r->pa))
			return r->at + (pa - r->pa);
	}
	return NULL;
}

static void
put(unsigned char *at, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (unsigned char)(v >> 8 * i);
}

static void
put_e820(unsigned char *at, uint64_t base, uint64_t bytes, unsigned type)
{
	put(at, base, 8);
	put(at + 8, bytes, 8);
	put(at + 16, type, 4);
}

static int
make_params(void **state)
{
	params = add_range(PARAMS, PARAMS_MAX);
	put(params + 0x202, 0x53726448, 4);
	params[0x1e8] = 1;
	put_e820(params + 0x2d0, 0x100000, 0x4000000, E820_RAM);
	put(params + 0x70, 0xe0000, 8);
	memset(&bi, 0, sizeof bi);
	return 0;
}

static int
free_ranges(void **state)
{
	while (nrange > 0)
		free(ranges[--nrange].at);
	return 0;
}

#define PARAMS_TEST(name) TEST_WITH(name, make_params, free_ranges)

static bool
has_memory(uint64_t base, uint64_t bytes, enum bootmem_type type)
{
	for (uint32_t i = 0; i < bi.bi_nmem; i++)
		if (bi.bi_mem[i].bm_base == base &&
		    bi.bi_mem[i].bm_len == bytes &&
		    bi.bi_mem[i].bm_type == type)
			return true;
	return false;
}

PARAMS_TEST(params_become_bootinfo)
{
	unsigned char *more = add_range(EXTENSION, 16 + 20), *text;

	put(params + 0x250, EXTENSION, 8);
	put(more + 8, 1, 4); /* SETUP_E820_EXT */
	put(more + 12, 20, 4);
	put_e820(more + 16, 0x100000000, 0x1000, E820_ACPI);
	text = add_range(CMDLINE, 65536);
	strcpy((char *)text, "timeout=1");
	put(params + 0x228, CMDLINE, 4);
	put(params + 0x218, 0x5000000, 4);
	put(params + 0xc0, 1, 4); /* the upper half of the ramdisk's address */
	put(params + 0x21c, 0x1234, 4);
	assert_true(linux_is_params(PARAMS, map));
	assert_null(linux_bootinfo(&bi, PARAMS, map));
	assert_true(has_memory(0x100000, 0x4000000, BOOTMEM_FREE));
	assert_true(has_memory(0x100000000, 0x1000, BOOTMEM_ACPI));
	assert_int_equal(bi.bi_cmdline, CMDLINE);
	assert_int_equal(bi.bi_cmdline_bytes, 9);
	assert_int_equal(bi.bi_archive, 0x105000000);
	assert_int_equal(bi.bi_archive_bytes, 0x1234);
	assert_int_equal(bi.bi_rsdp, 0xe0000);
	assert_int_equal(bi.bi_fb[0].fb_base, 0);
	assert_false(linux_is_params(0x1000, map));
}

PARAMS_TEST(damaged_setup_data)
{
	unsigned char *more = add_range(EXTENSION, 16 + 20);

	put(params + 0x250, EXTENSION, 8);
	put(more + 8, 1, 4);
	put(more + 12, 40, 4); /* beyond the end of memory */
	assert_string_equal(linux_bootinfo(&bi, PARAMS, map),
	    "the list of setup data is damaged");
	put(more + 12, 20, 4);
	put(more, EXTENSION, 8); /* the list has no end */
	assert_string_equal(linux_bootinfo(&bi, PARAMS, map),
	    "the list of setup data is damaged");
	put(more, EXTENSION + 30, 8);
	assert_string_equal(linux_bootinfo(&bi, PARAMS, map),
	    "the list of setup data is damaged");
}

PARAMS_TEST(cmdline_out_of_reach)
{
	put(params + 0x228, CMDLINE, 4);
	put(params + 0xc8, 1, 4);
	assert_string_equal(linux_bootinfo(&bi, PARAMS, map),
	    "cmd_line_ptr: no memory is at that address");
}

/* The page has 128 ranges.  A count of more is damage. */
PARAMS_TEST(full_memory_map)
{
	unsigned char *more = add_range(EXTENSION, 16 + 100 * 20);

	params[0x1e8] = 255;
	for (unsigned i = 0; i < 228; i++)
		put_e820(i < 128 ? params + 0x2d0 + i * 20
				 : more + 16 + (i - 128) * 20,
		    0x100000 + i * 0x2000, 0x1000, E820_RAM);
	put(params + 0x250, EXTENSION, 8);
	put(more + 8, 1, 4);
	put(more + 12, 100 * 20 + 19, 4); /* no room for the last one */
	assert_string_equal(linux_bootinfo(&bi, PARAMS, map),
	    "the list of setup data is damaged");
	memset(&bi, 0, sizeof bi);
	put(more + 12, 100 * 20, 4);
	assert_null(linux_bootinfo(&bi, PARAMS, map));
	assert_int_equal(bi.bi_nmem, 228);
	assert_true(has_memory(0x100000, 0x1000, BOOTMEM_FREE));
	assert_true(has_memory(0x100000 + 227 * 0x2000, 0x1000, BOOTMEM_FREE));
}

PARAMS_TEST(no_memory_map)
{
	params[0x1e8] = 0;
	assert_string_equal(
	    linux_bootinfo(&bi, PARAMS, map), "boot_params has no memory map");
}

static void
place_initrd(uint64_t pa, uint64_t bytes)
{
	put(params + 0x218, pa, 4);
	put(params + 0xc0, pa >> 32, 4);
	put(params + 0x21c, bytes, 4);
	put(params + 0xc4, bytes >> 32, 4);
}

PARAMS_TEST(misplaced_initrd)
{
	const char *overlaps = "ramdisk_image: the initrd overlaps the kernel";

	bi.bi_kern = 0x400000;
	bi.bi_kern_bytes = 0x200000;
	place_initrd(0x3ff000, 0x1001);
	assert_string_equal(linux_bootinfo(&bi, PARAMS, map), overlaps);
	place_initrd(0x5fffff, 1);
	assert_string_equal(linux_bootinfo(&bi, PARAMS, map), overlaps);
	place_initrd(0x300000, 0x1000000);
	assert_string_equal(linux_bootinfo(&bi, PARAMS, map), overlaps);
	place_initrd(0xffffffff00000000, 0x100000001);
	assert_string_equal(linux_bootinfo(&bi, PARAMS, map),
	    "ramdisk_size: the initrd ends above all memory");
	assert_int_equal(bi.bi_archive, 0);
	place_initrd(0x3ff000, 0x1000);
	assert_null(linux_bootinfo(&bi, PARAMS, map));
	place_initrd(0x600000, 0x1000);
	assert_null(linux_bootinfo(&bi, PARAMS, map));
	assert_int_equal(bi.bi_archive, 0x600000);
}

/* A BIOS has the RSDP in its memory.  A machine without ACPI has none. */
PARAMS_TEST(rsdp_of_bios)
{
	unsigned char *bios = add_range(0xe0000, 0x20000);

	put(params + 0x70, 0, 8);
	assert_null(linux_bootinfo(&bi, PARAMS, map));
	assert_int_equal(bi.bi_rsdp, 0);
	memcpy(bios + 0x1230, "RSD PTR ", 8); /* the sum is wrong */
	bios[0x1230 + 8] = 1;
	memcpy(bios + 0x1ffe0, "RSD PTR ", 8);
	for (unsigned i = 0; i < 8; i++)
		bios[0x1ffe8] -= (unsigned char)"RSD PTR "[i];
	assert_null(linux_bootinfo(&bi, PARAMS, map));
	assert_int_equal(bi.bi_rsdp, 0xfffe0);
}

/* UEFI's tables, of which one is Linux's list of reserved memory. */
static unsigned char *
make_systab(void)
{
	static const unsigned char acpi_20[16] = { 0x71, 0xe8, 0x68, 0x88, 0xf1,
		0xe4, 0xd3, 0x11, 0xbc, 0x22, 0x00, 0x80, 0xc7, 0x3c, 0x88,
		0x81 };
	static const unsigned char memreserve[16] = { 0xc6, 0xb0, 0x8e, 0x88,
		0xde, 0x8e, 0xf5, 0x4f, 0xa8, 0xf0, 0x9a, 0xee, 0x5c, 0xb9,
		0x77, 0xc2 };
	unsigned char *st = add_range(SYSTAB, 120);
	unsigned char *tables = add_range(TABLES, 2 * 24);

	memcpy(params + 0x1c0, "EL64", 4);
	put(params + 0x1c4, SYSTAB, 4);
	put(params + 0x1c8, 48, 4);
	put(params + 0x70, 0, 8);
	memcpy(st, "IBI SYST", 8);
	put(st + 104, 2, 8);
	put(st + 112, TABLES, 8);
	memcpy(tables, acpi_20, 16);
	put(tables + 16, 0x7fe0014, 8);
	memcpy(tables + 24, memreserve, 16);
	put(tables + 40, RESERVED, 8);
	return add_range(RESERVED, PAGE);
}

PARAMS_TEST(reserved_memory_is_kept)
{
	unsigned char *list = make_systab();

	put(list, 255, 4); /* room */
	put(list + 4, 2, 4);
	put(list + 16, 0x200000, 8);
	put(list + 24, 0x10000, 8);
	put(list + 32, 0x300000, 8);
	put(list + 40, 0x1000, 8);
	assert_null(linux_bootinfo(&bi, PARAMS, map));
	assert_int_equal(bi.bi_rsdp, 0x7fe0014);
	assert_true(has_memory(RESERVED, PAGE, BOOTMEM_KEEP));
	assert_true(has_memory(0x200000, 0x10000, BOOTMEM_KEEP));
	assert_true(has_memory(0x300000, 0x1000, BOOTMEM_KEEP));
}

/* Linux moved the tables' pointer, too.  Descriptors are longer than ours. */
PARAMS_TEST(tables_after_linux_moved_them)
{
	put(make_systab() + 4, 0, 4);
	unsigned char *memory_map = add_range(EXTENSION, 2 * 48);
	put(params + 0x1d0, EXTENSION, 4);
	put(params + 0x1d4, 2 * 48, 4);
	put(memory_map + 48, 6, 4); /* EfiRuntimeServicesData */
	put(memory_map + 48 + 8, TABLES & -0x4000, 8);
	put(memory_map + 48 + 16, 0xffffffef00000000, 8);
	put(memory_map + 48 + 24, 4, 8);
	put(ranges[1].at + 112, 0xffffffef00000000 + TABLES % 0x4000, 8);
	assert_null(linux_bootinfo(&bi, PARAMS, map));
	assert_int_equal(bi.bi_rsdp, 0x7fe0014);
	bi.bi_rsdp = 0;
	put(params + 0x1c8, 39, 4); /* shorter than a descriptor */
	assert_null(linux_bootinfo(&bi, PARAMS, map));
	assert_int_equal(bi.bi_rsdp, 0);
	put(params + 0x1c8, 48, 4);
	put(params + 0x1d4, 48, 4); /* without the second descriptor */
	assert_null(linux_bootinfo(&bi, PARAMS, map));
	assert_int_equal(bi.bi_rsdp, 0);
}

/* A page has 255 ranges, whatever its head says. */
PARAMS_TEST(damaged_list_of_reserved_memory)
{
	unsigned char *list = make_systab();

	put(list, 0x7fffffff, 4);
	put(list + 4, 0x7fffffff, 4);
	put(list + 8, RESERVED, 8); /* the list has no end */
	put(list + PAGE - 16, 0x200000, 8);
	put(list + PAGE - 8, 0x1000, 8);
	assert_null(linux_bootinfo(&bi, PARAMS, map));
	assert_true(has_memory(0x200000, 0x1000, BOOTMEM_KEEP));
}
