/*
 * Kernel stacks.  They have a range of addresses of their own, cut into slots.
 * A stack is the lower half of its slot, and the upper half of the slot below
 * is its guard.
 */
#include "kern/arch.h"
#include "kern/mm/page.h"
#include "kern/platform/lock.h"

#define STACK_ORDER (KSTACK_SHIFT - PAGE_SHIFT)

_Static_assert(KSTACK_BYTES == 1UL << KSTACK_SHIFT, "kern/arch.h, asm.h");

/*
 * Slots that were given back are in a ring, because a search would slow down
 * the creation of an LWP among many.  The first slots are the boot CPU's.
 */
static struct {
	struct spinlock lock;
	unsigned fresh;        /* this slot and all above were never in use */
	unsigned taken, given; /* positions in back, ever growing */
	uint16_t back[KSTACK_SLOTS];
} slots = { .fresh = KSTACK_FIRST };

/* The slot that was given back first, or 0: all are in use. */
static unsigned
take_slot(void)
{
	unsigned slot = 0;

	lock_acquire(&slots.lock);
	if (slots.fresh < KSTACK_SLOTS)
		slot = slots.fresh++;
	else if (slots.taken != slots.given)
		slot = slots.back[slots.taken++ % KSTACK_SLOTS];
	lock_release(&slots.lock);
	return slot;
}

void *
kstack_alloc(void)
{
	void *pages = page_alloc(STACK_ORDER);
	unsigned slot;

	if (pages == NULL)
		return NULL;
	if ((slot = take_slot()) == 0) {
		page_free(pages, STACK_ORDER);
		return NULL;
	}
	uintptr_t va = KSTACK_BASE + (uintptr_t)slot * KSTACK_SLOT;
	arch_kstack_map(va, va_to_pa(pages));
	return (void *)va;
}

void
kstack_free(void *base)
{
	uintptr_t va = (uintptr_t)base;

	page_free(pa_to_va(arch_kstack_unmap(va)), STACK_ORDER);
	lock_acquire(&slots.lock);
	slots.back[slots.given++ % KSTACK_SLOTS] =
	    (uint16_t)((va - KSTACK_BASE) / KSTACK_SLOT);
	lock_release(&slots.lock);
}
