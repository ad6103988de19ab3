/*
 * Collects and checks the machine description, whichever tables it is from.
 * Arm Generic Interrupt Controller Architecture Specification version 3 and
 * 4 (IHI 0069), "INTIDs"; Arm Base System Architecture (DEN 0094), "PPI
 * assignments"; Linux, Documentation/arm64/booting.rst, "spin-table".
 */
#include "arch/arm64/machine.h"

#include <stddef.h>

#include "kern/arch.h"
#include "kern/platform/bootinfo.h"
#include "lib/printf.h"

#define FIRST_PPI 16
#define FIRST_SPI 32
#define LAST_SPI  1019
#define TIMER_BSA 27 /* the BSA's INTID of the virtual timer */

struct machine machine;

struct machine_cpu *
machine_add_cpu(uint64_t mpidr)
{
	static struct machine_cpu surplus;
	unsigned n = machine.m_ncpu++;
	struct machine_cpu *mc = n < MAXCPU ? &machine.m_cpu[n] : &surplus;

	*mc = (struct machine_cpu){ .mu_mpidr = mpidr & MPIDR_AFFINITY };
	return mc;
}

unsigned
machine_ncpu(void)
{
	return machine.m_ncpu < MAXCPU ? machine.m_ncpu : MAXCPU;
}

struct machine_cpu *
machine_cpu(uint64_t mpidr)
{
	for (unsigned i = 0; i < machine_ncpu(); i++) {
		if (machine.m_cpu[i].mu_mpidr == mpidr)
			return &machine.m_cpu[i];
	}
	return NULL;
}

uint32_t
machine_pmu_intid(uint64_t mpidr)
{
	const struct machine_cpu *mc = machine_cpu(mpidr);

	return mc != NULL && mc->mu_pmu_intid != 0 ? mc->mu_pmu_intid
	                                           : machine.m_pmu_intid;
}

void
machine_add_gicr(uint64_t pa, uint64_t bytes)
{
	if (machine.m_ngicr_named++ < MACHINE_NGICR)
		machine.m_gicr[machine.m_ngicr++] = (struct range){ pa, bytes };
}

void
machine_add_watchdog(enum machine_watchdog_kind kind, uint64_t pa)
{
	if (machine.m_nwatchdog < MACHINE_NWATCHDOG)
		machine.m_watchdog[machine.m_nwatchdog++] =
		    (struct machine_watchdog){ kind, pa };
}

const void *
machine_map(uint64_t pa, size_t bytes)
{
	return bootinfo_is_ram(machine.m_boot, pa, bytes) ? pa_to_va(pa) : NULL;
}

static const struct bootmem *
find_memory(const struct bootinfo *bi, uint64_t pa)
{
	for (uint32_t i = 0; i < bi->bi_nmem; i++) {
		const struct bootmem *m = &bi->bi_mem[i];

		if (pa - m->bm_base < m->bm_len)
			return m;
	}
	return NULL;
}

bool
machine_is_ram(const struct bootinfo *bi, uint64_t pa)
{
	const struct bootmem *m = find_memory(bi, pa);

	return m != NULL &&
	       (m->bm_type == BOOTMEM_FREE || m->bm_type == BOOTMEM_KEEP);
}

/* Why the CPU cannot be released, or NULL. */
static const char *
bad_release(const struct bootinfo *bi, const struct machine_cpu *mc)
{
	if (mc->mu_release == 0)
		return "no cpu-release-addr";
	if (mc->mu_release % sizeof(uint64_t) != 0)
		return "a misaligned cpu-release-addr";
	if (find_memory(bi, mc->mu_release) == NULL)
		return "a cpu-release-addr outside memory";
	return NULL;
}

/* Remove CPUs that cannot be started. */
static void
check_releases(const struct bootinfo *bi, uint64_t self)
{
	unsigned n = machine_ncpu(), kept = 0;

	for (unsigned i = 0; i < n; i++) {
		struct machine_cpu *mc = &machine.m_cpu[i];
		const char *why = mc->mu_spins && mc->mu_mpidr != self
		                      ? bad_release(bi, mc)
		                      : NULL;

		if (why == NULL)
			machine.m_cpu[kept++] = *mc;
		else
			printf("cpu: %s: CPU %#lx has %s (%#lx): it is "
			       "not started: correct the tree\n",
			    machine.m_tables, (unsigned long)mc->mu_mpidr, why,
			    (unsigned long)mc->mu_release);
	}
	machine.m_ncpu -= n - kept;
}

/* An SPI goes to one CPU. */
static bool
is_shared_spi(unsigned cpu, uint32_t intid)
{
	for (unsigned i = 0; i < cpu && intid >= FIRST_SPI; i++) {
		if (machine.m_cpu[i].mu_pmu_intid == intid)
			return true;
	}
	return false;
}

static const char *
bad_pmu_intid(unsigned cpu, uint32_t intid)
{
	if (intid == 0)
		return "is absent";
	if (intid < FIRST_PPI || intid > LAST_SPI)
		return "is neither a PPI nor an SPI";
	if (is_shared_spi(cpu, intid))
		return "is also another CPU's";
	return NULL;
}

/*
 * Each CPU has a good overflow interrupt, or none has.  Nothing is wrong with
 * tables that name none.
 */
static void
check_pmu_intids(void)
{
	const char *why = NULL;
	uint32_t intid = 0;
	bool any = machine.m_pmu_intid != 0;
	unsigned n = machine_ncpu(), bad = 0;

	for (unsigned i = 0; i < n; i++)
		any |= machine.m_cpu[i].mu_pmu_intid != 0;
	if (!any)
		return;
	for (unsigned i = 0; i < n && why == NULL; i++) {
		bad = i;
		intid = machine_pmu_intid(machine.m_cpu[i].mu_mpidr);
		why = bad_pmu_intid(i, intid);
	}
	if (n == 0)
		why = bad_pmu_intid(0, intid = machine.m_pmu_intid);
	if (why == NULL)
		return;
	printf("cpu: %s: the PMU's interrupt of CPU %#lx (%u) %s: overflows do "
	       "not interrupt\n",
	    machine.m_tables, (unsigned long)machine.m_cpu[bad].mu_mpidr, intid,
	    why);
	machine.m_pmu_intid = 0;
	for (unsigned i = 0; i < n; i++)
		machine.m_cpu[i].mu_pmu_intid = 0;
}

void
machine_check(const struct bootinfo *bi, uint64_t self)
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
	if (machine.m_timer_intid < FIRST_PPI ||
	    machine.m_timer_intid >= FIRST_SPI) {
		printf("cpu: %s: no PPI for the virtual timer: %u is used\n",
		    tables, TIMER_BSA);
		machine.m_timer_intid = TIMER_BSA;
	}
	check_releases(bi, self);
	check_pmu_intids();
}
