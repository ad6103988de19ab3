/* The tables MADT, SPCR, DBG2, GTDT and FADT of an arm64 machine. */
#include "arch/arm64/machine.h"
#include "kern/platform/bootinfo.h"
#include "tests/fuzz/tables.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char *const kinds[] = { "APIC", "SPCR", "GTDT", "FACP",
		"DBG2" };
	struct bootinfo *bi = calloc(1, sizeof *bi);

	bi->bi_rsdp = tables_make(data, n, kinds, 5);
	bootinfo_add(bi, 0, ~0ULL, BOOTMEM_ACPI);
	memset(&machine, 0, sizeof machine);
	if (machine_from_acpi(bi))
		machine_check(bi, 0);
	CHECK(machine.m_ncpu <= MAXCPU && machine.m_ngicr <= MACHINE_NGICR);
	CHECK(machine.m_timer_intid >= 16 && machine.m_timer_intid < 32);
	for (unsigned i = 0; i < machine_ncpu(); i++) {
		uint32_t intid = machine_pmu_intid(machine.m_cpu[i].mu_mpidr);

		CHECK(intid == 0 || (intid >= 16 && intid < 1020));
	}
	tables_free();
	free(bi);
	return 0;
}
