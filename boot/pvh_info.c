/*
 * From the PVH start info to struct bootinfo.
 * Xen, "x86/HVM direct boot ABI", and xen/include/public/arch-x86/hvm/
 * start_info.h, which defines the structures.
 */
#include <stddef.h>

#include "arch/x86/x86.h"
#include "kern/platform/bootinfo.h"
#include "lib/string.h"

struct start_info {
	uint32_t si_magic;
	uint32_t si_version;
	uint32_t si_flags;
	uint32_t si_nmodules;
	uint64_t si_modlist;
	uint64_t si_cmdline;
	uint64_t si_rsdp;
	/* since version 1 */
	uint64_t si_memmap;
	uint32_t si_nmemmap;
	uint32_t si_reserved;
};

struct start_module {
	uint64_t sm_base;
	uint64_t sm_bytes;
	uint64_t sm_cmdline;
	uint64_t sm_reserved;
};

struct start_memmap {
	uint64_t sm_base;
	uint64_t sm_bytes;
	uint32_t sm_type;
	uint32_t sm_reserved;
};

#define CMDLINE_MAX 65536 /* no loader hands over more */

/*
 * ACPI, "System Address Map Interfaces", "Address Range Types".  Reserved
 * memory may be RAM or registers: nobody maps it unasked.
 */
static enum bootmem_type
bootmem_type(uint32_t type)
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
early(uint64_t pa)
{
	return (const void *)(DIRECT_BASE + pa);
}

static void
take_memmap(struct bootinfo *bi, const struct start_info *si)
{
	const struct start_memmap *m = early(si->si_memmap);

	/* An empty range ends microvm's map; bootinfo_add() skips it. */
	for (uint32_t i = 0; i < si->si_nmemmap; i++)
		bootinfo_add(bi, m[i].sm_base, m[i].sm_bytes,
		    bootmem_type(m[i].sm_type));
}

const char *
pvh_bootinfo(struct bootinfo *bi, uint64_t start_info)
{
	const struct start_info *si = early(start_info);

	bi->bi_magic = BOOTINFO_MAGIC;
	bi->bi_via = BOOT_PVH;
	if (si->si_version < 1 || si->si_nmemmap == 0)
		return "the start info has no memory map";
	take_memmap(bi, si);
	bi->bi_rsdp = si->si_rsdp;
	if (si->si_cmdline != 0) {
		bi->bi_cmdline = si->si_cmdline;
		bi->bi_cmdline_bytes =
		    strnlen(early(si->si_cmdline), CMDLINE_MAX);
		bootinfo_add(
		    bi, bi->bi_cmdline, bi->bi_cmdline_bytes, BOOTMEM_KEEP);
	}
	if (si->si_nmodules > 0) {
		const struct start_module *sm = early(si->si_modlist);

		bi->bi_archive = sm->sm_base;
		bi->bi_archive_bytes = sm->sm_bytes;
		bootinfo_add(bi, sm->sm_base, sm->sm_bytes, BOOTMEM_KEEP);
	}
	return NULL;
}
