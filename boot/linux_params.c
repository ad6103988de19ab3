/*
 * Fills in struct bootinfo from struct boot_params, which loaders of Linux hand
 * over on x86-64.
 *
 * Linux, Documentation/arch/x86/zero-page.rst; boot.rst, "The Real-Mode Kernel
 * Header"; arch/x86/include/uapi/asm/bootparam.h (setup_data).
 */
#include <stddef.h>

#include "arch/x86/x86.h"
#include "boot/efi/efi_handed.h"
#include "kern/platform/bootinfo.h"
#include "lib/string.h"

#define HDR_MAGIC       0x53726448 /* "HdrS" */
#define CMDLINE_MAX     65536
#define SETUP_E820_EXT  1
#define NSETUP_DATA     64 /* a longer list is damaged */
#define VIDEO_TYPE_VLFB 0x23
#define VIDEO_TYPE_EFI  0x70
#define LFB_64BIT       2      /* capabilities: lfb_base has a high part */
#define EFI_LOADER_64   "EL64" /* the firmware is a 64-bit one */
#define RSDP_BYTES      20     /* of ACPI 1.0, under its checksum */

struct __attribute__((packed)) screen_info {
	unsigned char si_unused0[0x0f];
	uint8_t si_type;
	uint16_t si_unused1;
	uint16_t si_width;
	uint16_t si_height;
	uint16_t si_depth;
	uint32_t si_base;
	unsigned char si_unused2[0x24 - 0x1c];
	uint16_t si_stride_bytes;
	uint8_t si_red_bits, si_red_shift;
	uint8_t si_green_bits, si_green_shift;
	uint8_t si_blue_bits, si_blue_shift;
	unsigned char si_unused3[0x36 - 0x2c];
	uint32_t si_capabilities;
	uint32_t si_base_high;
	unsigned char si_unused4[2];
};

struct __attribute__((packed)) e820_entry {
	uint64_t e8_base;
	uint64_t e8_bytes;
	uint32_t e8_type;
};

struct __attribute__((packed)) boot_params {
	struct screen_info bp_screen;
	unsigned char bp_unused0[0x70 - 0x40];
	uint64_t bp_rsdp;
	unsigned char bp_unused1[0xc0 - 0x78];
	uint32_t bp_ramdisk_high;
	uint32_t bp_ramdisk_bytes_high;
	uint32_t bp_cmdline_high;
	unsigned char bp_unused2[0x1c0 - 0xcc];
	char bp_efi_loader[4];
	uint32_t bp_efi_systab;
	uint32_t bp_efi_step;
	uint32_t bp_efi_version;
	uint32_t bp_efi_map;
	uint32_t bp_efi_map_bytes;
	uint32_t bp_efi_systab_high;
	uint32_t bp_efi_map_high;
	unsigned char bp_unused3[0x1e8 - 0x1e0];
	uint8_t bp_ne820;
	unsigned char bp_unused4[0x202 - 0x1e9];
	uint32_t bp_magic;
	unsigned char bp_unused5[0x218 - 0x206];
	uint32_t bp_ramdisk;
	uint32_t bp_ramdisk_bytes;
	unsigned char bp_unused6[0x228 - 0x220];
	uint32_t bp_cmdline;
	unsigned char bp_unused7[0x250 - 0x22c];
	uint64_t bp_setup_data;
	unsigned char bp_unused8[0x2d0 - 0x258];
	struct e820_entry bp_e820[128];
};

struct setup_data {
	uint64_t lsd_next;
	uint32_t lsd_type;
	uint32_t lsd_bytes;
};

