/* Collects tables, framebuffers and memory map; exits boot services. */
#include "boot/efi/efi.h"
#include "boot/efi/efi_memmap.h"

#include "lib/string.h"

/* UEFI, "EFI Configuration Table & Properties Table". */
static const EFI_GUID acpi_20 = { 0x8868e871, 0xe4f1, 0x11d3,
	{ 0xbc, 0x22, 0x00, 0x80, 0xc7, 0x3c, 0x88, 0x81 } };
static const EFI_GUID acpi_10 = { 0xeb9d2d30, 0x2d88, 0x11d3,
	{ 0x9a, 0x16, 0x00, 0x90, 0x27, 0x3f, 0xc1, 0x4d } };
static const EFI_GUID smbios_3 = { 0xf2fd1544, 0x9794, 0x4a2c,
	{ 0x99, 0x2e, 0xe5, 0xbb, 0xcf, 0x20, 0xe3, 0x94 } };
static const EFI_GUID smbios_2 = { 0xeb9d2d31, 0x2d88, 0x11d3,
	{ 0x9a, 0x16, 0x00, 0x90, 0x27, 0x3f, 0xc1, 0x4d } };
static const EFI_GUID device_tree = { 0xb1b621d5, 0xf19c, 0x41a5,
	{ 0x83, 0x0b, 0xd9, 0x15, 0x2c, 0x69, 0xaa, 0xe0 } };

static void *
find_table(const EFI_GUID *guid)
{
	for (UINTN i = 0; i < efi_st->NumberOfTableEntries; i++) {
		EFI_CONFIGURATION_TABLE *t = &efi_st->ConfigurationTable[i];

		if (memcmp(&t->VendorGuid, guid, sizeof *guid) == 0)
			return t->VendorTable;
	}
	return NULL;
}

static void *
find_either(const EFI_GUID *first, const EFI_GUID *second)
{
	void *t = find_table(first);

	return t != NULL ? t : find_table(second);
}

/*
 * Copy the device tree: firmware may leave it in memory that counts as free
 * later.  Devicetree Specification, "Flattened Devicetree (DTB) Format": the
 * header is big-endian, magic 0xd00dfeed, then the total size.
 */
static uint64_t
copy_fdt(struct bootinfo *bi, const void *fdt)
{
	uint32_t head[2];

	if (fdt == NULL)
		return 0;
	memcpy(head, fdt, sizeof head);
	if (__builtin_bswap32(head[0]) != 0xd00dfeed)
		return 0;
	size_t n = __builtin_bswap32(head[1]);
	void *copy = efi_alloc(EfiLoaderData, n, EFI_PAGE, "the device tree");
	memcpy(copy, fdt, n);
	bootinfo_add(bi, (uintptr_t)copy, n, BOOTMEM_KEEP);
	return (uintptr_t)copy;
}

void
efi_find_tables(struct bootinfo *bi)
{
	bi->bi_rsdp = (uintptr_t)find_either(&acpi_20, &acpi_10);
	bi->bi_smbios = (uintptr_t)find_either(&smbios_3, &smbios_2);
	bi->bi_fdt = copy_fdt(bi, find_table(&device_tree));
}

/*
 * A pixel of text, and its size in bytes.  0: no pixels in memory.
 * - Without masks it is grey, which has the same bytes in RGB and BGR order.
 * - With a mask for each colour it is white.  The highest bit of all masks
 *   gives the size.
 *
 * UEFI, "EFI_GRAPHICS_OUTPUT_PROTOCOL", EFI_PIXEL_BITMASK; EDK II,
 * FrameBufferBltLib (the size).
 */
