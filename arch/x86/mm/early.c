/*
 * The direct map that start.S makes: the first 4 GiB.  A loader may hand over
 * data above them: kexec-tools take the highest memory.  It is mapped here
 * until mmu.c makes the whole direct map.
 *
 * Intel SDM vol. 3A, "4-Level Paging and 5-Level Paging".
 */
#include <stddef.h>
#include <stdint.h>

#include "arch/x86/mm/pt.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"

#define GIB_SHIFT 30
#define NGIB      4 /* that can be added */

extern uint64_t x86_early_pdpt[PT_ENTRIES]; /* start.S */

/* Map the GiB with this number, unless it is mapped. */
static bool
map_gib(uint64_t gib)
{
	static uint64_t pd[NGIB][PT_ENTRIES] __attribute__((aligned(4096)));
	static unsigned used;

	if (gib >= PT_ENTRIES)
		return false;
	if (x86_early_pdpt[gib] != 0)
		return true;
	if (used == NGIB)
		return false;
	for (uint64_t i = 0; i < PT_ENTRIES; i++)
		pd[used][i] =
		    (gib << GIB_SHIFT | i * LARGE_SIZE) | PT_P | PT_PS;
	uint64_t pa = x86_image_pa + ((uintptr_t)pd[used++] - IMAGE_BASE);
	x86_early_pdpt[gib] = pa | PT_P;
	return true;
}

const void *
x86_early_ptr(uint64_t pa, uint64_t bytes)
{
	uint64_t last = pa + bytes - 1;

	if (pa == 0 || bytes == 0 || last < pa)
		return NULL;
	for (uint64_t g = pa >> GIB_SHIFT; g <= last >> GIB_SHIFT; g++) {
		if (!map_gib(g))
			return NULL;
	}
	return (const void *)(DIRECT_BASE + pa);
}
