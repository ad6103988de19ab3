/* Address spaces, devices and the kernel's own map. */
#include <stdbool.h>
#include <stddef.h>

#include "arch/x86/cpuid.h"
#include "arch/x86/insn.h"
#include "arch/x86/mm/pt.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/mm/as.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/errno.h"
#include "kern/platform/lock.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"
#include "lib/string.h"

/* For more pages than this, flushing the whole TLB is cheaper. */
#define FLUSH_MAX 32

extern char _start[], __rodata_start[], __data_start[], __kern_end[];
extern char x86_boot_stack[];

/* The kernel's map */

static void
map_image_part(const char *from, const char *to, uint64_t attr)
{
	uint64_t pa = x86_image_pa + (uint64_t)(from - _start);

	x86_pt_map(x86_root, (uintptr_t)from, pa, (size_t)(to - from), attr,
	    LARGE_SIZE);
}

/* Find the first RAM that ends after `at`, in whole pages.  False: no more. */
static bool
ram_after(const struct bootinfo *bi, uint64_t at, uint64_t *from, uint64_t *to)
{
	for (uint32_t i = 0; i < bi->bi_nmem; i++) {
		const struct bootmem *m = &bi->bi_mem[i];

		*from = m->bm_base & -PAGE_SIZE;
		*to = (m->bm_base + m->bm_len + PAGE_SIZE - 1) & -PAGE_SIZE;
		if (m->bm_type != BOOTMEM_DEVICE &&
		    m->bm_type != BOOTMEM_RUNTIME_DEVICE && *to > at)
			return true;
	}
	return false;
}

/*
 * Ranges of different types often share a large page, so adjacent ranges are
 * mapped together.  Page tables are taken from bi->bi_mem during the loop,
 * which moves its entries.  So the loop goes by address, not by index.
 */
static void
map_all_ram(const struct bootinfo *bi)
{
	uint64_t at = 0, from, to, next_from, next_to;

	while (ram_after(bi, at, &from, &to)) {
		if (from < at)
			from = at;
		while (
		    ram_after(bi, to, &next_from, &next_to) && next_from <= to)
			to = next_to;
		if (from < to)
			x86_pt_map(x86_root, DIRECT_BASE + from, from,
			    to - from, PT_KERN_RW,
			    x86_features.gib_pages ? 1UL << 30 : LARGE_SIZE);
		at = to;
	}
}

/*
 * Kernel stacks (kern/mm/kstack.c).  Slots are used again, and the TLB of
 * another CPU may hold an old translation of one.  So a CPU calls
 * x86_kstack_fresh() before it first runs on a stack.
 */

static uintptr_t
slot_va(unsigned slot)
{
	return KSTACK_BASE + (uintptr_t)slot * KSTACK_SLOT;
}

void
arch_kstack_map(uintptr_t va, uint64_t pa)
{
	x86_pt_map(x86_root, va, pa, KSTACK_BYTES, PT_KERN_RW, PAGE_SIZE);
	x86_kstack_fresh((void *)va);
}

/*
 * Make the page tables of all slots, so that a stack never needs another page.
 * Then map the boot CPU's stacks.
 */
static void
map_stacks(struct bootinfo *bi)
{
	x86_pt_tables(x86_root, KSTACK_BASE, KSTACK_SLOTS * KSTACK_SLOT);
	arch_kstack_map(
	    slot_va(0), x86_image_pa + (uint64_t)(x86_boot_stack - _start));
	for (unsigned i = 1; i <= NIST; i++) {
		uint64_t pa =
		    bootinfo_take(bi, KSTACK_BYTES, PAGE_SIZE, 0, 1ULL << 32);

		if (pa == 0)
			panic("mem: no room for the boot CPU's stacks: give "
			      "the machine more memory");
		arch_kstack_map(slot_va(i), pa);
	}
}

uintptr_t
x86_boot_ist(unsigned n)
{
	return slot_va(n) + KSTACK_BYTES;
}

uint64_t
arch_kstack_unmap(uintptr_t va)
{
	size_t bytes;
	uint64_t *e = x86_pt_leaf(x86_root, va, &bytes), pa = *e & PT_ADDR;

	/* The size of a slot is a power of two, so one table has all of it. */
	for (unsigned i = 0; i < KSTACK_BYTES / PAGE_SIZE; i++)
		e[i] = 0;
	x86_kstack_fresh((void *)va);
	return pa;
}

