/*
 * What every way in hands to the kernel.  Included by boot/, which fills it,
 * and by kern/ and arch/, which read it.  All addresses are physical.
 */
#ifndef KERN_PLATFORM_BOOTINFO_H
#define KERN_PLATFORM_BOOTINFO_H

/* "bcbootin"; the first word is never that of a device tree (0xedfe0dd0). */
#define BOOTINFO_MAGIC 0x6e69746f6f626362

#define BOOTINFO_NMEM 512

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stdint.h>

enum bootinfo_via {
	BOOT_PVH = 1,
	BOOT_LINUX_IMAGE,
	BOOT_UEFI,
};

enum bootmem_type {
	BOOTMEM_FREE = 1, /* RAM the kernel may take */
	BOOTMEM_KEEP,    /* RAM to be left alone: firmware, tables, our image */
	BOOTMEM_ACPI,    /* RAM holding ACPI tables: read, never reused */
	BOOTMEM_RUNTIME, /* UEFI runtime services: code and data */
	BOOTMEM_DEVICE,  /* not RAM */
	BOOTMEM_RUNTIME_DEVICE, /* registers of UEFI runtime services */
};

struct bootmem {
	uint64_t bm_base;
	uint64_t bm_len;
	uint32_t bm_type; /* enum bootmem_type */
	uint32_t bm_pad;
};

/* A linear framebuffer of 32-bit pixels, or fb_base 0 where there is none. */
struct bootfb {
	uint64_t fb_base;
	uint32_t fb_width, fb_height; /* pixels */
	uint32_t fb_stride_bytes;
	uint32_t fb_bgr; /* 1: blue in the lowest byte, 0: red */
};

struct bootinfo {
	uint64_t bi_magic;
	uint32_t bi_via; /* enum bootinfo_via */
	uint32_t bi_nmem;
	uint64_t bi_kern; /* the image, as placed, .bss included */
	uint64_t bi_kern_bytes;
	uint64_t bi_cmdline; /* not terminated; 0 where there is none */
	uint64_t bi_cmdline_bytes;
	uint64_t bi_archive; /* a second cpio archive (initrd), or 0 */
	uint64_t bi_archive_bytes;
	uint64_t bi_rsdp;       /* ACPI RSDP, or 0 */
	uint64_t bi_fdt;        /* flattened device tree, or 0 */
	uint64_t bi_efi_systab; /* EFI_SYSTEM_TABLE, or 0 */
	uint64_t bi_smbios;     /* reserved: SMBIOS entry point, or 0 */
	struct bootfb bi_fb;
	/* Sorted by address, disjoint, once bootinfo_sort() has run. */
	struct bootmem bi_mem[BOOTINFO_NMEM];
};

/*
 * Append a range; a full map drops the range if it is FREE, since losing RAM
 * is safe and losing a reservation is not (then the last FREE range goes).
 */
void bootinfo_add(
    struct bootinfo *bi, uint64_t base, uint64_t len, enum bootmem_type type);

/*
 * Sort the map, trim FREE ranges to whole pages and to what no other range
 * covers, merge neighbours of a type.  Overlapping input is resolved for the
 * more careful type.
 */
void bootinfo_sort(struct bootinfo *bi);

/*
 * Leave out RAM from top on, of which a sorted map may name more than the
 * kernel can map.  Returns how many bytes.
 */
uint64_t bootinfo_cut(struct bootinfo *bi, uint64_t top);

/* Turn part of the map into KEEP, whatever it was.  Keeps the map sorted. */
void bootinfo_reserve(struct bootinfo *bi, uint64_t base, uint64_t len);

/*
 * Take aligned FREE memory inside [lo, hi) before the page allocator runs,
 * marking it KEEP.  Returns its physical address, or 0 where none is left.
 */
uint64_t bootinfo_take(struct bootinfo *bi, uint64_t len, uint64_t align,
    uint64_t lo, uint64_t hi);

/*
 * Where every way in ends, on the boot CPU, in the state kern/arch.h asks for
 * under "boot".
 */
_Noreturn void kern_main(struct bootinfo *bi);

#endif /* __ASSEMBLER__ */
#endif /* KERN_PLATFORM_BOOTINFO_H */
