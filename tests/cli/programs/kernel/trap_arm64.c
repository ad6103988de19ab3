/*
 * Executes what its argument names, in a function of the same name, at user
 * privilege of an arm64.  For tests/cli/kernel/traps.sh.
 */
#include <stdio.h>
#include <string.h>

/* A function of one or a few instructions. */
#define TRAP(name, code)                                                       \
	static int name(void)                                                  \
	{                                                                      \
		__asm__ volatile(code ::: "x0", "x1", "x2", "memory");         \
		return 0;                                                      \
	}

#define KERNEL "mov x0, #0xffffffff80000000;"

TRAP(call_hypervisor, "hvc #0")
TRAP(call_monitor, ".inst 0xd4000003")
TRAP(call_semihosting, "mov w0, #0x18; hlt #0xf000")
TRAP(mask_interrupts, "msr daifset, #2")
TRAP(read_el, "mrs x0, CurrentEL")
TRAP(read_sctlr, "mrs x0, sctlr_el1")
TRAP(return_from_exception, "eret")
TRAP(flush_tlb, "tlbi vmalle1")
TRAP(drop_cache_line, "mov x0, sp; dc ivac, x0")
TRAP(translate, "at s1e1r, x0")
TRAP(read_cycles, "mrs x0, pmccntr_el0")
TRAP(read_counter, "mrs x0, pmevcntr0_el0")
TRAP(write_counter, "msr pmevcntr0_el0, x0")
TRAP(allow_counters, "mov x0, #15; msr pmuserenr_el0, x0")
TRAP(zero_kernel_line, KERNEL "dc zva, x0")
TRAP(swap_kernel_word, KERNEL "1: ldxr x1, [x0]; stxr w2, x1, [x0]")
TRAP(jump_between, "adr x0, .; add x0, x0, #6; br x0; nop")
/* Over the end of 16 bytes: FEAT_LSE2 allows what stays inside. */
TRAP(odd_exclusive, "mov x0, sp; sub x0, x0, #53; ldaxr x1, [x0]")
TRAP(tagged_pointer, "mov x0, #0x5500000000000000; ldr x1, [x0]")
TRAP(jump_to_kernel, KERNEL "br x0")
TRAP(use_sme, ".inst 0x04bf5820") /* rdsvl x0, #1 */
/* At system privilege.  The return asks for a mode that does not exist. */
TRAP(illegal_state, "mov x0, #1; msr spsr_el1, x0; adr x0, 1f;"
		    "msr elr_el1, x0; eret; 1: nop")
TRAP(trapped_fp, "msr cpacr_el1, xzr; isb; fmov d0, xzr")

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
	CASE(call_hypervisor),
	CASE(call_monitor),
	CASE(call_semihosting),
	CASE(mask_interrupts),
	CASE(read_el),
	CASE(read_sctlr),
	CASE(return_from_exception),
	CASE(flush_tlb),
	CASE(drop_cache_line),
	CASE(translate),
	CASE(read_cycles),
	CASE(read_counter),
	CASE(write_counter),
	CASE(allow_counters),
	CASE(zero_kernel_line),
	CASE(swap_kernel_word),
	CASE(jump_between),
	CASE(odd_exclusive),
	CASE(tagged_pointer),
	CASE(jump_to_kernel),
	CASE(use_sme),
	CASE(illegal_state),
	CASE(trapped_fp),
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
