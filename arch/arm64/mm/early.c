/*
 * The first page tables, made with the MMU off.  The upper half maps the parts
 * of the image with their permissions, and the boot CPU's stacks with guards
 * below them.  The lower half maps two ranges one to one: the code that turns
 * the MMU on, and the data that the loader handed over.
 */
#include <stddef.h>
#include <stdint.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/mm/pt.h"
#include "kern/arch.h"

extern char _start[], __rodata_start[], __data_start[], __kern_end[];

char arm64_boot_stack[KSTACK_BYTES] __attribute__((aligned(4096)));
char arm64_boot_emergency[KSTACK_BYTES] __attribute__((aligned(4096)));

static void
map_image_part(const char *from, const char *to, uint64_t attr)
{
	/* The address once the MMU is on. */
	uintptr_t va = KERN_LINK + (uintptr_t)(from - _start);

	arm64_pt_map(arm64_roots.r_kernel, va, (uint64_t)from,
	    (size_t)(to - from), attr, LARGE_SIZE);
}

static void
map_stack(uintptr_t va, const char *stack)
{
	arm64_pt_map(arm64_roots.r_kernel, va, (uint64_t)stack, KSTACK_BYTES,
	    PT_KERN_RW, PAGE_SIZE);
}

/* Map [pa, pa + len) one to one, rounded out to 2 MiB. */
static void
map_identity(uint64_t pa, size_t len, uint64_t attr)
{
	uint64_t from = pa & -LARGE_SIZE;
	uint64_t to = (pa + len + LARGE_SIZE - 1) & -LARGE_SIZE;

	arm64_pt_map(
	    arm64_roots.r_identity, from, from, to - from, attr, LARGE_SIZE);
}

void
arm64_early_map(uint64_t handed_over)
{
	arm64_kern_pa = (uint64_t)_start; /* the PC is still physical */
	arm64_roots.r_kernel = arm64_pt_new();
	arm64_roots.r_identity = arm64_pt_new();
	arm64_roots.r_empty = arm64_pt_new();

	map_image_part(_start, __rodata_start, PT_KERN_RX);
	map_image_part(__rodata_start, __data_start, PT_KERN_R);
	map_image_part(__data_start, __kern_end, PT_KERN_RW);
	map_stack(BOOT_STACK, arm64_boot_stack);
	map_stack(BOOT_EMERGENCY, arm64_boot_emergency);

	map_identity(arm64_kern_pa, LARGE_SIZE, PT_KERN_RX);
	map_identity(handed_over, ARM64_HANDED_MAX, PT_KERN_R);
}

const void *
arm64_early_ptr(uint64_t pa, uint64_t bytes)
{
	uint64_t from = pa & -LARGE_SIZE;
	uint64_t to = (pa + bytes + LARGE_SIZE - 1) & -LARGE_SIZE;

	/* Four levels of tables have addresses of 48 bits. */
	if (pa == 0 || to < pa || to > 1UL << 48 ||
	    arm64_pt_map(arm64_roots.r_identity, from, from, to - from,
		PT_KERN_R, LARGE_SIZE) != to - from)
		return NULL;
	return (const void *)pa;
}
