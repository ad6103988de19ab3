/*
 * Page tables as the hardware walks them.  Included by arch/arm64/.
 */
#ifndef ARCH_ARM64_MM_PT_H
#define ARCH_ARM64_MM_PT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arm64/asm.h"

/*
 * Descriptors of stage 1, 4 KiB granule.
 * Arm ARM (DDI 0487), "VMSAv8-64 translation table format descriptors".
 */
#define PT_VALID   (1ULL << 0)
#define PT_TABLE   (1ULL << 1) /* at level 3: a page */
#define PT_ATTR(n) ((uint64_t)(n) << 2)
#define PT_USER    (1ULL << 6) /* AP[1]: EL0 too */
#define PT_RO      (1ULL << 7) /* AP[2] */
#define PT_SHARED  (3ULL << 8) /* inner shareable */
#define PT_AF      (1ULL << 10)
#define PT_NG      (1ULL << 11) /* belongs to an ASID */
#define PT_PXN     (1ULL << 53)
#define PT_UXN     (1ULL << 54)
#define PT_ADDR    0x0000fffffffff000ULL
#define PT_ENTRIES 512

/* Leaves of the kernel's own; none is executable at EL0. */
#define PT_NORMAL  (PT_AF | PT_SHARED | PT_UXN | PT_ATTR(MAIR_NORMAL))
#define PT_KERN_RX (PT_NORMAL | PT_RO)
#define PT_KERN_R  (PT_NORMAL | PT_RO | PT_PXN)
#define PT_KERN_RW (PT_NORMAL | PT_PXN)
#define PT_DEVICE  (PT_AF | PT_UXN | PT_PXN | PT_ATTR(MAIR_DEVICE))

/*
 * The roots, physical: what TTBR0_EL1 and TTBR1_EL1 hold while a CPU turns
 * its MMU on, and a table with no mapping in it for TTBR0_EL1 ever after.
 */
struct arm64_roots {
	uint64_t r_identity;
	uint64_t r_kernel;
	uint64_t r_empty;
};
extern struct arm64_roots arm64_roots;

/*
 * pt.c works with the MMU off as well as on, and before the page allocator:
 * tables come out of the image while there are any, and none of those that
 * may be freed does, after arm64_pt_use_allocator().
 */
extern uint64_t arm64_kern_pa; /* where the image is */
void arm64_pt_use_allocator(void);
/* How many tables are left before that, and n more, cleared and mapped. */
unsigned arm64_pt_left(void);
void arm64_pt_give(uint64_t *tables, unsigned n);

/* A cleared table, as its physical address; 0 where memory is out. */
uint64_t arm64_pt_new(void);
/* The table at a physical address. */
uint64_t *arm64_pt_va(uint64_t pa);

/*
 * Map [va, va + len) to pa onwards, page multiples all, with the largest
 * leaves up to `max` bytes that alignment allows.  What is mapped already
 * stays.  False where memory for a table is out: part may be mapped.
 */
bool arm64_pt_map(uint64_t root, uintptr_t va, uint64_t pa, size_t len,
    uint64_t attr, size_t max);

/*
 * The entry that maps va, and how many bytes it covers; an invalid entry
 * where nothing does.
 */
uint64_t *arm64_pt_leaf(uint64_t root, uintptr_t va, size_t *bytes);

/*
 * The entry of the page behind that of e, which maps as many bytes; NULL
 * where it is in another table.
 */
static inline uint64_t *
arm64_pt_next(uint64_t *e, size_t bytes)
{
	const size_t page = PT_ENTRIES * sizeof *e; /* a table's, too */

	e++;
	return bytes == page && (uintptr_t)e % page != 0 ? e : NULL;
}

#endif /* ARCH_ARM64_MM_PT_H */
