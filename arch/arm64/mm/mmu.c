/*
 * Address spaces: the kernel's direct map and device window, and the payloads'
 * address spaces, each with an ASID of its own.
 */
#include "arch/arm64/arm64.h"
#include "arch/arm64/machine.h"
#include "arch/arm64/mm/pt.h"
#include "arch/arm64/sysreg.h"
#include "kern/arch.h"
#include "kern/mm/as.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/errno.h"
#include "kern/platform/lock.h"
#include "lib/printf.h"
#include "lib/string.h"

#define GIB          (1UL << 30)
#define DEVICE_BYTES (0UL - DEVICE_BASE) /* size of the device window */

char *const arch_direct = (char *)DIRECT_BASE;
const uint64_t arch_direct_bytes = DEVICE_BASE - DIRECT_BASE;

/*
 * boot/linux_image.S sets TCR_EL1.AS if the CPU has ASIDs of 16 bits; else they
 * have 8.  ASID 0 is the kernel's.
 */
#define TCR_AS (1ULL << 36)
static struct {
	struct spinlock lock;
	uint8_t used[65536 / 8];
} asids;

/*
 * Drop TLB entries of one page on all CPUs.
 * Arm ARM (DDI 0487), "TLB maintenance instructions".
 */
static void
tlb_flush_page(uint64_t asid, uintptr_t va)
{
	uint64_t arg = asid << 48 | FIELD(va, 55, 12);

	__asm__ volatile("tlbi vae1is, %0" : : "r"(arg));
}

void
arm64_flush_table(uintptr_t va)
{
	dsb(ishst);
	__asm__ volatile("tlbi vaae1is, %0" : : "r"(FIELD(va, 55, 12)));
	dsb(ish);
	isb();
}

static bool
is_ram(const struct bootmem *m)
{
	return m->bm_type != BOOTMEM_DEVICE &&
	       m->bm_type != BOOTMEM_RUNTIME_DEVICE;
}

static void
map_ram(uint64_t from, uint64_t to)
{
	from &= -PAGE_SIZE;
	to = (to + PAGE_SIZE - 1) & -PAGE_SIZE;
	if (arm64_pt_map(arm64_roots.r_kernel, DIRECT_BASE + from, from,
		to - from, PT_KERN_RW, GIB) != to - from)
		panic("mem: no room for the direct map's tables");
}

/*
 * Provide page tables for the direct map.  Each end of a run of RAM may need a
 * table at each of three levels.  If the image has too few, take RAM for them
 * and map that first.
 */
static void
reserve_tables(struct bootinfo *bi)
{
	unsigned need = 6;
	uint64_t end = 0, pa;

	for (uint32_t i = 0; i < bi->bi_nmem; i++) {
		const struct bootmem *m = &bi->bi_mem[i];

		if (is_ram(m) && m->bm_base > end)
			need += 6;
		if (is_ram(m))
			end = m->bm_base + m->bm_len;
	}
	if (need <= arm64_pt_left())
		return;
	pa = bootinfo_take(bi, need * PAGE_SIZE, PAGE_SIZE, 0, ~0ULL);
	if (pa == 0)
		panic("mem: no room for the direct map's tables");
	map_ram(pa, pa + need * PAGE_SIZE);
	memset(pa_to_va(pa), 0, need * PAGE_SIZE);
	arm64_pt_give(pa_to_va(pa), need);
}

/* Map all RAM, of every type.  Adjacent ranges are mapped as one. */
static void
map_direct(const struct bootinfo *bi)
{
	uint64_t from = 0, to = 0;

	for (uint32_t i = 0; i < bi->bi_nmem; i++) {
		const struct bootmem *m = &bi->bi_mem[i];

		if (!is_ram(m))
			continue;
		if (m->bm_base > to) {
			map_ram(from, to);
			from = m->bm_base;
		}
		to = m->bm_base + m->bm_len;
	}
	map_ram(from, to);
}

void
arm64_drop_identity(void)
{
	arch_as_switch(NULL);
	__asm__ volatile("tlbi vmalle1" : : : "memory");
	dsb(nsh);
	isb();
}

void
arch_init_early(struct bootinfo *bi)
{
	reserve_tables(bi);
	map_direct(bi);
	/* From here on the loader's data is read through the direct map. */
	arm64_drop_identity();
	if (machine_from_fdt(bi) || machine_from_acpi(bi))
		machine_check(bi, read_sysreg(mpidr_el1) & MPIDR_AFFINITY);
	bcm_pm_init();
}

