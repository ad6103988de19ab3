/*
 * Reads the firmware's tables after boot services have ended.
 *
 * UEFI, "EFI System Table", "EFI Configuration Table & Properties Table",
 * "EFI_BOOT_SERVICES.GetMemoryMap()", "SetVirtualAddressMap()".
 */
#include "boot/efi/efi_handed.h"

#include <stddef.h>

#include "boot/efi/efi_memmap.h"
#include "kern/platform/bootinfo.h"
#include "lib/string.h"

#define SYSTAB_SIGNATURE 0x5453595320494249 /* "IBI SYST" */
#define NTABLES_MAX      256                /* more are damage */
#define EFI_PAGE         4096

struct efi_systab {
	uint64_t eys_signature;
	unsigned char eys_unused[104 - 8];
	uint64_t eys_ntables;
	uint64_t eys_tables;
};

struct efi_table {
	unsigned char et_guid[16];
	uint64_t et_pa;
};

/* Linux, include/linux/efi.h: memory that the GIC writes to, for example. */
static const unsigned char memreserve_guid[16] = { 0xc6, 0xb0, 0x8e, 0x88, 0xde,
	0x8e, 0xf5, 0x4f, 0xa8, 0xf0, 0x9a, 0xee, 0x5c, 0xb9, 0x77, 0xc2 };

struct memreserve {
	int32_t lmr_room;
	int32_t lmr_count;
	uint64_t lmr_next;
	struct {
		uint64_t base;
		uint64_t bytes;
	} lmr_entry[];
};

/* The GUIDs of boot/efi/efi_tables.c, as bytes. */
static const struct {
	unsigned char guid[16];
	size_t field; /* of struct bootinfo */
} known[] = {
	/* A later row overrides an earlier one: ACPI 1.0, then 2.0. */
	{ { 0x30, 0x2d, 0x9d, 0xeb, 0x88, 0x2d, 0xd3, 0x11, 0x9a, 0x16, 0x00,
	      0x90, 0x27, 0x3f, 0xc1, 0x4d },
	    offsetof(struct bootinfo, bi_rsdp) },
	{ { 0x71, 0xe8, 0x68, 0x88, 0xf1, 0xe4, 0xd3, 0x11, 0xbc, 0x22, 0x00,
	      0x80, 0xc7, 0x3c, 0x88, 0x81 },
	    offsetof(struct bootinfo, bi_rsdp) },
	/* SMBIOS 2, then 3. */
	{ { 0x31, 0x2d, 0x9d, 0xeb, 0x88, 0x2d, 0xd3, 0x11, 0x9a, 0x16, 0x00,
	      0x90, 0x27, 0x3f, 0xc1, 0x4d },
	    offsetof(struct bootinfo, bi_smbios) },
	{ { 0x44, 0x15, 0xfd, 0xf2, 0x94, 0x97, 0x2c, 0x4a, 0x99, 0x2e, 0xe5,
	      0xbb, 0xcf, 0x20, 0xe3, 0x94 },
	    offsetof(struct bootinfo, bi_smbios) },
};

/*
 * The physical address of a pointer in the system table.  After
 * SetVirtualAddressMap() it is one of the addresses that the map gives.
 */
static uint64_t
physical(const struct efi_handed *eh, uint64_t va, efi_map_fn *map)
{
	for (uint64_t at = 0; at + eh->efh_step <= eh->efh_map_bytes;
	     at += eh->efh_step) {
		const struct efi_descriptor *d =
		    map(eh->efh_map + at, sizeof *d);

		if (d != NULL && d->emd_va != 0 && va >= d->emd_va &&
		    va - d->emd_va < d->emd_pages * EFI_PAGE)
			return d->emd_pa + (va - d->emd_va);
	}
	return va;
}

/*
 * Keep the memory that Linux reserved for as long as the machine runs.  Each
 * part of the list is a page.
 */
static void
take_memreserve(struct bootinfo *bi, uint64_t pa, efi_map_fn *map)
{
	const struct memreserve *mr;
	const int32_t room = (EFI_PAGE - sizeof *mr) / sizeof mr->lmr_entry[0];

	for (unsigned n = 0; pa != 0 && n < NTABLES_MAX; n++) {
		if ((mr = map(pa, EFI_PAGE)) == NULL)
			return;
		bootinfo_add(bi, pa, EFI_PAGE, BOOTMEM_KEEP);
		for (int32_t i = 0;
		     i < mr->lmr_count && i < mr->lmr_room && i < room; i++)
			bootinfo_add(bi, mr->lmr_entry[i].base,
			    mr->lmr_entry[i].bytes, BOOTMEM_KEEP);
		pa = mr->lmr_next;
	}
}

void
efi_handed_tables(
    struct bootinfo *bi, const struct efi_handed *eh, efi_map_fn *map)
{
	const struct efi_systab *st = map(eh->efh_systab, sizeof *st);
	const struct efi_table *t;

	if (st == NULL || st->eys_signature != SYSTAB_SIGNATURE ||
	    eh->efh_step < sizeof(struct efi_descriptor) ||
	    eh->efh_step % 8 != 0 || st->eys_ntables > NTABLES_MAX)
		return;
	t = map(physical(eh, st->eys_tables, map), st->eys_ntables * sizeof *t);
	if (t == NULL)
		return;
	for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
		for (uint64_t i = 0; i < st->eys_ntables; i++) {
			if (memcmp(t[i].et_guid, known[k].guid,
				sizeof t[i].et_guid) == 0)
				memcpy((char *)bi + known[k].field, &t[i].et_pa,
				    sizeof t[i].et_pa);
		}
	}
	for (uint64_t i = 0; i < st->eys_ntables; i++) {
		if (memcmp(t[i].et_guid, memreserve_guid,
			sizeof t[i].et_guid) == 0)
			take_memreserve(bi, t[i].et_pa, map);
	}
}
