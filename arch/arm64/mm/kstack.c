/*
 * Kernel stacks.  Each is the lower half of a slot in a range of addresses of
 * their own.  The upper half of the slot below is its guard.
 * Arm ARM (DDI 0487), "TLB maintenance instructions" (VAAE1IS).
 */
#include "arch/arm64/arm64.h"
#include "arch/arm64/mm/pt.h"
#include "arch/arm64/sysreg.h"
#include "kern/arch.h"
#include "kern/mm/id_pool.h"
#include "kern/mm/page.h"
#include "lib/printf.h"

#define NSLOT       ID_POOL_MAX
#define STACK_ORDER (KSTACK_SHIFT - PAGE_SHIFT)
#define FIRST_SLOT  2 /* the first two are the boot CPU's */

_Static_assert(KSTACK_BYTES == 1UL << KSTACK_SHIFT, "kern/arch.h, asm.h");

static struct id_pool slots = { .id_fresh = FIRST_SLOT, .id_limit = NSLOT };

/*
 * Make the page tables of the whole range once.  Then allocating and freeing
 * a stack changes no other page count, which leak checks rely on.
 */
void
arm64_kstack_init(void)
{
	for (uintptr_t va = KSTACK_BASE; va < KSTACK_BASE + NSLOT * KSTACK_SLOT;
	     va += LARGE_SIZE) {
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

void *
kstack_alloc(void)
{
	void *pages = page_alloc(STACK_ORDER);
	uintptr_t va;
	unsigned slot;

	if (pages == NULL)
		return NULL;
	if ((slot = id_pool_take(&slots)) == 0) {
		page_free(pages, STACK_ORDER);
		return NULL;
	}
	va = KSTACK_BASE + (uintptr_t)slot * KSTACK_SLOT;
	arm64_pt_map(arm64_roots.r_kernel, va, va_to_pa(pages), KSTACK_BYTES,
	    PT_KERN_RW, PAGE_SIZE);
	return (void *)va;
}

void
kstack_free(void *base)
{
	uintptr_t va = (uintptr_t)base;
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
	page_free(pa_to_va(pa), STACK_ORDER);
	id_pool_give(&slots, (unsigned)((va - KSTACK_BASE) / KSTACK_SLOT));
}
