/*
 * Executes what its argument names, in a function of the same name, at user
 * privilege of an x86-64.  For tests/cli/kernel/traps.sh.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SYS_ARCH_PRCTL 158
#define ARCH_SET_FS    0x1002

/* A function of one or a few instructions. */
#define TRAP(name, code)                                                       \
	static int name(void)                                                  \
	{                                                                      \
		__asm__ volatile(code ::: "rax", "rcx", "rdx", "memory");      \
		return 0;                                                      \
	}

TRAP(int_of_linux32, "int $0x80")
TRAP(int_of_the_nmi, "int $2")
TRAP(int_of_a_device, "int $0x30")
TRAP(int_of_overflow, "int $4")
TRAP(int_of_bound, "int $5")
TRAP(icebp, ".byte 0xf1")
TRAP(halt, "hlt")
TRAP(disable_interrupts, "cli")
TRAP(write_port, "mov $0xf4, %%dx; mov $0, %%al; outb %%al, %%dx")
TRAP(read_msr, "mov $0xc0000080, %%ecx; rdmsr")
TRAP(read_cr3, "mov %%cr3, %%rax")
TRAP(read_pmc, "xor %%ecx, %%ecx; rdpmc")
TRAP(swap_gs, "swapgs")
TRAP(sysret_here, "mov $0, %%ecx; sysretq")
TRAP(load_tables, "sub $16, %%rsp; lgdt (%%rsp)")
TRAP(flush_caches, "wbinvd")
TRAP(return_to_kernel_code,
    "push $0; push %%rsp; pushf; push $8; push $0; iretq")
TRAP(load_kernel_selector, "mov $8, %%eax; mov %%eax, %%ss")
TRAP(jump_nowhere, "mov $0x8000000000000000, %%rax; jmp *%%rax")
TRAP(stack_nowhere, "mov $0x8000000000000000, %%rsp; push %%rax")
TRAP(call_vsyscall, "mov $0xffffffffff600000, %%rax; call *%%rax")
TRAP(single_step, "pushf; orl $0x100, (%%rsp); popf; nop")
TRAP(divide_overflow, "mov $0x80000000, %%eax; cdq; mov $-1, %%ecx; idiv %%ecx")
TRAP(divide_x87,
    "fninit; push $0x37b; fldcw (%%rsp); pop %%rax; fldz; fld1; fdiv %%st(1),"
    "%%st; fwait")

/*
 * Flags that a kernel must not keep: DF reverses its copies, NT breaks its
 * IRET, AC disables SMAP.  The system call with each of them copies data.
 */
static int
odd_flags(void)
{
	static const unsigned long flags[] = { 0x400, 0x4000, 0x40000,
		0x44400 };
	char path[64];

	for (unsigned i = 0; i < sizeof flags / sizeof flags[0]; i++) {
		long n;

		__asm__ volatile(
		    "sub $128, %%rsp; pushfq; orq %1, (%%rsp); popfq;"
		    "syscall;"
		    "pushfq; andq $~0x44400, (%%rsp); popfq;"
		    "add $128, %%rsp"
		    : "=a"(n)
		    : "r"(flags[i]), "0"(79L), "D"(path), "S"(sizeof path)
		    : "rcx", "r11", "memory");
		if (n != 2 || strcmp(path, "/") != 0)
			return 1;
	}
	return 0;
}

/* Two bases that the CPU refuses, and an address of the kernel. */
static int
odd_thread_pointers(void)
{
	static const unsigned long bases[] = { 0x8000000000000000,
		0x0000800000000000, 0xffffffff80000000 };

	for (unsigned i = 0; i < sizeof bases / sizeof bases[0]; i++)
		if (syscall(SYS_ARCH_PRCTL, ARCH_SET_FS, bases[i]) != -1 ||
		    errno != EPERM)
			return 1;
	return 0;
}

static int
do_nothing(void)
{
	puts("alive");
	return 0;
}

#define CASE(name)                                                             \
	{                                                                      \
#name, name                                                    \
	}
static const struct {
	const char *name;
	int (*fn)(void);
} cases[] = {
	CASE(int_of_linux32),
	CASE(int_of_the_nmi),
	CASE(int_of_a_device),
	CASE(int_of_overflow),
	CASE(int_of_bound),
	CASE(icebp),
	CASE(halt),
	CASE(disable_interrupts),
	CASE(write_port),
	CASE(read_msr),
	CASE(read_cr3),
	CASE(read_pmc),
	CASE(swap_gs),
	CASE(sysret_here),
	CASE(load_tables),
	CASE(flush_caches),
	CASE(return_to_kernel_code),
	CASE(load_kernel_selector),
	CASE(jump_nowhere),
	CASE(stack_nowhere),
	CASE(call_vsyscall),
	CASE(single_step),
	CASE(divide_overflow),
	CASE(divide_x87),
	CASE(odd_flags),
	CASE(odd_thread_pointers),
	CASE(do_nothing),
};

int
main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (argc == 2 && strcmp(argv[1], cases[i].name) == 0)
			return cases[i].fn();
	return 2;
}
