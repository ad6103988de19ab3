/* Executes what its argument names, at user privilege of an x86-64. */
#include "trap.h"

#include <errno.h>
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

#define TRAPS(T)                                                               \
	T(int_of_linux32, "int $0x80")                                         \
	T(int_of_the_nmi, "int $2")                                            \
	T(int_of_a_device, "int $0x30")                                        \
	T(int_of_overflow, "int $4")                                           \
	T(int_of_bound, "int $5")                                              \
	T(icebp, ".byte 0xf1")                                                 \
	T(halt, "hlt")                                                         \
	T(disable_interrupts, "cli")                                           \
	T(write_port, "mov $0xf4, %%dx; mov $0, %%al; outb %%al, %%dx")        \
	T(read_msr, "mov $0xc0000080, %%ecx; rdmsr")                           \
	T(read_cr3, "mov %%cr3, %%rax")                                        \
	T(read_pmc, "xor %%ecx, %%ecx; rdpmc")                                 \
	T(swap_gs, "swapgs")                                                   \
	T(sysret_here, "mov $0, %%ecx; sysretq")                               \
	T(load_tables, "sub $16, %%rsp; lgdt (%%rsp)")                         \
	T(flush_caches, "wbinvd")                                              \
	T(return_to_kernel_code,                                               \
	    "push $0; push %%rsp; pushf; push $8; push $0; iretq")             \
	T(load_kernel_selector, "mov $8, %%eax; mov %%eax, %%ss")              \
	T(jump_nowhere, "mov $0x8000000000000000, %%rax; jmp *%%rax")          \
	T(stack_nowhere, "mov $0x8000000000000000, %%rsp; push %%rax")         \
	T(call_vsyscall, "mov $0xffffffffff600000, %%rax; call *%%rax")        \
	T(single_step, "pushf; orl $0x100, (%%rsp); popf; nop")                \
	T(divide_overflow,                                                     \
	    "mov $0x80000000, %%eax; cdq; mov $-1, %%ecx; idiv %%ecx")         \
	T(divide_x87, "fninit; push $0x37b; fldcw (%%rsp); pop %%rax; fldz; "  \
		      "fld1; fdiv %%st(1), %%st; fwait")
TRAPS(TRAP)

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

static const struct trap_case cases[] = { { "odd_flags", odd_flags },
	{ "odd_thread_pointers", odd_thread_pointers },
	{ "do_nothing", do_nothing }, TRAPS(CASE) };

int
main(int argc, char **argv)
{
	return run_case(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
