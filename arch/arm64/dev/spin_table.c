/*
 * Starts CPUs that wait in firmware's spin table.
 *
 * The CPU waits by WFE until the 64-bit word at its cpu-release-addr is not 0.
 * Then it jumps to that address, with x0 to x3 zero.  Several CPUs may wait for
 * one word (U-Boot), and all leave firmware at once.  So each CPU compares its
 * MPIDR_EL1 with arm64_released, and waits until that names it:
 *
 *     writer                          the CPU, MMU off
 *     r_context, then r_mpidr         leaves firmware; waits for r_mpidr
 *     the release word, SEV           loads r_context, enters C
 *     (waits until it is online)
 *
 * Caches of the CPU are off, so each store is cleaned to the point of
 * coherency before the next.
 *
 * Linux, Documentation/arm64/booting.rst, "CPUs with a spin-table
 * enable-method"; Devicetree Specification, "cpu-release-addr".
 */
#include <stddef.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/machine.h"
#include "arch/arm64/mmio.h"
#include "kern/arch.h"

/* Not the affinity of any CPU. */
#define NO_CPU ~0ULL

struct released arm64_released = { NO_CPU, 0 };

_Static_assert(offsetof(struct released, r_mpidr) == R_MPIDR, "asm.h");
_Static_assert(offsetof(struct released, r_context) == R_CONTEXT, "asm.h");

static void
publish(volatile uint64_t *word, uint64_t v)
{
	mmio_write64(word, v);
	arch_clean((const void *)word, sizeof(uint64_t));
}

const char *
spin_table_release(const struct machine_cpu *mc, uint64_t context)
{
	volatile uint64_t *word =
	    machine_is_ram(machine.m_boot, mc->mu_release)
		? pa_to_va(mc->mu_release)
		: arch_map_device(mc->mu_release, sizeof(uint64_t));

	if (word == NULL)
		return "its cpu-release-addr cannot be mapped";
	publish(&arm64_released.r_context, context);
	publish(&arm64_released.r_mpidr, mc->mu_mpidr);
	publish(word, arm64_image_pa((const void *)arm64_released_entry));
	__asm__ volatile("sev" : : : "memory");
	return NULL;
}
