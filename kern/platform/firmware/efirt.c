/*
 * UEFI runtime services after ExitBootServices: ResetSystem and SetVariable,
 * called in an address space where the firmware's memory is mapped one to one.
 */
#include "kern/platform/firmware/efirt.h"

#include "kern/arch.h"
#include "kern/mm/as.h"
#include "kern/platform/bootinfo.h"
#include "lib/printf.h"

/*
 * The three tables below are fixed by the UEFI Specification, "EFI System
 * Table" and "EFI Runtime Services Table".  They are declared here because
 * the kernel includes no header of gnu-efi: only boot/ does.
 */
#define EFI_SYSTEM_TABLE_SIGNATURE     0x5453595320494249 /* "IBI SYST" */
#define EFI_RUNTIME_SERVICES_SIGNATURE 0x56524553544e5552 /* "RUNTSERV" */

struct efi_table_header {
	uint64_t signature;
	uint32_t revision;
	uint32_t header_bytes;
	uint32_t crc32;
	uint32_t reserved;
};

struct efi_system_table {
	struct efi_table_header hdr;
	uint64_t vendor;
	uint32_t revision;
	uint32_t pad;
	uint64_t console[6]; /* in, out and error: handle and protocol */
	uint64_t runtime;
};

struct efi_runtime_services {
	struct efi_table_header hdr;
	uint64_t time[4];
	uint64_t address[2];
	uint64_t get_variable[2];
	uint64_t set_variable;
	uint64_t next_high_monotonic_count;
	uint64_t reset_system;
};

#define EFI_RESET_COLD     0
#define EFI_RESET_WARM     1
#define EFI_RESET_SHUTDOWN 2
#define EFI_SUCCESS        0

static struct {
	struct as as;
	uint64_t reset_system; /* physical; 0: no UEFI */
	uint64_t set_variable;
} efirt;

/* Read tables only in memory that the firmware keeps for runtime services. */
static const void *
runtime_table(const struct bootinfo *bi, uint64_t pa, size_t bytes)
{
	for (uint32_t i = 0; i < bi->bi_nmem; i++) {
		const struct bootmem *m = &bi->bi_mem[i];

		if (m->bm_type == BOOTMEM_RUNTIME && pa >= m->bm_base &&
		    pa - m->bm_base < m->bm_len &&
		    m->bm_len - (pa - m->bm_base) >= bytes)
			return pa_to_va(pa);
	}
	return NULL;
}

/* Find the table.  Returns NULL if one is missing or has no signature. */
static const struct efi_runtime_services *
find_services(const struct bootinfo *bi)
{
	const struct efi_system_table *st;
	const struct efi_runtime_services *rt;

	st = runtime_table(bi, bi->bi_efi_systab, sizeof *st);
	if (st == NULL || st->hdr.signature != EFI_SYSTEM_TABLE_SIGNATURE)
		return NULL;
	rt = runtime_table(bi, st->runtime, sizeof *rt);
	if (rt == NULL || rt->hdr.signature != EFI_RUNTIME_SERVICES_SIGNATURE)
		return NULL;
	return rt;
}

/*
 * Firmware's code pages may hold its data too, so map them with all rights.
 * This is safe: the kernel uses this address space for the one call only.
 */
static int
map_runtime(struct as *as, const struct bootinfo *bi)
{
	int err = arch_as_init(as);

	for (uint32_t i = 0; err == 0 && i < bi->bi_nmem; i++) {
		const struct bootmem *m = &bi->bi_mem[i];
		unsigned prot = PROT_READ | PROT_WRITE;

		if (m->bm_type == BOOTMEM_RUNTIME)
			prot |= PROT_EXEC;
		else if (m->bm_type == BOOTMEM_RUNTIME_DEVICE)
			prot |= PROT_DEVICE;
		else
			continue;
		err = arch_map(as, m->bm_base, m->bm_base, m->bm_len, prot);
	}
	return err;
}

void
efirt_init(const struct bootinfo *bi)
{
	if (bi->bi_efi_systab == 0)
		return;
	const struct efi_runtime_services *rt = find_services(bi);
	efirt.as.as_system = true;
	if (rt == NULL || map_runtime(&efirt.as, bi) != 0) {
		printf("efi: runtime services unusable, no ResetSystem\n");
		return;
	}
	efirt.reset_system = rt->reset_system;
	efirt.set_variable = rt->set_variable;
}

/* UEFI, "SetVariable()": non-volatile, for boot and runtime services. */
#define EFI_VARIABLE_ATTRIBUTES 0x7

uint64_t
efi_set_variable(
    const uint16_t *name, const void *vendor, const void *data, size_t bytes)
{
	if (efirt.set_variable == 0)
		return ~0ULL;
	arch_intr_disable();
	arch_as_switch(&efirt.as);
	return arch_efi_call(efirt.set_variable, (uintptr_t)name,
	    (uintptr_t)vendor, EFI_VARIABLE_ATTRIBUTES, bytes, (uintptr_t)data);
}

static void
reset_system(unsigned type)
{
	uint64_t fn = efirt.reset_system;

	if (fn == 0)
		return;
	efirt.reset_system = 0; /* only once: a fault in it ends here again */
	arch_intr_disable();
	arch_as_switch(&efirt.as);
	arch_efi_call(fn, type, EFI_SUCCESS, 0, 0, 0);
}

void
efi_end(bool passed)
{
	reset_system(passed ? EFI_RESET_SHUTDOWN : EFI_RESET_COLD);
}

void
efi_restart(void)
{
	reset_system(EFI_RESET_WARM);
}