void
x86_kstack_fresh(void *base)
{
	uintptr_t va = (uintptr_t)base;

	for (uintptr_t p = va; p < va + KSTACK_BYTES; p += PAGE_SIZE)
		invlpg(p);
}

void
x86_mmu_init(struct bootinfo *bi)
{
	x86_pt_begin_early(bi);
	x86_root = x86_pt_new();
	map_image_part(_start, __rodata_start, PT_KERN_RX);
	map_image_part(__rodata_start, __data_start, PT_KERN_R);
	map_image_part(__data_start, __kern_end, PT_KERN_RW);
	map_stacks(bi);
	/* Every address space copies this root entry, so it must exist now. */
	x86_pt_tables(x86_root, DEVICE_BASE, LARGE_SIZE);
	map_all_ram(bi);
	x86_pt_end_early();
	write_cr(3, x86_root);
	x86_self()->xc_root = x86_root;
}

/* Address spaces */

int
arch_as_init(struct as *as)
{
	uint64_t root = x86_pt_new();

	if (root == 0)
		return ENOMEM;
	memcpy((char *)pa_to_va(root) + PAGE_SIZE / 2,
	    (char *)pa_to_va(x86_root) + PAGE_SIZE / 2, PAGE_SIZE / 2);
	as->as_root = root;
	return 0;
}

void
arch_as_free(struct as *as)
{
	ASSERT(x86_self()->xc_root != as->as_root);
	x86_pt_free(as->as_root);
	as->as_root = 0;
}

void
arch_as_switch(struct as *as)
{
	struct x86_cpu *xc = x86_self();
	uint64_t root = as != NULL ? as->as_root : x86_root;

	if (xc->xc_root == root)
		return;
	xc->xc_root = root;
	write_cr(3, root);
}

static uint64_t
attr_of(unsigned prot)
{
	uint64_t attr = PT_LEAF;

	if (prot & PROT_WRITE)
		attr |= PT_W;
	if (!(prot & PROT_EXEC))
		attr |= x86_nx;
	if (prot & PROT_USER)
		attr |= PT_U;
	if (prot & PROT_DEVICE)
		attr |= PT_PCD | PT_PWT;
	return attr;
}

/*
 * A CPU that has loaded the address space is in user code, or it waits for the
 * kernel lock, which this CPU holds.  Either way it reaches the arch_relax() of
 * that wait, which flushes its TLB.
 */
static unsigned nflush; /* CPUs that still have to flush */

void
x86_flush_asked(void)
{
	if (__atomic_load_n(&nflush, __ATOMIC_ACQUIRE) == 0)
		return;
	struct x86_cpu *xc = x86_self();
	if (!__atomic_exchange_n(&xc->xc_flush, false, __ATOMIC_ACQUIRE))
		return;
	write_cr(3, xc->xc_root);
	__atomic_sub_fetch(&nflush, 1, __ATOMIC_RELEASE);
}

void
x86_flush_others(uint64_t root)
{
	struct x86_cpu *self = x86_self();

	for (unsigned i = 0; i < ncpu; i++) {
		struct x86_cpu *xc = cpus[i].c_arch;

		if (xc == NULL || xc == self || xc->xc_root != root)
			continue;
		__atomic_add_fetch(&nflush, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&xc->xc_flush, true, __ATOMIC_RELEASE);
		arch_ipi(&cpus[i], IPI_FLUSH);
	}
	while (__atomic_load_n(&nflush, __ATOMIC_ACQUIRE) != 0)
		__builtin_ia32_pause();
}

/* Drop the translations of a range on all CPUs. */
static void
flush_range(const struct as *as, uintptr_t va, size_t len)
{
	x86_flush_others(as->as_root);
	if (x86_self()->xc_root != as->as_root)
		return;
	if (len > FLUSH_MAX * PAGE_SIZE) {
		write_cr(3, as->as_root);
		return;
	}
	for (uintptr_t end = va + len; va < end; va += PAGE_SIZE)
		invlpg(va);
}

int
arch_map(struct as *as, uintptr_t va, uint64_t pa, size_t len, unsigned prot)
{
	size_t done;

	ASSERT(arch_translate(as, va) == ~0ULL);
	done = x86_pt_map(as->as_root, va, pa, len, attr_of(prot), LARGE_SIZE);
	if (done == len)
		return 0;
	arch_unmap(as, va, done);
	return ENOMEM;
}

/* Change each present leaf of a range: keep its bits `keep`, and set `attr`. */
static void
change_leaves(
    struct as *as, uintptr_t va, size_t len, uint64_t keep, uint64_t attr)
{
	uintptr_t at = va, end = va + len;
	uint64_t *e = NULL;
	size_t bytes;

