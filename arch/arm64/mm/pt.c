/*
 * Page tables.  All of this also runs before the MMU is on.  So it only uses
 * symbols of the image, which the compiler addresses relative to the PC, and
 * it is compiled with -mstrict-align.
 */
#include "arch/arm64/mm/pt.h"

#include "arch/arm64/sysreg.h"
#include "kern/arch.h"
#include "kern/mm/as.h"
#include "kern/mm/page.h"

#define EARLY_TABLES 32
#define EARLY        __attribute__((section(".bss.early")))

extern char _start[], __kern_end[];

static uint64_t early_table[EARLY_TABLES][PT_ENTRIES] EARLY
    __attribute__((aligned(4096)));
static struct {
	uint64_t *next;
	unsigned left;
} given EARLY; /* used before early_table */
static unsigned early_used EARLY;
static bool use_allocator EARLY;
uint64_t arm64_kern_pa EARLY;
struct arm64_roots arm64_roots EARLY;

void
arm64_pt_use_allocator(void)
{
	use_allocator = true;
}

void
arm64_pt_give(uint64_t *tables, unsigned n)
{
	given.next = tables;
	given.left = n;
}

unsigned
arm64_pt_left(void)
{
	return given.left + EARLY_TABLES - early_used;
}

uint64_t
arm64_pt_new(void)
{
	uint64_t *t;

	if (!use_allocator && given.left > 0) {
		given.left--;
		t = given.next;
		given.next += PT_ENTRIES;
		return va_to_pa(t);
	}
	if (!use_allocator && early_used < EARLY_TABLES) {
		t = early_table[early_used++];
		return arm64_kern_pa + (uint64_t)((char *)t - _start);
	}
	if ((t = page_zalloc(0)) == NULL)
		return 0;
	page_ntables++;
	return va_to_pa(t);
}

static uint64_t *
pt_va(uint64_t pa)
{
	uint64_t offset = pa - arm64_kern_pa;

	/* The image is mapped before the direct map exists. */
	if (offset < (uint64_t)(__kern_end - _start))
		return (uint64_t *)(_start + offset);
	return pa_to_va(pa);
}

static bool
pt_is_table(uint64_t entry, unsigned level)
{
	return level > 0 &&
	       (entry & (PT_VALID | PT_TABLE)) == (PT_VALID | PT_TABLE);
}

static uint64_t
pt_leaf_bits(unsigned level)
{
	return PT_VALID | (level > 0 ? 0 : PT_TABLE);
}

static uint64_t
pt_table_bits(uintptr_t va)
{
	(void)va;
	return PT_VALID | PT_TABLE;
}

/* The walker must see a cleared table. */
static void
pt_link(uint64_t *e, uint64_t v)
{
	dsb(ishst);
	*e = v;
}

static void
pt_forget(uint64_t root, uintptr_t va)
{
	(void)root;
	arm64_flush_table(va);
}

static void
pt_sync(void)
{
	dsb(ishst);
	isb();
}

#include "kern/mm/pt_walk.h"