uint64_t
arm64_image_pa(const void *p)
{
	return arm64_kern_pa + ((uintptr_t)p - KERN_LINK);
}

static volatile void *
map_window(uint64_t pa, size_t len, uint64_t attr)
{
	uint64_t from = pa & -PAGE_SIZE;
	uint64_t to = (pa + len + PAGE_SIZE - 1) & -PAGE_SIZE;

	if (pa >= DEVICE_BYTES || len > DEVICE_BYTES - pa ||
	    arm64_pt_map(arm64_roots.r_kernel, DEVICE_BASE + from, from,
		to - from, attr, LARGE_SIZE) != to - from)
		return NULL;
	return (volatile void *)(DEVICE_BASE + pa);
}

volatile void *
arch_map_device(uint64_t pa, size_t len)
{
	return map_window(pa, len, PT_DEVICE);
}

volatile void *
arch_map_screen(uint64_t pa, size_t len)
{
	return map_window(pa, len, PT_SCREEN);
}

/* Kernel stacks (kern/mm/kstack.c) */

/*
 * Make the page tables of the whole range once.  Then allocating and freeing
 * a stack changes no other page count, which leak checks rely on.
 */
void
arm64_kstack_init(void)
{
	if (!arm64_pt_tables(
		arm64_roots.r_kernel, KSTACK_BASE, KSTACK_SLOTS * KSTACK_SLOT))
		panic("mem: no room for kernel stacks");
}

void
arch_kstack_map(uintptr_t va, uint64_t pa)
{
	arm64_pt_map(
	    arm64_roots.r_kernel, va, pa, KSTACK_BYTES, PT_KERN_RW, PAGE_SIZE);
}

uint64_t
arch_kstack_unmap(uintptr_t va)
{
	size_t bytes;
	uint64_t *e = arm64_pt_leaf(arm64_roots.r_kernel, va, &bytes);
	uint64_t pa = *e & PT_ADDR;

	/* A slot is aligned to its size, so its entries are in one table. */
	for (uintptr_t p = va; p < va + KSTACK_BYTES; p += PAGE_SIZE) {
		*e++ = 0;
		dsb(ishst);
		__asm__ volatile("tlbi vaae1is, %0" : : "r"(FIELD(p, 55, 12)));
	}
	dsb(ish);
	isb();
	return pa;
}

/* Address spaces of payloads */

static uint64_t
asid_alloc(void)
{
	unsigned n = (read_sysreg(tcr_el1) & TCR_AS) != 0 ? 65536 : 256;

	lock_acquire(&asids.lock);
	for (unsigned i = 1; i < n; i++) {
		if ((asids.used[i / 8] & 1 << i % 8) == 0) {
			asids.used[i / 8] |= (uint8_t)(1 << i % 8);
			lock_release(&asids.lock);
			return i;
		}
	}
	lock_release(&asids.lock);
	return 0;
}

static void
asid_free(uint64_t asid)
{
	lock_acquire(&asids.lock);
	asids.used[asid / 8] &= (uint8_t) ~(1 << asid % 8);
	lock_release(&asids.lock);
}

int
arch_as_init(struct as *as)
{
	if ((as->as_asid = asid_alloc()) == 0)
		return ENOMEM;
	if ((as->as_root = arm64_pt_new()) == 0) {
		asid_free(as->as_asid);
		return ENOMEM;
	}
	return 0;
}

void
arch_as_free(struct as *as)
{
	/* The TLB may have cached pointers to the tables: flush it first. */
	dsb(ishst);
	__asm__ volatile("tlbi aside1is, %0" : : "r"(as->as_asid << 48));
	dsb(ish);
	arm64_pt_free(as->as_root);
	asid_free(as->as_asid);
	as->as_root = 0;
}

void
arch_as_switch(struct as *as)
{
	uint64_t ttbr = arm64_roots.r_empty;

	if (as != NULL)
		ttbr = as->as_root | as->as_asid << 48;
	write_sysreg(ttbr0_el1, ttbr);
	isb();
}

/*
 * Turn PROT_* into descriptor bits.  UXN forbids execution at EL0, PXN at EL1,
 * where payloads of system privilege run.
 */
static uint64_t
leaf_attr(unsigned prot)
{
	uint64_t attr = PT_AF | PT_NG;

	if (prot & PROT_DEVICE)
		attr |= PT_ATTR(MAIR_DEVICE);
	else
		attr |= PT_ATTR(MAIR_NORMAL) | PT_SHARED;
	if (prot & PROT_USER)
		attr |= PT_USER | PT_PXN;
	else
		attr |= PT_UXN;
	if ((prot & PROT_WRITE) == 0)
		attr |= PT_RO;
	if ((prot & PROT_EXEC) == 0)
		attr |= PT_PXN | PT_UXN;
	return attr;
}

