/*
 * The description of the machine that every boot protocol hands to the
 * kernel.  Included by boot/, which fills it, and by kern/ and arch/, which
 * read it.  All addresses are physical.
 */
#pragma once

/* "bcbootin".  A device tree begins with another word (0xedfe0dd0). */
#define BOOTINFO_MAGIC 0x6e69746f6f626362

#define BOOTINFO_NMEM 512
#define BOOTINFO_NFB  4

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stdint.h>

enum bootinfo_via {
	BOOT_PVH = 1,
	BOOT_LINUX_IMAGE,
	BOOT_UEFI,
};

enum bootmem_type {
	BOOTMEM_FREE = 1,       /* RAM that the kernel may use */
	BOOTMEM_KEEP,           /* RAM in use: firmware, tables, our image */
	BOOTMEM_ACPI,           /* RAM with ACPI tables: read, never reused */
	BOOTMEM_RUNTIME,        /* UEFI runtime services: code and data */
	BOOTMEM_DEVICE,         /* not RAM */
	BOOTMEM_RUNTIME_DEVICE, /* registers of UEFI runtime services */
};

struct bootmem {
	uint64_t bm_base;
	uint64_t bm_len;
	uint32_t bm_type; /* enum bootmem_type */
	uint32_t bm_pad;
};

/* A linear framebuffer.  fb_base 0: none from here on. */
struct bootfb {
	uint64_t fb_base;
	uint32_t fb_width, fb_height; /* pixels */
	uint32_t fb_stride_bytes;
	uint32_t fb_ink; /* a pixel of text; 0 is black */
	uint32_t fb_pixel_bytes;
	uint32_t fb_pad;
};

struct bootinfo {
	uint64_t bi_magic;
	uint32_t bi_via; /* enum bootinfo_via */
	uint32_t bi_nmem;
	uint64_t bi_kern; /* the image where it was loaded, with .bss */
	uint64_t bi_kern_bytes;
	uint64_t bi_cmdline; /* without a final NUL; 0: no command line */
	uint64_t bi_cmdline_bytes;
	/* A second cpio archive (initrd), or 0.  kern_main() reserves it. */
	uint64_t bi_archive;
	uint64_t bi_archive_bytes;
	uint64_t bi_rsdp;       /* ACPI RSDP, or 0 */
	uint64_t bi_fdt;        /* flattened device tree, or 0 */
	uint64_t bi_efi_systab; /* EFI_SYSTEM_TABLE, or 0 */
	uint64_t bi_smbios;     /* SMBIOS entry point, or 0 */
	uint64_t bi_keep;       /* memory that keeps results (kept.h), or 0 */
	uint64_t bi_keep_bytes;
	uint64_t bi_keep_home;      /* 1: the next boot can write files */
	uint64_t bi_keep_variables; /* bytes of UEFI variables, or 0 */
	struct bootfb bi_fb[BOOTINFO_NFB]; /* the screens first */
	/* Sorted by address and disjoint after bootinfo_sort(). */
	struct bootmem bi_mem[BOOTINFO_NMEM];
};

/*
 * Append a range.  If the map is full, a FREE range is dropped: losing RAM is
 * safe, losing a reservation is not.
 */
void bootinfo_add(
    struct bootinfo *bi, uint64_t base, uint64_t len, enum bootmem_type type);

/*
 * Sort the map by address.  Resolve overlaps in favour of the more careful
 * type, trim FREE ranges to whole pages, and merge neighbours of one type.
 */
void bootinfo_sort(struct bootinfo *bi);

/*
 * Remove RAM at and above `top` from a sorted map: the kernel cannot map it.
 * Returns the number of bytes removed.
 */
uint64_t bootinfo_cut(struct bootinfo *bi, uint64_t top);

/* Make a range KEEP, unless a more careful type holds it.  Sorts the map. */
void bootinfo_reserve(struct bootinfo *bi, uint64_t base, uint64_t len);

/* Is every byte of the range RAM?  Then the kernel's direct map has it. */
bool bootinfo_is_ram(const struct bootinfo *bi, uint64_t base, uint64_t len);

/*
 * Allocate aligned FREE memory in [lo, hi) before the page allocator runs, and
 * mark it KEEP.  Returns its physical address, or 0 on failure.
 */
uint64_t bootinfo_take(struct bootinfo *bi, uint64_t len, uint64_t align,
    uint64_t lo, uint64_t hi);

/*
 * The kernel's entry in C, called by every boot protocol on the boot CPU in
 * the state that kern/arch.h describes under "boot".
 */
_Noreturn void kern_main(struct bootinfo *bi);

#endif /* __ASSEMBLER__ */
