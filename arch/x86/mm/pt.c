/*
 * Page tables of four levels.
 *
 * Intel SDM vol. 3A, "4-Level Paging and 5-Level Paging".
 */
#include "arch/x86/mm/pt.h"

#include "arch/x86/insn.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/mm/as.h"
#include "kern/mm/page.h"
#include "kern/platform/bootinfo.h"
#include "lib/printf.h"
#include "lib/string.h"

#define CHUNK 8 /* tables taken from the boot map at once */

uint64_t x86_nx;
uint64_t x86_root;

static struct {
	struct bootinfo *bi;
	uint64_t next;
	unsigned left;
} early;

void
x86_pt_begin_early(struct bootinfo *bi)
{
	early.bi = bi;
}

void
x86_pt_end_early(void)
{
	early.bi = NULL;
}

static uint64_t
new_early(void)
{
	if (early.left == 0) {
		early.next = bootinfo_take(
		    early.bi, CHUNK * PAGE_SIZE, PAGE_SIZE, 0, 1ULL << 32);
		if (early.next == 0)
			panic("mem: no room below 4 GiB for page tables: give "
			      "the machine more memory");
		early.left = CHUNK;
	}
	uint64_t pa = early.next;
	early.next += PAGE_SIZE;
	early.left--;
	memset(pa_to_va(pa), 0, PAGE_SIZE);
	return pa;
}

uint64_t
x86_pt_new(void)
{
	void *t;

	if (early.bi != NULL)
		return new_early();
	if ((t = page_zalloc(0)) == NULL)
		return 0;
	page_ntables++;
	return va_to_pa(t);
}

static uint64_t *
pt_va(uint64_t pa)
{
	return pa_to_va(pa);
}

static bool
pt_is_table(uint64_t entry, unsigned level)
{
	return level > 0 && (entry & (PT_P | PT_PS)) == PT_P;
}

static uint64_t
pt_leaf_bits(unsigned level)
{
	return level > 0 ? PT_PS : 0;
}

/* Only the leaves restrict rights. */
static uint64_t
pt_table_bits(uintptr_t va)
{
	return PT_P | PT_W | PT_A | (va < USER_TOP ? PT_U : 0);
}

/* The table's contents are stored before. */
static void
pt_link(uint64_t *e, uint64_t v)
{
	__atomic_store_n(e, v, __ATOMIC_RELEASE);
}

/*
 * Intel SDM vol. 3A, "Caching Translation Information" (paging-structure
 * caches), "Recommended Invalidation".
 */
static void
pt_forget(uint64_t root, uintptr_t va)
{
	x86_flush_others(root);
	invlpg(va);
}

static void
pt_sync(void)
{
}

#include "kern/mm/pt_walk.h"
