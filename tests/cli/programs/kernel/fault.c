/* Makes the mistake that its argument names, in a function of that name. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/barecpc.h>
#include <sys/cpc.h>
#include <unistd.h>

#define KERNEL_ADDRESS ((char *)0xffffffff80000000)
#define CASE(name)                                                             \
	{                                                                      \
#name, name                                                    \
	}

static volatile char *volatile target;
static char data[64];

static int
read_null(void)
{
	target = NULL;
	return *target;
}

static int
write_text(void)
{
	target = (char *)(uintptr_t)write_text;
	return *target = 0;
}

static int
run_data(void)
{
	return ((int (*)(void))(uintptr_t)data)();
}

static int
read_kernel(void)
{
	target = KERNEL_ADDRESS;
	return *target;
}

static int
write_kernel(void)
{
	target = KERNEL_ADDRESS;
	return *target = 0;
}

static int
run_kernel(void)
{
	return ((int (*)(void))(uintptr_t)KERNEL_ADDRESS)();
}

/* The kernel has its own stack, and never uses the program's. */
static int
call_without_stack(void)
{
	long pid;

#ifdef __x86_64__
	__asm__ volatile("mov %%rsp, %%r12; mov $1, %%esp; syscall;"
			 "mov %%r12, %%rsp"
			 : "=a"(pid)
			 : "0"(39L)
			 : "r12", "rcx", "r11", "memory");
#else
	register long x0 __asm__("x0");
	register long x8 __asm__("x8") = 172;

	__asm__ volatile("mov x19, sp; mov x1, #1; mov sp, x1; svc #0;"
			 "mov sp, x19"
			 : "=r"(x0)
			 : "r"(x8)
			 : "x1", "x19", "memory");
	pid = x0;
#endif
	return pid == getpid() ? 0 : 1;
}

/* An address that is not canonical: x86 raises #GP, which has no address. */
static int
read_nowhere(void)
{
	target = (char *)0x1234567812345678;
	return *target;
}

static int
overflow_stack(void)
{
	volatile char frame[4096];

	frame[0] = 0;
	return frame[0] == 0 ? overflow_stack() + frame[0] : 0;
}

static int
smash_stack(void)
{
	target = (char *)__builtin_frame_address(0);
	for (int i = 0; i < 64; i++)
		target[i] = 0x11;
	return 0;
}

static int
divide(void)
{
	/* because the compiler turns 1 / x into a comparison */
	volatile int zero = 0, some = 7;

	return some / zero;
}

static int
run_undefined(void)
{
#ifdef __x86_64__
	__asm__ volatile("ud2");
#else
	__asm__ volatile(".inst 0");
#endif
	return 0;
}

static int
run_privileged(void)
{
#ifdef __x86_64__
	__asm__ volatile("cli");
#else
	__asm__ volatile("mrs x0, sctlr_el1" ::: "x0");
#endif
	return 0;
}

static int
run_breakpoint(void)
{
#ifdef __x86_64__
	__asm__ volatile("int3");
#else
	__asm__ volatile("brk #0");
#endif
	return 0;
}

/* The kernel returns EFAULT, as Linux does, and reports it once. */
static int
pass_kernel_pointer(void)
{
	for (int i = 0; i < 3; i++) {
		if (write(1, KERNEL_ADDRESS, 16) != -1 || errno != EFAULT)
			return 1;
		if (read(0, KERNEL_ADDRESS, 16) > 0)
			return 1;
	}
	return 0;
}

/* The same with the system calls that only barecpc has. */

static int
pass_counters_pointer(void)
{
	return syscall(BARECPC_SYS_CPC, (long)CPC_OP_PMU, 16, 0, 0, 0) == -1 &&
	               errno == EFAULT
	           ? 0
	           : 1;
}

static int
pass_phys_pointer(void)
{
	return syscall(BARECPC_SYS_PHYS, 24) == -1 && errno == EFAULT ? 0 : 1;
}

/* Allocate all memory, use it, and continue. */
static int
exhaust_memory(void)
{
	size_t step = (size_t)1 << 20;
	char *p;

	while ((p = malloc(step)) != NULL)
		memset(p, 1, step);
	return errno == ENOMEM ? 0 : 1;
}

static int
never_end(void)
{
	do
		target = data;
	while (target != NULL);
	return 0;
}

static int
abort_self(void)
{
	abort();
}

static int
do_nothing(void)
{
	puts("alive");
	return 0;
}

static const struct {
	const char *name;
	int (*fn)(void);
} cases[] = {
	CASE(read_null),
	CASE(write_text),
	CASE(run_data),
	CASE(read_kernel),
	CASE(write_kernel),
	CASE(run_kernel),
	CASE(call_without_stack),
	CASE(read_nowhere),
	CASE(overflow_stack),
	CASE(smash_stack),
	CASE(divide),
	CASE(run_undefined),
	CASE(run_privileged),
	CASE(run_breakpoint),
	CASE(pass_kernel_pointer),
	CASE(pass_counters_pointer),
	CASE(pass_phys_pointer),
	CASE(exhaust_memory),
	CASE(never_end),
	CASE(do_nothing),
	CASE(abort_self),
};

int
main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		if (argc == 2 && strcmp(argv[1], cases[i].name) == 0)
			return cases[i].fn();
	}
	return 2;
}
