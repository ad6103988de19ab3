/*
 * Sets a breakpoint at an address of the kernel, and makes a system call with
 * this stack pointer; if that is 0, executes INT3 instead.  Runs at system
 * privilege of an x86-64, for tests/cli/kernel/traps.sh.
 *
 *     entry_debug ADDRESS STACK_POINTER
 *
 * The debug exception finds the kernel's selectors, but GS and RSP of the
 * payload.  The same happens after MOV SS and a data breakpoint on a CPU that
 * defers the exception.
 * Intel SDM vol. 3A, "Masking Exceptions and Interrupts When Switching
 * Stacks"; vol. 3B, "Debug Registers".
 */
#include <stdint.h>
#include <stdlib.h>

#define DR7_L0       0x1   /* breakpoint 0 on, at execution */
#define DR7_RESERVED 0x400 /* reads as 1 */

int
main(int argc, char **argv)
{
	uint64_t at = argc == 3 ? strtoull(argv[1], NULL, 16) : 0;
	uint64_t sp = argc == 3 ? strtoull(argv[2], NULL, 16) : 0;

	if (at == 0)
		return 2;
	__asm__ volatile("mov %0, %%db0\n\t"
			 "mov %1, %%db7"
			 :
			 : "r"(at), "r"((uint64_t)(DR7_RESERVED | DR7_L0)));
	if (sp == 0)
		__asm__ volatile("int3");
	__asm__ volatile("mov %0, %%rsp\n\t"
			 "mov $39, %%eax\n\t" /* getpid */
			 "syscall\n\t"
			 "ud2"
			 :
			 : "r"(sp)
			 : "rax", "rcx", "r11", "memory");
	return 0;
}
