/*
 * Kernel stacks: each the lower half of a slot of its own address range, the
 * upper half of the slot below being its guard.
 */
#include "arch/arm64/arm64.h"
#include "arch/arm64/pt.h"
#include "arch/arm64/sysreg.h"
#include "kern/arch.h"
#include "kern/lock.h"
#include "kern/page.h"
#include "lib/printf.h"

#define NSLOT       2048
#define STACK_ORDER (KSTACK_SHIFT - PAGE_SHIFT)
#define FIRST_SLOT  2 /* behind the boot CPU's two */

_Static_assert(KSTACK_BYTES == 1UL << KSTACK_SHIFT, "kern/arch.h, asm.h");

static struct {
	struct spinlock lock;
	unsigned next; /* search from here */
	bool used[NSLOT];
} slots = { .next = FIRST_SLOT };

/*
 * Make the tables of the whole range once, so that stacks come and go
 * without taking or giving back any other page.
 */
void
arm64_kstack_init(void)
{
	for (uintptr_t va = KSTACK_BASE; va < KSTACK_BASE + NSLOT * KSTACK_SLOT;
	     va += LARGE_SIZE) {
		size_t bytes;
		uint64_t *e = arm64_pt_leaf(arm64_roots.r_kernel, va, &bytes);

		if (bytes > LARGE_SIZE)
			panic("kstack: no level 2 table");
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

static int
slot_alloc(void)
{
	int found = -1;

	lock_acquire(&slots.lock);
	for (unsigned n = FIRST_SLOT; n < NSLOT && found < 0; n++) {
		if (slots.next >= NSLOT)
			slots.next = FIRST_SLOT;
		if (!slots.used[slots.next]) {
			slots.used[slots.next] = true;
			found = (int)slots.next;
		}
		slots.next++;
	}
	lock_release(&slots.lock);
	return found;
}

/*
 * Cleared, though nothing relies on it: QEMU keeps what it translated of code
 * that was in these pages before, and while any is left makes every store to
 * the page some twenty times slower.
 */
void *
kstack_alloc(void)
{
	void *pages = page_zalloc(STACK_ORDER);
	uintptr_t va;
	int slot;

	if (pages == NULL)
		return NULL;
	if ((slot = slot_alloc()) < 0) {
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
	uint64_t pa =
	    *arm64_pt_leaf(arm64_roots.r_kernel, va, &bytes) & PT_ADDR;

	for (uintptr_t p = va; p < va + KSTACK_BYTES; p += PAGE_SIZE) {
		*arm64_pt_leaf(arm64_roots.r_kernel, p, &bytes) = 0;
		dsb(ishst);
		__asm__ volatile("tlbi vaae1is, %0" : : "r"(FIELD(p, 55, 12)));
	}
	dsb(ish);
	isb();
	page_free(pa_to_va(pa), STACK_ORDER);
	lock_acquire(&slots.lock);
	slots.used[(va - KSTACK_BASE) / KSTACK_SLOT] = false;
	lock_release(&slots.lock);
}
