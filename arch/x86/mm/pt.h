/*
 * Page tables as the hardware walks them.  Included by arch/x86/.
 */
#ifndef ARCH_X86_MM_PT_H
#define ARCH_X86_MM_PT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bootinfo;

/*
 * Entries of four-level paging.
 * Intel SDM vol. 3A, "4-Level Paging and 5-Level Paging".
 */
#define PT_P       (1ULL << 0)
#define PT_W       (1ULL << 1)
#define PT_U       (1ULL << 2)
#define PT_PWT     (1ULL << 3)
#define PT_PCD     (1ULL << 4)
#define PT_A       (1ULL << 5)
#define PT_D       (1ULL << 6)
#define PT_PS      (1ULL << 7) /* a leaf above level 0 */
#define PT_G       (1ULL << 8)
#define PT_NX      (1ULL << 63)
#define PT_ADDR    0x000ffffffffff000ULL
#define PT_ENTRIES 512

/*
 * Leaves.  Accessed and dirty are set beforehand, so that no page costs an
 * assist of the processor in the middle of a measurement.
 */
#define PT_LEAF    (PT_P | PT_A | PT_D)
#define PT_KERN_RX (PT_LEAF | PT_G)
#define PT_KERN_R  (PT_LEAF | PT_G | x86_nx)
#define PT_KERN_RW (PT_LEAF | PT_G | PT_W | x86_nx)
/* Strong uncacheable, whatever the PAT: entry 3 is UC out of reset. */
#define PT_DEVICE (PT_KERN_RW | PT_PCD | PT_PWT)

extern uint64_t x86_nx;   /* PT_NX where the CPU has it */
extern uint64_t x86_root; /* the kernel's own, physical, below 4 GiB */

/*
 * Until x86_pt_end_early(), tables come out of the boot map, below 4 GiB;
 * then from the page allocator.
 */
void x86_pt_begin_early(struct bootinfo *bi);
void x86_pt_end_early(void);

/* A cleared table's physical address; 0 where memory is out. */
uint64_t x86_pt_new(void);

/*
 * Map [va, va + len) to pa onwards, page multiples all, with the largest
 * leaves up to `max` bytes that alignment allows.  Nothing is mapped there
 * yet.  Returns how many bytes were mapped: len, or less for want of memory.
 */
size_t x86_pt_map(uint64_t root, uintptr_t va, uint64_t pa, size_t len,
    uint64_t attr, size_t max);

/*
 * The entry that maps va, and how many bytes it covers; one without PT_P
 * where nothing does.
 */
uint64_t *x86_pt_leaf(uint64_t root, uintptr_t va, size_t *bytes);

/*
 * The entry of the page behind that of e, which maps as many bytes; NULL
 * where it is in another table.
 */
static inline uint64_t *
x86_pt_next(uint64_t *e, size_t bytes)
{
	const size_t page = PT_ENTRIES * sizeof *e; /* a table's, too */

	e++;
	return bytes == page && (uintptr_t)e % page != 0 ? e : NULL;
}

/* Turn the large leaf at va into a table of 4 KiB ones.  False: no memory. */
bool x86_pt_split(uint64_t root, uintptr_t va);

/* Make all tables down to level 0 for the range. */
bool x86_pt_tables(uint64_t root, uintptr_t va, size_t len);

/* Free the tables of the lower half, and the root. */
void x86_pt_free(uint64_t root);

#endif /* ARCH_X86_MM_PT_H */
