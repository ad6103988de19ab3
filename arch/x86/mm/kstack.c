/*
 * Maps kernel stacks.  Slots are used again, and the TLB of another CPU may
 * hold an old translation of one.  So a CPU calls x86_kstack_fresh() before it
 * first runs on a stack.
 */
#include "arch/x86/insn.h"
#include "arch/x86/mm/pt.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/platform/bootinfo.h"
#include "lib/printf.h"

extern char x86_boot_stack[], _start[];

static uintptr_t
slot_va(unsigned slot)
{
	return KSTACK_BASE + (uintptr_t)slot * KSTACK_SLOT;
}

void
arch_kstack_map(uintptr_t va, uint64_t pa)
{
	x86_pt_map(x86_root, va, pa, KSTACK_BYTES, PT_KERN_RW, PAGE_SIZE);
	x86_kstack_fresh((void *)va);
}

/*
 * Make the page tables of all slots, so that a stack never needs another page.
 * Then map the boot CPU's stacks.
 */
void
x86_kstack_init(struct bootinfo *bi)
{
	x86_pt_tables(x86_root, KSTACK_BASE, KSTACK_SLOTS * KSTACK_SLOT);
	arch_kstack_map(
	    slot_va(0), x86_image_pa + (uint64_t)(x86_boot_stack - _start));
	for (unsigned i = 1; i <= NIST; i++) {
		uint64_t pa =
		    bootinfo_take(bi, KSTACK_BYTES, PAGE_SIZE, 0, 1ULL << 32);

		if (pa == 0)
			panic("mem: no room for the boot CPU's stacks: give "
			      "the machine more memory");
		arch_kstack_map(slot_va(i), pa);
	}
}

uintptr_t
x86_boot_ist(unsigned n)
{
	return slot_va(n) + KSTACK_BYTES;
}

uint64_t
arch_kstack_unmap(uintptr_t va)
{
	size_t bytes;
	uint64_t *e = x86_pt_leaf(x86_root, va, &bytes), pa = *e & PT_ADDR;

	/* The size of a slot is a power of two, so one table has all of it. */
	for (unsigned i = 0; i < KSTACK_BYTES / PAGE_SIZE; i++)
		e[i] = 0;
	x86_kstack_fresh((void *)va);
	return pa;
}

void
x86_kstack_fresh(void *base)
{
	uintptr_t va = (uintptr_t)base;

	for (uintptr_t p = va; p < va + KSTACK_BYTES; p += PAGE_SIZE)
		invlpg(p);
}
