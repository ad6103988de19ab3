/*
 * arch_init_early() and arch_init(): set up the parts of the machine, in the
 * order in which they need each other.
 */
#include "arch/x86/cpuid.h"
#include "arch/x86/dev/apic.h"
#include "arch/x86/dev/timer.h"
#include "arch/x86/mm/pt.h"
#include "arch/x86/pmu/pmu.h"
#include "arch/x86/topology.h"
#include "arch/x86/trap/fpu.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/firmware/acpi.h"
#include "kern/platform/firmware/acpi_watchdog.h"
#include "kern/platform/firmware/smbios.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"
#include "lib/string.h"

#define EM_X86_64 62

const char arch_name[] = "x86_64";
const char arch_uname[] = "x86_64";
const uint16_t arch_elf_machine = EM_X86_64;

/*
 * Replace STAC and CLAC by NOPs, because they are undefined without SMAP.
 * Before x86_mmu_init(), text can still be written.
 */
static void
drop_smap(void)
{
	static const char nop[3] = { 0x0f, 0x1f, 0x00 };
	extern const int32_t __smap_start[], __smap_end[];

	for (const int32_t *at = __smap_start; at < __smap_end; at++)
		memcpy((char *)(uintptr_t)at + *at, nop, sizeof nop);
}

void
arch_init_early(struct bootinfo *bi)
{
	struct x86_cpu *xc = &x86_boot_cpu;

	x86_features_init();
	x86_nx = x86_features.nx ? PT_NX : 0;
	if (!x86_features.smap)
		drop_smap();
	x86_enable_nx(); /* before a page table uses the bit */
	x86_smp_reserve(bi);
	x86_mmu_init(bi);
	for (unsigned i = 0; i < NIST; i++)
		xc->xc_tss.t_ist[i] = x86_boot_ist(i + 1);
	xc->xc_tss.t_ist[IST_INTR - 1] = x86_boot_ist(0);
	x86_idt_init();
	x86_cpu_init(xc);
	x86_fpu_init();
	x86_mcheck_init_cpu();
}

/*
 * UEFI names the entry point.  Otherwise it is in BIOS's last 64 KiB.
 * DMTF DSP0134, "Table convention".
 */
static void
find_smbios(const struct bootinfo *bi)
{
	uint64_t entry = bi->bi_smbios;
	const unsigned char *area;
	size_t at;

	if (entry == 0 && bi->bi_via != BOOT_UEFI &&
	    (area = x86_map_firmware(SMBIOS_AREA, SMBIOS_AREA_BYTES)) != NULL) {
		at = smbios_find(area, SMBIOS_AREA_BYTES);
		entry = at < SMBIOS_AREA_BYTES ? SMBIOS_AREA + at : 0;
	}
	smbios_init(entry, x86_map_firmware);
}

void
arch_init(struct bootinfo *bi)
{
	acpi_init(bi->bi_rsdp, x86_map_firmware);
	find_smbios(bi);
	console_init();
	acpi_watchdog_init();
	x86_tco_init();
	x86_halt_init();
	printf("cpu: %s, family %#x model %#x stepping %#x%s%s\n",
	    x86_features.brand[0] != '\0' ? x86_features.brand
					  : x86_features.vendor,
	    x86_features.family, x86_features.model, x86_features.stepping,
	    x86_features.hypervised ? ", under " : "", x86_features.hypervisor);
	x86_apic_init();
	x86_timer_init();
	x86_smp_init();
	x86_fpu_report();
	printf("cpu: %u CPU(s), %s, %zu bytes of extended state\n", ncpu,
	    x86_apic_mode(), x86_fpu_bytes);
	x86_topology_init_cpu();
	x86_pmu_init_cpu();
	x86_power_init(&x86_boot_cpu.xc_power);
}
