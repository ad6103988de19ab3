/*
 * The UEFI application learns from firmware.  The memory map is the one with
 * which ExitBootServices succeeds, after any number of refusals.  Each type of
 * memory becomes what it is after the exit.  Only usable tables and
 * framebuffers are found.
 */
#include "tests/lib/host/support.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "boot/efi/efi.h"
#include "tests/lib/host/fake_efi.h"

#define PAGES 16

static EFI_SYSTEM_TABLE table;
EFI_SYSTEM_TABLE *efi_st = &table;

static jmp_buf failed;

void
efi_fail(const char *fmt, ...)
{
	longjmp(failed, 1);
}

static unsigned refusals; /* of ExitBootServices() */

static EFI_STATUS EFIAPI
exit_boot_services(EFI_HANDLE image, UINTN key)
{
	assert_ptr_equal(image, &table);
	assert_int_equal(key, fake_efi_key());
	if (refusals > 0) {
		refusals--;
		return EFI_INVALID_PARAMETER;
	}
	return EFI_SUCCESS;
}

static bool
exit_firmware(const EFI_MEMORY_DESCRIPTOR *m, unsigned n, struct bootinfo *bi)
{
	volatile bool left = true; /* also after longjmp() */

	fake_efi_map(m, n);
	fake_services.ExitBootServices = exit_boot_services;
	memset(bi, 0, sizeof *bi);
	if (setjmp(failed) == 0)
		efi_exit(&table, bi);
	else
		left = false;
	fake_efi_free();
	return left;
}

TEST(memory_types)
{
	static const struct {
		UINT32 type;
		UINT64 attribute;
		enum bootmem_type want;
	} t[] = {
		{ EfiReservedMemoryType, 0, BOOTMEM_DEVICE },
		{ EfiLoaderCode, 0, BOOTMEM_FREE },
		{ EfiRuntimeServicesCode, EFI_MEMORY_RUNTIME, BOOTMEM_RUNTIME },
		{ EfiBootServicesData, 0, BOOTMEM_FREE },
		{ EfiACPIReclaimMemory, 0, BOOTMEM_ACPI },
		{ EfiConventionalMemory, 0, BOOTMEM_FREE },
		{ EfiUnusableMemory, 0, BOOTMEM_DEVICE },
		{ EfiRuntimeServicesData, EFI_MEMORY_RUNTIME, BOOTMEM_RUNTIME },
		{ EfiMemoryMappedIO, EFI_MEMORY_RUNTIME,
		    BOOTMEM_RUNTIME_DEVICE },
		{ EfiACPIMemoryNVS, 0, BOOTMEM_ACPI },
		{ EfiMemoryMappedIO, 0, BOOTMEM_DEVICE },
		{ 0x80000001, 0, BOOTMEM_DEVICE }, /* a vendor's own type */
	};
	enum { N = sizeof t / sizeof *t };
	EFI_MEMORY_DESCRIPTOR m[N] = { 0 };
	static struct bootinfo bi;

	for (unsigned i = 0; i < N; i++) {
		m[i].Type = t[i].type;
		m[i].Attribute = t[i].attribute;
		m[i].PhysicalStart = i * 0x100000;
		m[i].NumberOfPages = PAGES;
	}
	assert_true(exit_firmware(m, N, &bi));
	assert_int_equal(bi.bi_nmem, N);
	for (unsigned i = 0; i < N; i++) {
		assert_int_equal(bi.bi_mem[i].bm_type, t[i].want);
		assert_int_equal(bi.bi_mem[i].bm_base, i * 0x100000);
		assert_int_equal(bi.bi_mem[i].bm_len, PAGES * EFI_PAGE);
	}
}

/* More ranges than a bootinfo holds; all but one are adjacent. */
TEST(neighbours)
{
	enum { N = 3 * BOOTINFO_NMEM };
	EFI_MEMORY_DESCRIPTOR *m = calloc(N, sizeof *m);
	static struct bootinfo bi;

	for (unsigned i = 0; i < N; i++) {
		m[i].Type = i % 2 ? EfiConventionalMemory : EfiBootServicesCode;
		m[i].PhysicalStart = i * EFI_PAGE;
		m[i].NumberOfPages = 1;
	}
	m[N - 1].PhysicalStart += EFI_PAGE;
	assert_true(exit_firmware(m, N, &bi));
	assert_int_equal(bi.bi_nmem, 2);
	assert_int_equal(bi.bi_mem[0].bm_len, (N - 1) * EFI_PAGE);
	free(m);
}

TEST(exit_is_refused)
{
	static const EFI_MEMORY_DESCRIPTOR m = { .Type = EfiLoaderData,
		.NumberOfPages = 1 };
	static struct bootinfo bi;

	refusals = 3;
	assert_true(exit_firmware(&m, 1, &bi));
	assert_int_equal(refusals, 0);
	refusals = 1000;
	assert_false(exit_firmware(&m, 1, &bi));
	refusals = 0;
}

