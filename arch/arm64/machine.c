/*
 * Collects and checks the machine description, whichever tables it is from.
 * Arm Generic Interrupt Controller Architecture Specification version 3 and
 * 4 (IHI 0069), "INTIDs"; Arm Base System Architecture (DEN 0094), "PPI
 * assignments".
 */
#include "arch/arm64/machine.h"

#include "kern/arch.h"
#include "kern/platform/bootinfo.h"
#include "lib/printf.h"

#define FIRST_PPI 16
#define FIRST_SPI 32
#define TIMER_BSA 27 /* the BSA's INTID of the virtual timer */

struct machine machine;

void
machine_add_cpu(uint64_t mpidr)
{
	if (machine.m_ncpu < MAXCPU)
		machine.m_mpidr[machine.m_ncpu] = mpidr;
	machine.m_ncpu++;
}

void
machine_add_gicr(uint64_t pa, uint64_t bytes)
{
	if (machine.m_ngicr_named++ < MACHINE_NGICR)
		machine.m_gicr[machine.m_ngicr++] = (struct range){ pa, bytes };
}

const void *
machine_map(uint64_t pa, size_t bytes)
{
	for (uint32_t i = 0; i < machine.m_boot->bi_nmem; i++) {
		const struct bootmem *m = &machine.m_boot->bi_mem[i];

		if (m->bm_type != BOOTMEM_DEVICE &&
		    m->bm_type != BOOTMEM_RUNTIME_DEVICE && pa >= m->bm_base &&
		    pa - m->bm_base < m->bm_len)
			return bytes <= m->bm_len - (pa - m->bm_base)
			           ? pa_to_va(pa)
			           : NULL;
	}
	return NULL;
}

static bool
is_ppi(uint32_t intid)
{
	return intid >= FIRST_PPI && intid < FIRST_SPI;
}

static bool
is_memory(const struct bootinfo *bi, uint64_t pa)
{
	for (uint32_t i = 0; i < bi->bi_nmem; i++) {
		const struct bootmem *m = &bi->bi_mem[i];

		if (pa - m->bm_base < m->bm_len)
			return m->bm_type == BOOTMEM_FREE ||
			       m->bm_type == BOOTMEM_KEEP;
	}
	return false;
}

void
machine_check(const struct bootinfo *bi)
{
	const char *tables = machine.m_tables;

	if (machine.m_ngic > 1)
		printf("cpu: %s: %u interrupt controllers: the first one is "
		       "used\n",
		    tables, machine.m_ngic);
	if (machine.m_ngicr_named > machine.m_ngicr)
		printf("cpu: %s: %u regions of redistributors: the first %u "
		       "are used\n",
		    tables, machine.m_ngicr_named, machine.m_ngicr);
	if (!is_ppi(machine.m_timer_intid)) {
		printf("cpu: %s: no PPI for the virtual timer: %u is used\n",
		    tables, TIMER_BSA);
		machine.m_timer_intid = TIMER_BSA;
	}
	if (machine.m_pmu_intid != 0 && !is_ppi(machine.m_pmu_intid)) {
		printf("cpu: %s: the PMU's interrupt, %u, is not a PPI: "
		       "overflows do not interrupt\n",
		    tables, machine.m_pmu_intid);
		machine.m_pmu_intid = 0;
	}
	if (machine.m_uart != UART_NONE && is_memory(bi, machine.m_uart_pa)) {
		printf("cpu: %s: the console's UART at %#lx is memory: it is "
		       "not used\n",
		    tables, (unsigned long)machine.m_uart_pa);
		machine.m_uart = UART_NONE;
	}
}
