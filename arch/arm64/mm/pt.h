/* Page tables as the hardware walks them.  Included by arch/arm64/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arm64/asm.h"

#define PT_FN(name) arm64_pt_##name
#include "kern/mm/pt.h"

/*
 * Descriptors of stage 1, 4 KiB granule.
 * Arm ARM (DDI 0487), "VMSAv8-64 translation table format descriptors".
 */
#define PT_VALID        (1ULL << 0)
#define PT_TABLE        (1ULL << 1) /* at level 3: a page */
#define PT_ATTR(n)      ((uint64_t)(n) << 2)
#define PT_USER         (1ULL << 6) /* AP[1]: EL0 too */
#define PT_RO           (1ULL << 7) /* AP[2] */
#define PT_SHARED       (3ULL << 8) /* inner shareable */
#define PT_AF           (1ULL << 10)
#define PT_NG           (1ULL << 11) /* not global: belongs to an ASID */
#define PT_PXN          (1ULL << 53)
#define PT_UXN          (1ULL << 54)
#define PT_ADDR         0x0000fffffffff000ULL
#define PT_PRESENT      PT_VALID
#define PT_ROOT_ENTRIES PT_ENTRIES

/* Attributes of the kernel's own leaves.  EL0 can execute none of them. */
#define PT_NORMAL  (PT_AF | PT_SHARED | PT_UXN | PT_ATTR(MAIR_NORMAL))
#define PT_KERN_RX (PT_NORMAL | PT_RO)
#define PT_KERN_R  (PT_NORMAL | PT_RO | PT_PXN)
#define PT_KERN_RW (PT_NORMAL | PT_PXN)
#define PT_DEVICE  (PT_AF | PT_UXN | PT_PXN | PT_ATTR(MAIR_DEVICE))
/* Writes to normal memory that no cache holds may be combined. */
#define PT_SCREEN (PT_AF | PT_UXN | PT_PXN | PT_ATTR(MAIR_UNCACHED))

/* Physical addresses of root tables.  boot/linux_image.S knows their order. */
struct arm64_roots {
	uint64_t r_identity; /* TTBR0_EL1 while a CPU turns its MMU on */
	uint64_t r_kernel;   /* TTBR1_EL1 */
	uint64_t r_empty;    /* TTBR0_EL1 when no payload's tables are used */
};
extern struct arm64_roots arm64_roots;

/*
 * pt.c works with the MMU off or on, and before the page allocator: until
 * arm64_pt_use_allocator() new tables come from the image.  Later tables come
 * from the allocator, so that they can be freed.
 */
extern uint64_t arm64_kern_pa; /* physical address of the image */
void arm64_pt_use_allocator(void);
/* The number of tables left before arm64_pt_use_allocator(). */
unsigned arm64_pt_left(void);
/* Add n tables to these, cleared and mapped. */
void arm64_pt_give(uint64_t *tables, unsigned n);

/*
 * mmu.c: forget the pointer to a table that was removed, at this address, in
 * every address space, on all CPUs.
 */
void arm64_flush_table(uintptr_t va);