int
arch_map(struct as *as, uintptr_t va, uint64_t pa, size_t len, unsigned prot)
{
	ASSERT(arch_translate(as, va) == ~0ULL);
	return arm64_pt_map(
		   as->as_root, va, pa, len, leaf_attr(prot), LARGE_SIZE) == len
	           ? 0
	           : ENOMEM;
}

/* Change each valid leaf of a range: keep its bits `keep`, and set `attr`. */
static void
change_leaves(
    struct as *as, uintptr_t va, size_t len, uint64_t keep, uint64_t attr)
{
	uintptr_t end = va + len;
	uint64_t *e = NULL;
	size_t bytes;

	for (; va < end; va = (va & -bytes) + bytes) {
		e = e != NULL ? arm64_pt_next(e, bytes) : NULL;
		if (e == NULL)
			e = arm64_pt_leaf(as->as_root, va, &bytes);
		if ((*e & PT_VALID) == 0)
			continue;
		/* kern/mm/as.c never changes a part of a large page. */
		ASSERT((va & (bytes - 1)) == 0 && bytes <= end - va);
		*e = (*e & keep) | attr;
		dsb(ishst);
		tlb_flush_page(as->as_asid, va);
	}
	dsb(ish);
	isb();
}

void
arch_unmap(struct as *as, uintptr_t va, size_t len)
{
	change_leaves(as, va, len, 0, 0);
}

void
arch_protect(struct as *as, uintptr_t va, size_t len, unsigned prot)
{
	/* A change of permissions needs no break-before-make. */
	change_leaves(
	    as, va, len, PT_ADDR | PT_VALID | PT_TABLE, leaf_attr(prot));
}

/*
 * Zero pages by DC ZVA.  One instruction clears a block of 2^BS words, at most
 * 2 KiB; the loop does two blocks at a time.  If DZP prohibits DC ZVA, use
 * stores.
 * Arm ARM (DDI 0487), "DCZID_EL0" and "DC ZVA".
 */
void
arch_page_zero(void *va, size_t bytes)
{
	uint64_t dczid = read_sysreg(dczid_el0);
	size_t block = 4UL << FIELD(dczid, 3, 0);
	uintptr_t p = (uintptr_t)va, end = p + bytes;

	if (FIELD(dczid, 4, 4) != 0) {
		memset(va, 0, bytes);
		return;
	}
	while (end - p >= 8 * block)
		__asm__ volatile(
		    ".rept 8\n\tdc zva, %0\n\tadd %0, %0, %1\n\t.endr"
		    : "+r"(p)
		    : "r"(block)
		    : "memory");
	for (; p != end; p += block)
		__asm__ volatile("dc zva, %0" : : "r"(p) : "memory");
}

/*
 * Clean the data cache to the point of unification, then invalidate the
 * instruction caches.  If they are physically tagged, invalidate by address.
 * Otherwise invalidate all: the code runs at another address than `va`.
 * Arm ARM (DDI 0487), "CTR_EL0" (IminLine, DminLine, L1Ip).
 */
void
arch_icache_sync(void *va, size_t len)
{
	uint64_t ctr = read_sysreg(ctr_el0);
	size_t dline = 4UL << FIELD(ctr, 19, 16);
	size_t iline = 4UL << FIELD(ctr, 3, 0);
	uintptr_t start = (uintptr_t)va, end = start + len, p;

	for (p = start & -dline; p < end; p += dline)
		__asm__ volatile("dc cvau, %0" : : "r"(p) : "memory");
	dsb(ish);
	if (FIELD(ctr, 15, 14) == 3) {
		for (p = start & -iline; p < end; p += iline)
			__asm__ volatile("ic ivau, %0" : : "r"(p) : "memory");
	} else {
		__asm__ volatile("ic ialluis" : : : "memory");
	}
	dsb(ish);
	isb();
}

void
arch_clean(const void *va, size_t len)
{
	size_t line = 4UL << FIELD(read_sysreg(ctr_el0), 19, 16);
	uintptr_t p = (uintptr_t)va & -line;

	for (; p < (uintptr_t)va + len; p += line)
		__asm__ volatile("dc cvac, %0" : : "r"(p) : "memory");
	dsb(sy);
}