TEST(find_tables)
{
	static EFI_CONFIGURATION_TABLE t[] = {
		{ ACPI_TABLE_GUID, (void *)0x1000 },
		{ ACPI_20_TABLE_GUID, (void *)0x2000 },
		{ SMBIOS_TABLE_GUID, (void *)0x3000 },
		{ EFI_DTB_TABLE_GUID, NULL },
	};
	static unsigned char tree[] = { 0xd0, 0x0d, 0xfe, 0xed, 0, 0, 0, 12, 1,
		2, 3, 4 };
	struct bootinfo bi = { 0 };

	t[3].VendorTable = tree;
	table.ConfigurationTable = t;
	table.NumberOfTableEntries = 4;
	efi_find_tables(&bi);
	assert_int_equal(bi.bi_rsdp, 0x2000);
	assert_int_equal(bi.bi_smbios, 0x3000);
	assert_memory_equal((void *)bi.bi_fdt, tree, sizeof tree);
	assert_ptr_not_equal((void *)bi.bi_fdt, tree);
	assert_int_equal(bi.bi_nmem, 1);
	assert_int_equal(bi.bi_mem[0].bm_type, BOOTMEM_KEEP);
	fake_efi_free();

	tree[0] = 0;
	table.NumberOfTableEntries = 1;
	bi = (struct bootinfo){ 0 };
	efi_find_tables(&bi);
	assert_int_equal(bi.bi_rsdp, 0x1000);
	assert_int_equal(bi.bi_smbios, 0);
	assert_int_equal(bi.bi_fdt, 0);
	t[0] = t[3];
	efi_find_tables(&bi);
	assert_int_equal(bi.bi_fdt, 0);
}

/* Screens */
static EFI_GRAPHICS_OUTPUT_MODE_INFORMATION info[2];
static EFI_GRAPHICS_OUTPUT_PROTOCOL_MODE mode[2] = { { .Info = &info[0] },
	{ .Info = &info[1] } };
static EFI_GRAPHICS_OUTPUT_PROTOCOL gop[2] = { { .Mode = &mode[0] },
	{ .Mode = &mode[1] } };

static EFI_STATUS EFIAPI
locate_handle_buffer(EFI_LOCATE_SEARCH_TYPE type, EFI_GUID *guid, void *key,
    UINTN *n, EFI_HANDLE **handles)
{
	assert_int_equal(type, ByProtocol);
	*n = 2;
	*handles = malloc(2 * sizeof **handles);
	(*handles)[0] = &gop[0];
	(*handles)[1] = &gop[1];
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
handle_protocol(EFI_HANDLE handle, EFI_GUID *guid, void **protocol)
{
	*protocol = handle;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
free_pool(void *p)
{
	free(p);
	return EFI_SUCCESS;
}

TEST(find_framebuffer)
{
	struct bootinfo bi = { 0 };

	fake_services.LocateHandleBuffer = locate_handle_buffer;
	fake_services.HandleProtocol = handle_protocol;
	fake_services.FreePool = free_pool;
	info[0].PixelFormat = PixelBltOnly;
	mode[0].FrameBufferBase = 0x1000;
	info[1].PixelFormat = PixelBitMask;
	mode[1].FrameBufferBase = 0x2000;
	efi_find_framebuffers(&bi);
	assert_int_equal(bi.bi_fb[0].fb_base, 0);
	assert_int_equal(bi.bi_nmem, 0);

	info[1] =
	    (EFI_GRAPHICS_OUTPUT_MODE_INFORMATION){ .HorizontalResolution =
							1366,
		    .VerticalResolution = 768,
		    .PixelFormat = PixelBlueGreenRedReserved8BitPerColor,
		    .PixelsPerScanLine = 1376 };
	efi_find_framebuffers(&bi);
	assert_int_equal(bi.bi_fb[0].fb_base, 0x2000);
	assert_int_equal(bi.bi_fb[0].fb_width, 1366);
	assert_int_equal(bi.bi_fb[0].fb_height, 768);
	assert_int_equal(bi.bi_fb[0].fb_stride_bytes, 1376 * 4);
	assert_int_equal(bi.bi_fb[0].fb_ink, 0xc0c0c0);
	assert_int_equal(bi.bi_nmem, 1);
	assert_int_equal(bi.bi_mem[0].bm_type, BOOTMEM_DEVICE);

	/* The first screen gets ten bits of each colour. */
	info[0] = info[1];
	info[0].PixelFormat = PixelBitMask;
	info[0].PixelInformation =
	    (EFI_PIXEL_BITMASK){ 0x3ff00000, 0xffc00, 0x3ff, 0 };
	bi = (struct bootinfo){ 0 };
	efi_find_framebuffers(&bi);
	assert_int_equal(bi.bi_fb[0].fb_base, 0x1000);
	assert_int_equal(bi.bi_fb[0].fb_ink, 0x3fffffff);
	assert_int_equal(bi.bi_fb[0].fb_pixel_bytes, 4);
	assert_int_equal(bi.bi_fb[1].fb_base, 0x2000);
	assert_int_equal(bi.bi_fb[2].fb_base, 0);
	assert_int_equal(bi.bi_nmem, 2);

	/* The highest bit of the masks tells the size of a pixel. */
	for (unsigned i = 0; i < 3; i++) {
		info[0].PixelInformation = (EFI_PIXEL_BITMASK[]){
			{ 0xf800, 0x7e0, 0x1f, 0 },
			{ 0xff0000, 0xff00, 0xff, 0 },
			{ 0xff0000, 0xff00, 0xff, 0xff000000 },
		}[i];
		bi = (struct bootinfo){ 0 };
		efi_find_framebuffers(&bi);
		assert_int_equal(bi.bi_fb[0].fb_pixel_bytes, 2 + i);
		assert_int_equal(bi.bi_fb[0].fb_stride_bytes, 1376 * (2 + i));
		assert_int_equal(
		    bi.bi_fb[0].fb_ink, i == 0 ? 0xffff : 0xffffff);
	}

	/* Two handles of one framebuffer are one screen. */
	mode[1].FrameBufferBase = 0x1000;
	bi = (struct bootinfo){ 0 };
	efi_find_framebuffers(&bi);
	assert_int_equal(bi.bi_fb[0].fb_base, 0x1000);
	assert_int_equal(bi.bi_fb[1].fb_base, 0);
	assert_int_equal(bi.bi_nmem, 1);
}
