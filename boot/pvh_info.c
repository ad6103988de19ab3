/*
 * Fills in struct bootinfo from the PVH start info.
 * Xen, "x86/HVM direct boot ABI", and xen/include/public/arch-x86/hvm/
 * start_info.h, which defines the structures.
 */
#include <stddef.h>

#include "arch/x86/x86.h"
#include "kern/platform/bootinfo.h"
#include "lib/string.h"

/* Firmware of 32 bits, as qboot, aligns them to 4 bytes only. */
#define ALIGN4 __attribute__((packed, aligned(4)))

struct ALIGN4 start_info {
	uint32_t pvs_magic;
	uint32_t pvs_version;
	uint32_t pvs_flags;
	uint32_t pvs_nmodules;
	uint64_t pvs_modlist;
	uint64_t pvs_cmdline;
	uint64_t pvs_rsdp;
	/* since version 1 */
	uint64_t pvs_memmap;
	uint32_t pvs_nmemmap;
	uint32_t pvs_reserved;
};

struct ALIGN4 start_module {
	uint64_t pvo_base;
	uint64_t pvo_bytes;
	uint64_t pvo_cmdline;
	uint64_t pvo_reserved;
};

struct ALIGN4 start_memmap {
	uint64_t pvm_base;
	uint64_t pvm_bytes;
	uint32_t pvm_type;
	uint32_t pvm_reserved;
};

#define CMDLINE_MAX 65536 /* no loader hands over more */

/*
 * ACPI, "System Address Map Interfaces", "Address Range Types".  Reserved
 * memory may be RAM or registers, so it must not be mapped without a reason.
 */
enum bootmem_type
x86_bootmem(uint32_t type)
{
	switch (type) {
	case 1:
		return BOOTMEM_FREE;
	case 3: /* tables */
	case 4: /* firmware's, across sleep */
		return BOOTMEM_ACPI;
	default:
		return BOOTMEM_DEVICE;
	}
}

static const void *
early_ptr(uint64_t pa)
{
	return (const void *)(DIRECT_BASE + pa);
}

static void
take_memmap(struct bootinfo *bi, const struct start_info *si)
{
	const struct start_memmap *m = early_ptr(si->pvs_memmap);

	/* An empty range ends microvm's map; bootinfo_add() skips it. */
	for (uint32_t i = 0; i < si->pvs_nmemmap; i++)
		bootinfo_add(bi, m[i].pvm_base, m[i].pvm_bytes,
		    x86_bootmem(m[i].pvm_type));
}

const char *
pvh_bootinfo(struct bootinfo *bi, uint64_t start_info)
{
	const struct start_info *si = early_ptr(start_info);

	bi->bi_magic = BOOTINFO_MAGIC;
	bi->bi_via = BOOT_PVH;
	if (si->pvs_version < 1 || si->pvs_nmemmap == 0)
		return "the start info has no memory map";
	take_memmap(bi, si);
	bi->bi_rsdp = si->pvs_rsdp;
	if (si->pvs_cmdline != 0) {
		bi->bi_cmdline = si->pvs_cmdline;
		bi->bi_cmdline_bytes =
		    strnlen(early_ptr(si->pvs_cmdline), CMDLINE_MAX);
		bootinfo_add(
		    bi, bi->bi_cmdline, bi->bi_cmdline_bytes, BOOTMEM_KEEP);
	}
	if (si->pvs_nmodules > 0) {
		const struct start_module *sm = early_ptr(si->pvs_modlist);

		bi->bi_archive = sm->pvo_base;
		bi->bi_archive_bytes = sm->pvo_bytes;
	}
	return NULL;
}
