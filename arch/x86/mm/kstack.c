/*
 * Kernel stacks.  They have an address range of their own, cut into slots.  A
 * stack is the lower half of its slot, and the upper half of the slot below is
 * its guard.
 *
 * Slots are used again, and the TLB of another CPU may hold an old translation
 * of one.  So a CPU calls x86_kstack_fresh() before it first runs on a stack.
 */
#include "arch/x86/insn.h"
#include "arch/x86/mm/pt.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/mm/id_pool.h"
#include "kern/mm/page.h"
#include "kern/platform/bootinfo.h"
#include "lib/printf.h"

#define NSLOT       ID_POOL_MAX
#define STACK_ORDER (KSTACK_SHIFT - PAGE_SHIFT)
#define FIRST_SLOT  (1 + NIST) /* after the boot CPU's stacks */

_Static_assert(KSTACK_BYTES == 1UL << KSTACK_SHIFT, "kern/arch.h, asm.h");

extern char x86_boot_stack[], _start[];

static struct id_pool slots = { .id_fresh = FIRST_SLOT, .id_limit = NSLOT };

static uintptr_t
slot_va(unsigned slot)
{
	return KSTACK_BASE + (uintptr_t)slot * KSTACK_SLOT;
}

static void
map_slot(unsigned slot, uint64_t pa)
{
	x86_pt_map(
	    x86_root, slot_va(slot), pa, KSTACK_BYTES, PT_KERN_RW, PAGE_SIZE);
}

/*
 * Make the page tables of all slots, so that a stack never needs another page.
 * Then map the boot CPU's stacks.
 */
void
x86_kstack_init(struct bootinfo *bi)
{
	x86_pt_tables(x86_root, KSTACK_BASE, NSLOT * KSTACK_SLOT);
	map_slot(0, x86_image_pa + (uint64_t)(x86_boot_stack - _start));
	for (unsigned i = 1; i <= NIST; i++) {
		uint64_t pa =
		    bootinfo_take(bi, KSTACK_BYTES, PAGE_SIZE, 0, 1ULL << 32);

		if (pa == 0)
			panic("mem: no room for the boot CPU's stacks: give "
			      "the machine more memory");
		map_slot(i, pa);
	}
}

uintptr_t
x86_boot_ist(unsigned n)
{
	return slot_va(n) + KSTACK_BYTES;
}

void *
kstack_alloc(void)
{
	void *pages = page_alloc(STACK_ORDER);
	unsigned slot;

	if (pages == NULL)
		return NULL;
	if ((slot = id_pool_take(&slots)) == 0) {
		page_free(pages, STACK_ORDER);
		return NULL;
	}
	map_slot(slot, va_to_pa(pages));
	x86_kstack_fresh((void *)slot_va(slot));
	return (void *)slot_va(slot);
}

void
kstack_free(void *base)
{
	uintptr_t va = (uintptr_t)base;
	size_t bytes;
	uint64_t *e = x86_pt_leaf(x86_root, va, &bytes), pa = *e & PT_ADDR;

	/* The size of a slot is a power of two, so one table has all of it. */
	for (unsigned i = 0; i < 1U << STACK_ORDER; i++)
		e[i] = 0;
	x86_kstack_fresh(base);
	page_free(pa_to_va(pa), STACK_ORDER);
	id_pool_give(&slots, (unsigned)((va - KSTACK_BASE) / KSTACK_SLOT));
}

void
x86_kstack_fresh(void *base)
{
	uintptr_t va = (uintptr_t)base;

	for (uintptr_t p = va; p < va + KSTACK_BYTES; p += PAGE_SIZE)
		invlpg(p);
}
