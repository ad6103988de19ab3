/*
 * Maps kernel stacks.
 * Arm ARM (DDI 0487), "TLB maintenance instructions" (VAAE1IS).
 */
#include "arch/arm64/arm64.h"
#include "arch/arm64/mm/pt.h"
#include "arch/arm64/sysreg.h"
#include "kern/arch.h"
#include "lib/printf.h"

/*
 * Make the page tables of the whole range once.  Then allocating and freeing
 * a stack changes no other page count, which leak checks rely on.
 */
void
arm64_kstack_init(void)
{
	for (uintptr_t va = KSTACK_BASE;
	     va < KSTACK_BASE + KSTACK_SLOTS * KSTACK_SLOT; va += LARGE_SIZE) {
		size_t bytes;
		uint64_t *e = arm64_pt_leaf(arm64_roots.r_kernel, va, &bytes);

		if (bytes > LARGE_SIZE)
			panic("kstack: no level 2 table at %#lx",
			    (unsigned long)va);
		if (bytes == LARGE_SIZE) {
			uint64_t table = arm64_pt_new();

			if (table == 0)
				panic("mem: no room for kernel stacks");
			dsb(ishst);
			*e = table | PT_TABLE | PT_VALID;
		}
	}
	dsb(ishst);
	isb();
}

void
arch_kstack_map(uintptr_t va, uint64_t pa)
{
	arm64_pt_map(
	    arm64_roots.r_kernel, va, pa, KSTACK_BYTES, PT_KERN_RW, PAGE_SIZE);
}

uint64_t
arch_kstack_unmap(uintptr_t va)
{
	size_t bytes;
	uint64_t *e = arm64_pt_leaf(arm64_roots.r_kernel, va, &bytes);
	uint64_t pa = *e & PT_ADDR;

	/* A slot is aligned to its size, so its entries are in one table. */
	for (uintptr_t p = va; p < va + KSTACK_BYTES; p += PAGE_SIZE) {
		*e++ = 0;
		dsb(ishst);
		__asm__ volatile("tlbi vaae1is, %0" : : "r"(FIELD(p, 55, 12)));
	}
	dsb(ish);
	isb();
	return pa;
}
