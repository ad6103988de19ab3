/* Page tables of the hardware.  Included by arch/x86/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PT_FN(name) x86_pt_##name
#include "kern/mm/pt.h"

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
#define PT_PRESENT PT_P
/* The root's entries below the kernel's half. */
#define PT_ROOT_ENTRIES 256

/*
 * Leaves.  Their accessed and dirty bits are set from the start.  Otherwise the
 * processor would set them in the middle of a measurement.
 */
#define PT_LEAF    (PT_P | PT_A | PT_D)
#define PT_KERN_RX (PT_LEAF | PT_G)
#define PT_KERN_R  (PT_LEAF | PT_G | x86_nx)
#define PT_KERN_RW (PT_LEAF | PT_G | PT_W | x86_nx)
/* Entries 3 and 1 of the PAT (PAT_ENTRIES): UC and write-combining. */
#define PT_DEVICE (PT_KERN_RW | PT_PCD | PT_PWT)
#define PT_SCREEN (PT_KERN_RW | PT_PWT)

extern uint64_t x86_nx;   /* PT_NX, or 0 if the CPU lacks it */
extern uint64_t x86_root; /* the kernel's root, physical, below 4 GiB */

/*
 * Until x86_pt_end_early(), tables come from the memory map of the boot, below
 * 4 GiB.  After it, they come from the page allocator.
 */
void x86_pt_begin_early(struct bootinfo *bi);
void x86_pt_end_early(void);
