/*
 * From start.S to kern_main().  Each boot protocol ends in one struct bootinfo.
 * It is in the image, so it stays mapped.
 */
#include "arch/x86/insn.h"
#include "arch/x86/msr.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/platform/bootinfo.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"
#include "lib/string.h"

static struct bootinfo bootinfo;
uint64_t x86_image_pa;
char *const arch_direct = (char *)DIRECT_BASE;
const uint64_t arch_direct_bytes = DIRECT_BYTES;

extern char __kern_bytes[]; /* an absolute symbol */

/*
 * start.S maps this stack in slot BOOT_STACK, with a guard.  The address in the
 * image has no guard, and nothing uses it as a stack.
 */
extern char x86_boot_stack[];
char x86_boot_stack[KSTACK_BYTES]
    __attribute__((section(".bss.early"), aligned(4096)));

void
x86_boot(uint64_t handed_over, uint64_t image)
{
	struct bootinfo *bi = &bootinfo;
	const char *wrong = NULL;

	clear_breakpoints();
	x86_image_pa = image;
	x86_boot_cpu.xc_self = &x86_boot_cpu;
	x86_boot_cpu.xc_cpu = &cpus[0];
	wrmsr(IA32_GS_BASE, (uintptr_t)&x86_boot_cpu);

	/* The longest data that a loader hands over is a struct bootinfo. */
	const struct bootinfo *from = x86_early_ptr(handed_over, sizeof *from);
	if (from == NULL)
		panic("boot: the boot loader's data is above 512 GiB");
	if (from->bi_magic == BOOTINFO_MAGIC) {
		memcpy(bi, from, sizeof *bi);
	} else {
		bi->bi_kern = image;
		bi->bi_kern_bytes = (uintptr_t)__kern_bytes;
		wrong = linux_is_params(handed_over, x86_early_ptr)
		            ? linux_bootinfo(bi, handed_over, x86_early_ptr)
		            : pvh_bootinfo(bi, handed_over);
		bootinfo_add(bi, bi->bi_kern, bi->bi_kern_bytes, BOOTMEM_KEEP);
	}
	if (wrong != NULL)
		panic("boot: %s", wrong);
	kern_main(bi);
}
