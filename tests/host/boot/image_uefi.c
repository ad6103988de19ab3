/*
 * The device tree that a Linux started by UEFI passes to the kernel that it
 * starts: /chosen names UEFI's tables and memory map.  A wrong value is refused
 * with a line.
 *
 * Linux, Documentation/arch/arm/uefi.rst, "UEFI kernel support on ARM".
 */
#include "tests/lib/host/support.h"

#include <libfdt.h>
#include <string.h>

#include "arch/arm64/arm64.h"
#include "boot/efi/efi_memmap.h"
#include "boot/image.h"
#include "kern/platform/bootinfo.h"

#define STEP                  48
#define MAP                   0x7d000000
#define SYSTAB                0x7f000000
#define LOADER_DATA           2
#define RUNTIME_SERVICES_DATA 6

static char tree[4096];
static int chosen;
static struct bootinfo bi;
static _Alignas(8) unsigned char map[2 * STEP], systab[120];

/* Memory is the map and the system table. */
const void *
arm64_early_ptr(uint64_t pa, uint64_t bytes)
{
	if (pa >= MAP && bytes <= sizeof map && pa - MAP <= sizeof map - bytes)
		return map + (pa - MAP);
	if (pa == SYSTAB && bytes <= sizeof systab)
		return systab;
	return NULL;
}

static void
put_chosen(const char *name, uint64_t v)
{
	assert_int_equal(fdt_setprop_u64(tree, chosen, name, v), 0);
}

static void
put_size(const char *name, uint32_t v)
{
	assert_int_equal(fdt_setprop_u32(tree, chosen, name, v), 0);
}

static int
make_tree(void **state)
{
	struct efi_descriptor d = { .emd_type = LOADER_DATA,
		.emd_pa = 0x40000000,
		.emd_pages = 0x100 };

	memset(&bi, 0, sizeof bi);
	memset(systab, 0, sizeof systab);
	memcpy(systab, "IBI SYST", 8);
	memcpy(map, &d, sizeof d);
	d.emd_type = RUNTIME_SERVICES_DATA;
	d.emd_pa = 0x50000000;
	memcpy(map + STEP, &d, sizeof d);
	assert_int_equal(fdt_create_empty_tree(tree, sizeof tree), 0);
	chosen = fdt_add_subnode(tree, 0, "chosen");
	put_chosen("linux,uefi-system-table", SYSTAB);
	put_chosen("linux,uefi-mmap-start", MAP);
	put_size("linux,uefi-mmap-size", sizeof map);
	put_size("linux,uefi-mmap-desc-size", STEP);
	return 0;
}

#define TREE_TEST(name) TEST_WITH(name, make_tree, NULL)

TREE_TEST(memory_is_that_of_the_map)
{
	assert_null(image_from_uefi(&bi, tree));
	assert_int_equal(bi.bi_nmem, 2);
	assert_int_equal(bi.bi_mem[0].bm_base, 0x40000000);
	assert_int_equal(bi.bi_mem[0].bm_len, 0x100000);
	assert_int_equal(bi.bi_mem[0].bm_type, BOOTMEM_FREE);
	assert_int_equal(bi.bi_mem[1].bm_type, BOOTMEM_RUNTIME);
}

TREE_TEST(tree_without_uefi)
{
	fdt_delprop(tree, chosen, "linux,uefi-system-table");
	put_size("linux,uefi-mmap-desc-size", 1);
	assert_null(image_from_uefi(&bi, tree));
	fdt_del_node(tree, chosen);
	assert_null(image_from_uefi(&bi, tree));
	assert_int_equal(bi.bi_nmem, 0);
}

TREE_TEST(wrong_size_of_descriptors)
{
	static const uint32_t sizes[] = { 0, 1, 39, 41, 47, 0xffffffff };

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		put_size("linux,uefi-mmap-desc-size", sizes[i]);
		assert_string_equal(image_from_uefi(&bi, tree),
		    "linux,uefi-mmap-desc-size is not that of a descriptor");
	}
	put_size("linux,uefi-mmap-desc-size", sizeof map + 8);
	assert_string_equal(image_from_uefi(&bi, tree),
	    "linux,uefi-mmap-size: the memory map is empty");
	assert_int_equal(bi.bi_nmem, 0);
}

TREE_TEST(map_out_of_reach)
{
	const char *unread =
	    "linux,uefi-mmap-start: the memory map cannot be read";

	put_chosen("linux,uefi-mmap-start", MAP + 8);
	assert_string_equal(image_from_uefi(&bi, tree), unread);
	put_chosen("linux,uefi-mmap-start", MAP + 1);
	assert_string_equal(image_from_uefi(&bi, tree), unread);
	fdt_delprop(tree, chosen, "linux,uefi-mmap-start");
	assert_string_equal(image_from_uefi(&bi, tree), unread);
	put_chosen("linux,uefi-mmap-start", MAP);
	put_size("linux,uefi-mmap-size", 0xfffffff0);
	assert_string_equal(image_from_uefi(&bi, tree), unread);
	assert_int_equal(bi.bi_nmem, 0);
}
