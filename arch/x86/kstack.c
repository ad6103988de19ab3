/*
 * Kernel stacks: each the lower half of a slot of its own address range, the
 * upper half of the slot below being its guard.
 *
 * Another CPU may remember who used a slot earlier.  A CPU that is about to
 * run on a stack for the first time forgets it: see x86_kstack_fresh().
 */
#include "arch/x86/insn.h"
#include "arch/x86/pt.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/bootinfo.h"
#include "kern/lock.h"
#include "kern/page.h"
#include "lib/printf.h"

#define NSLOT       2048
#define STACK_ORDER (KSTACK_SHIFT - PAGE_SHIFT)
#define FIRST_SLOT  (1 + NIST) /* behind the boot CPU's */

_Static_assert(KSTACK_BYTES == 1UL << KSTACK_SHIFT, "kern/arch.h, asm.h");

extern char x86_boot_stack[], _start[];

static struct {
	struct spinlock lock;
	unsigned next; /* search from here */
	bool used[NSLOT];
} slots = { .next = FIRST_SLOT };

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
 * All tables at once, so that stacks come and go without taking or giving
 * back any other page; and the boot CPU's stacks.
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
			panic("mem: no room for the boot CPU's stacks");
		map_slot(i, pa);
	}
}

uintptr_t
x86_boot_ist(unsigned n)
{
	return slot_va(n) + KSTACK_BYTES;
}

static unsigned
slot_alloc(void)
{
	unsigned found = 0;

	lock_acquire(&slots.lock);
	for (unsigned n = FIRST_SLOT; n < NSLOT && found == 0; n++) {
		if (slots.next >= NSLOT)
			slots.next = FIRST_SLOT;
		if (!slots.used[slots.next]) {
			slots.used[slots.next] = true;
			found = slots.next;
		}
		slots.next++;
	}
	lock_release(&slots.lock);
	return found;
}

void *
kstack_alloc(void)
{
	void *pages = page_alloc(STACK_ORDER);
	unsigned slot;

	if (pages == NULL)
		return NULL;
	if ((slot = slot_alloc()) == 0) {
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
	uint64_t pa = *x86_pt_leaf(x86_root, va, &bytes) & PT_ADDR;

	for (uintptr_t p = va; p < va + KSTACK_BYTES; p += PAGE_SIZE)
		*x86_pt_leaf(x86_root, p, &bytes) = 0;
	x86_kstack_fresh(base);
	page_free(pa_to_va(pa), STACK_ORDER);
	lock_acquire(&slots.lock);
	slots.used[(va - KSTACK_BASE) / KSTACK_SLOT] = false;
	lock_release(&slots.lock);
}

void
x86_kstack_fresh(void *base)
{
	uintptr_t va = (uintptr_t)base;

	for (uintptr_t p = va; p < va + KSTACK_BYTES; p += PAGE_SIZE)
		invlpg(p);
}