static uint64_t
both_halves(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

static void
take_e820(struct bootinfo *bi, const struct e820_entry *e, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bootinfo_add(
		    bi, e[i].e8_base, e[i].e8_bytes, x86_bootmem(e[i].e8_type));
}

/* More than 128 ranges continue in a list of data. */
static const char *
take_setup_data(struct bootinfo *bi, uint64_t pa, x86_map_fn *map)
{
	for (unsigned n = 0; pa != 0; n++) {
		const struct setup_data *sd = map(pa, sizeof *sd);

		if (sd == NULL || n == NSETUP_DATA ||
		    (sd = map(pa, sizeof *sd + sd->lsd_bytes)) == NULL)
			return "the list of setup data is damaged";
		if (sd->lsd_type == SETUP_E820_EXT)
			take_e820(bi, (const void *)(sd + 1),
			    sd->lsd_bytes / sizeof(struct e820_entry));
		pa = sd->lsd_next;
	}
	return NULL;
}

static const char *
take_cmdline(struct bootinfo *bi, uint64_t pa, x86_map_fn *map)
{
	const char *text;

	if (pa == 0)
		return NULL;
	if ((text = map(pa, CMDLINE_MAX)) == NULL)
		return "cmd_line_ptr: no memory is at that address";
	bi->bi_cmdline = pa;
	bi->bi_cmdline_bytes = strnlen(text, CMDLINE_MAX);
	bootinfo_add(bi, pa, bi->bi_cmdline_bytes, BOOTMEM_KEEP);
	return NULL;
}

static const char *
take_ramdisk(struct bootinfo *bi, const struct boot_params *bp)
{
	uint64_t pa = both_halves(bp->bp_ramdisk, bp->bp_ramdisk_high);
	uint64_t bytes =
	    both_halves(bp->bp_ramdisk_bytes, bp->bp_ramdisk_bytes_high);

	if (pa == 0 || bytes == 0)
		return NULL;
	if (pa + bytes < pa)
		return "ramdisk_size: the initrd ends above all memory";
	if (pa < bi->bi_kern + bi->bi_kern_bytes && bi->bi_kern < pa + bytes)
		return "ramdisk_image: the initrd overlaps the kernel";
	bi->bi_archive = pa;
	bi->bi_archive_bytes = bytes;
	return NULL;
}

static uint32_t
colour_mask(uint8_t bits, uint8_t shift)
{
	return bits < 32 && shift < 32 ? ((1U << bits) - 1) << shift : 0;
}

/* Only screens of 32-bit pixels are taken.  Text is white. */
static void
take_screen(struct bootinfo *bi, const struct screen_info *si)
{
	struct bootfb *fb = &bi->bi_fb[0];

	if ((si->si_type != VIDEO_TYPE_VLFB && si->si_type != VIDEO_TYPE_EFI) ||
	    si->si_depth != 32)
		return;
	fb->fb_base = si->si_base;
	if (si->si_capabilities & LFB_64BIT)
		fb->fb_base = both_halves(si->si_base, si->si_base_high);
	fb->fb_width = si->si_width;
	fb->fb_height = si->si_height;
	fb->fb_stride_bytes = si->si_stride_bytes;
	fb->fb_pixel_bytes = 4;
	fb->fb_ink = colour_mask(si->si_red_bits, si->si_red_shift) |
	             colour_mask(si->si_green_bits, si->si_green_shift) |
	             colour_mask(si->si_blue_bits, si->si_blue_shift);
	bootinfo_add(bi, fb->fb_base,
	    (uint64_t)fb->fb_stride_bytes * fb->fb_height, BOOTMEM_DEVICE);
}

/* Find the RSDP in memory.  ACPI, "Finding the RSDP on IA-PC Systems". */
static uint64_t
search_rsdp(uint64_t pa, size_t bytes, x86_map_fn *map)
{
	const unsigned char *p = map(pa, bytes);

	for (size_t at = 0; p != NULL && at + RSDP_BYTES <= bytes; at += 16) {
		unsigned char sum = 0;

		if (memcmp(p + at, "RSD PTR ", 8) != 0)
			continue;
		for (unsigned i = 0; i < RSDP_BYTES; i++)
			sum = (unsigned char)(sum + p[at + i]);
		if (sum == 0)
			return pa + at;
	}
	return 0;
}

static uint64_t
bios_rsdp(x86_map_fn *map)
{
	/* BIOS data area, 40:0E: the segment of the extended area. */
	const uint16_t *segment = map(0x40e, sizeof *segment);
	uint64_t ebda = segment != NULL ? (uint64_t)*segment << 4 : 0;
	uint64_t found = 0;

	if (ebda >= 0x80000 && ebda < 0xa0000)
		found = search_rsdp(ebda, 1024, map);
	return found != 0 ? found : search_rsdp(0xe0000, 0x20000, map);
}

static void
take_efi(struct bootinfo *bi, const struct boot_params *bp, x86_map_fn *map)
{
	struct efi_handed eh = {
		.efh_systab =
		    both_halves(bp->bp_efi_systab, bp->bp_efi_systab_high),
		.efh_map = both_halves(bp->bp_efi_map, bp->bp_efi_map_high),
		.efh_map_bytes = bp->bp_efi_map_bytes,
		.efh_step = bp->bp_efi_step,
	};

	if (memcmp(bp->bp_efi_loader, EFI_LOADER_64,
		sizeof bp->bp_efi_loader) == 0)
		efi_handed_tables(bi, &eh, map);
}

bool
linux_is_params(uint64_t pa, x86_map_fn *map)
{
	const struct boot_params *bp = map(pa, sizeof *bp);

	return bp != NULL && bp->bp_magic == HDR_MAGIC;
}

const char *
linux_bootinfo(struct bootinfo *bi, uint64_t pa, x86_map_fn *map)
{
	const struct boot_params *bp = map(pa, sizeof *bp);

	bi->bi_magic = BOOTINFO_MAGIC;
	bi->bi_via = BOOT_LINUX_IMAGE;
	if (bp->bp_ne820 == 0)
		return "boot_params has no memory map";
	take_e820(bi, bp->bp_e820, bp->bp_ne820 < 128 ? bp->bp_ne820 : 128);
	const char *wrong = take_setup_data(bi, bp->bp_setup_data, map);
	if (wrong == NULL)
		wrong = take_cmdline(
		    bi, both_halves(bp->bp_cmdline, bp->bp_cmdline_high), map);
	if (wrong == NULL)
		wrong = take_ramdisk(bi, bp);
	take_screen(bi, &bp->bp_screen);
	take_efi(bi, bp, map);
	if (bp->bp_rsdp != 0)
		bi->bi_rsdp = bp->bp_rsdp;
	if (bi->bi_rsdp == 0)
		bi->bi_rsdp = bios_rsdp(map);
	return wrong;
}
