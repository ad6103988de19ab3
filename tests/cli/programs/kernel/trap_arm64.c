/* Executes what its argument names, at user privilege of an arm64. */
#include "trap.h"

/* A function of one or a few instructions. */
#define TRAP(name, code)                                                       \
	static int name(void)                                                  \
	{                                                                      \
		__asm__ volatile(code ::: "x0", "x1", "x2", "memory");         \
		return 0;                                                      \
	}

#define KERNEL "mov x0, #0xffffffff80000000;"

#define TRAPS(T)                                                               \
	T(call_hypervisor, "hvc #0")                                           \
	T(call_monitor, ".inst 0xd4000003")                                    \
	T(call_semihosting, "mov w0, #0x18; hlt #0xf000")                      \
	T(mask_interrupts, "msr daifset, #2")                                  \
	T(read_el, "mrs x0, CurrentEL")                                        \
	T(read_sctlr, "mrs x0, sctlr_el1")                                     \
	T(return_from_exception, "eret")                                       \
	T(flush_tlb, "tlbi vmalle1")                                           \
	T(drop_cache_line, "mov x0, sp; dc ivac, x0")                          \
	T(translate, "at s1e1r, x0")                                           \
	T(read_cycles, "mrs x0, pmccntr_el0")                                  \
	T(read_counter, "mrs x0, pmevcntr0_el0")                               \
	T(write_counter, "msr pmevcntr0_el0, x0")                              \
	T(allow_counters, "mov x0, #15; msr pmuserenr_el0, x0")                \
	T(zero_kernel_line, KERNEL "dc zva, x0")                               \
	T(swap_kernel_word, KERNEL "1: ldxr x1, [x0]; stxr w2, x1, [x0]")      \
	T(jump_between, "adr x0, .; add x0, x0, #6; br x0; nop")               \
	/* Over the end of 16 bytes: FEAT_LSE2 allows what stays inside. */    \
	T(odd_exclusive, "mov x0, sp; sub x0, x0, #53; ldaxr x1, [x0]")        \
	T(tagged_pointer, "mov x0, #0x5500000000000000; ldr x1, [x0]")         \
	T(jump_to_kernel, KERNEL "br x0")                                      \
	T(use_sme, ".inst 0x04bf5820") /* rdsvl x0, #1 */                      \
	/* At system privilege.  The return's mode does not exist. */          \
	T(illegal_state, "mov x0, #1; msr spsr_el1, x0; adr x0, 1f;"           \
			 "msr elr_el1, x0; eret; 1: nop")                      \
	T(trapped_fp, "msr cpacr_el1, xzr; isb; fmov d0, xzr")
TRAPS(TRAP)

static const struct trap_case cases[] = {
	{ "do_nothing", do_nothing }, TRAPS(CASE) /* ends with a comma */
};

int
main(int argc, char **argv)
{
	return run_case(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