	while (at < end) {
		if (e == NULL)
			e = x86_pt_leaf(as->as_root, at, &bytes);
		if ((*e & PT_P) != 0) {
			/* kern/mm never changes a part of a large page. */
			ASSERT((at & (bytes - 1)) == 0 && bytes <= end - at);
			*e = (*e & keep) | attr;
		}
		at = (at & -bytes) + bytes;
		e = x86_pt_next(e, bytes);
	}
	flush_range(as, va, len);
}

void
arch_unmap(struct as *as, uintptr_t va, size_t len)
{
	change_leaves(as, va, len, 0, 0);
}

void
arch_protect(struct as *as, uintptr_t va, size_t len, unsigned prot)
{
	change_leaves(as, va, len, PT_ADDR | PT_PS, attr_of(prot));
}

/*
 * REP STOSQ writes whole cache lines if the CPU can.  An emulator takes as long
 * for each of its passes as for 64 bytes of memset(), so not for a stack.
 */
void
arch_page_zero(void *va, size_t bytes)
{
	size_t words = bytes < LARGE_SIZE / 8 ? bytes / sizeof(uint64_t) : 0;

	if (words == 0)
		memset(va, 0, bytes);
	__asm__ volatile("rep stosq"
			 : "+D"(va), "+c"(words)
			 : "a"(0UL)
			 : "memory");
}

/*
 * Nothing to do: after a jump, instruction fetch sees all stores.  Every return
 * to a payload is a jump.  Intel SDM vol. 3A, "Self-Modifying Code".
 */
void
arch_icache_sync(void *va, size_t len)
{
	(void)va;
	(void)len;
}

/*
 * Intel SDM vol. 2A, "CLFLUSH" and "CPUID" (leaf 1, EBX[15:8]: the line, in
 * units of 8 bytes).
 */
void
arch_clean(const void *va, size_t len)
{
	size_t line = 8 * FIELD(cpuid(1, 0).b, 15, 8);
	uintptr_t p;

	if (line == 0)
		return;
	for (p = (uintptr_t)va & -line; p < (uintptr_t)va + len; p += line)
		__asm__ volatile("clflush (%0)" : : "r"(p) : "memory");
	__asm__ volatile("mfence" : : : "memory");
}

/* Devices and firmware's tables */

static struct {
	struct spinlock lock;
	uintptr_t next;
} window = { .next = DEVICE_BASE };

static volatile void *
map_window(uint64_t pa, size_t len, uint64_t attr)
{
	uint64_t base = pa & -PAGE_SIZE;
	size_t bytes = (pa + len - base + PAGE_SIZE - 1) & -PAGE_SIZE;

	lock_acquire(&window.lock);
	uintptr_t va = window.next;
	window.next += bytes;
	lock_release(&window.lock);
	if (len == 0 || pa + len < pa ||
	    va + bytes > DEVICE_BASE + DEVICE_BYTES ||
	    x86_pt_map(x86_root, va, base, bytes, attr, PAGE_SIZE) != bytes)
		return NULL;
	return (volatile void *)(va + (pa - base));
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

/* Is the whole range in the direct map? */
static bool
in_direct_map(uint64_t pa, size_t len)
{
	uint64_t end = pa + len;
	size_t bytes;

	if (end < pa || end > DIRECT_BYTES)
		return false;
	for (pa &= -PAGE_SIZE; pa < end; pa += PAGE_SIZE)
		if ((*x86_pt_leaf(x86_root, DIRECT_BASE + pa, &bytes) & PT_P) ==
		    0)
			return false;
	return true;
}

const void *
x86_map_firmware(uint64_t pa, size_t len)
{
	uint64_t end = pa + len, at = pa & -PAGE_SIZE;
	size_t bytes;

	if (in_direct_map(pa, len))
		return pa_to_va(pa);
	if (end < pa || end > FIRMWARE_BYTES)
		return NULL;
	for (; at < end; at += PAGE_SIZE) {
		uintptr_t va = FIRMWARE_BASE + at;

		if ((*x86_pt_leaf(x86_root, va, &bytes) & PT_P) == 0 &&
		    x86_pt_map(
			x86_root, va, at, PAGE_SIZE, PT_KERN_R, PAGE_SIZE) == 0)
			return NULL;
	}
	return (const void *)(FIRMWARE_BASE + pa);
}