static uint32_t
ink_of(const EFI_GRAPHICS_OUTPUT_MODE_INFORMATION *info, uint32_t *bytes)
{
	const EFI_PIXEL_BITMASK *mask = &info->PixelInformation;
	uint32_t ink, all;

	*bytes = 4;
	switch (info->PixelFormat) {
	case PixelRedGreenBlueReserved8BitPerColor:
	case PixelBlueGreenRedReserved8BitPerColor:
		return 0xc0c0c0;
	case PixelBitMask:
		ink = mask->RedMask | mask->GreenMask | mask->BlueMask;
		all = ink | mask->ReservedMask;
		while (*bytes > 1 && all >> 8 * (*bytes - 1) == 0)
			--*bytes;
		return ink;
	default:
		return 0;
	}
}

/* Add a screen that fb_console.c can draw on.  Handles may share one. */
static void
add_framebuffer(struct bootinfo *bi, const EFI_GRAPHICS_OUTPUT_PROTOCOL_MODE *m)
{
	const EFI_GRAPHICS_OUTPUT_MODE_INFORMATION *info = m->Info;
	uint32_t bytes, ink = ink_of(info, &bytes);
	unsigned i;

	if (ink == 0 || m->FrameBufferBase == 0)
		return;
	for (i = 0; i < BOOTINFO_NFB && bi->bi_fb[i].fb_base != 0; i++) {
		if (bi->bi_fb[i].fb_base == m->FrameBufferBase)
			return;
	}
	if (i == BOOTINFO_NFB)
		return;
	bi->bi_fb[i] = (struct bootfb){ .fb_base = m->FrameBufferBase,
		.fb_width = info->HorizontalResolution,
		.fb_height = info->VerticalResolution,
		.fb_stride_bytes = info->PixelsPerScanLine * bytes,
		.fb_ink = ink,
		.fb_pixel_bytes = bytes };
	/* The map may call it free RAM, or not contain it. */
	bootinfo_add(bi, bi->bi_fb[i].fb_base,
	    (uint64_t)bi->bi_fb[i].fb_stride_bytes * bi->bi_fb[i].fb_height,
	    BOOTMEM_DEVICE);
}

/*
 * Find the screens with a framebuffer.  Their modes stay as the firmware set
 * them, because a change may fail.  UEFI, "Graphics Output Protocol".
 */
void
efi_find_framebuffers(struct bootinfo *bi)
{
	static EFI_GUID guid = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;
	EFI_GRAPHICS_OUTPUT_PROTOCOL *gop;
	EFI_HANDLE *handles;
	UINTN n;

	if (EFI_ERROR(efi_bs->LocateHandleBuffer(
		ByProtocol, &guid, NULL, &n, &handles)))
		return;
	for (UINTN i = 0; i < n; i++) {
		if (!EFI_ERROR(efi_bs->HandleProtocol(
			handles[i], &guid, (void **)&gop)) &&
		    gop->Mode != NULL)
			add_framebuffer(bi, gop->Mode);
	}
	efi_bs->FreePool(handles);
}

/*
 * UEFI, "EFI_BOOT_SERVICES.ExitBootServices()": the key must match the current
 * map, and an event may change the map after it was read.  So get the map again
 * after each refusal.  After the first refusal only memory services may be
 * called.
 */
void
efi_exit(EFI_HANDLE image, struct bootinfo *bi)
{
	UINTN bytes = 0, room, key, step = 0;
	UINT32 version;

	efi_bs->GetMemoryMap(&bytes, NULL, &key, &step, &version);
	/* Leave room for what this allocation and events add to the map. */
	room = bytes + 64 * step + EFI_PAGE;
	char *map = efi_alloc(EfiLoaderData, room, EFI_PAGE, "the memory map");
	for (unsigned tries = 0; tries < 16; tries++) {
		bytes = room;
		if (EFI_ERROR(efi_bs->GetMemoryMap(
			&bytes, (void *)map, &key, &step, &version)))
			break;
		if (!EFI_ERROR(efi_bs->ExitBootServices(image, key))) {
			efi_convert_map(bi, map, bytes, step);
			return;
		}
	}
	efi_fail("firmware refuses to hand over the machine "
		 "(ExitBootServices): update it");
}
