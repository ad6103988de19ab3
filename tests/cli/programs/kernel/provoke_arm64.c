/*
 * For provoke.c: the exceptions of an arm64.  Each code raises one in the way
 * a kernel could.
 * Arm ARM (DDI 0487), "ESR_EL1, Exception Syndrome Register (EL1)".
 */
#include "provoke.h"

#include <stddef.h>

#define DIRECT_BASE 0xffff000000000000 /* physical memory, writable */
#define PAR_F       1UL
#define PAR_PA      0x000ffffffffff000UL
#define PAGE        4096UL

#define CODES(C)                                                               \
	C(undefined, NULL, "udf #0")                                           \
	C(unknown_register, NULL,                                              \
	    ".inst 0xd538ffff") /* mrs xzr, s3_0_c15_c15_7 */                  \
	C(no_fpu, NULL, "msr cpacr_el1, xzr; isb; fmov d0, xzr")               \
	C(no_sve, NULL, ".inst 0x04bf5020") /* rdvl x0, #1 */                  \
	C(no_sme, NULL, ".inst 0x04bf5820") /* rdsvl x0, #1 */                 \
	/* An exception return to EL3. */                                      \
	C(illegal, NULL,                                                       \
	    "mov x0, #0x3cd; msr spsr_el1, x0; adr x0, .; msr elr_el1, x0; "   \
	    "eret")                                                            \
	C(call, NULL, "svc #0")                                                \
	C(page_absent, NULL, "mov x0, xzr; ldr x0, [x0]")                      \
	C(page_text, NULL, "adr x0, .; str x0, [x0]")                          \
	C(page_data, NULL, "mov x0, sp; and x0, x0, #~4095; br x0")            \
	C(loop, NULL, "1: b 1b")                                               \
	/* Over the end of 16 bytes: FEAT_LSE2 allows what stays inside. */    \
	C(misaligned, NULL, "mov x0, sp; add x0, x0, #9; ldaxr x1, [x0]")      \
	C(misaligned_pc, NULL, "adr x0, .; add x0, x0, #6; br x0; nop")        \
	C(misaligned_sp, NULL, "sub sp, sp, #8; udf #0")                       \
	C(serror, NULL, "hvc #0; ret") /* exceptions.py has the code of EL2 */ \
	C(breakpoint, NULL, "brk #0")                                          \
	C(guard, NULL, "1: stp x29, x30, [sp, #-16]!; b 1b")                   \
	C(nowhere, NULL, "mov x0, #0x4000; mov sp, x0; str xzr, [sp]")
CODES(CODE)

void
poke(uintptr_t at, const char *code, uintptr_t bytes)
{
	uint64_t par;

	__asm__ volatile("at s1e1r, %1; isb; mrs %0, par_el1"
			 : "=r"(par)
			 : "r"(at));
	if (par & PAR_F)
		return;
	char *to = (char *)(DIRECT_BASE + (par & PAR_PA) + at % PAGE);
	for (uintptr_t i = 0; i < bytes; i++) {
		((volatile char *)to)[i] = code[i];
		__asm__ volatile("dc cvau, %0" : : "r"(to + i) : "memory");
	}
	__asm__ volatile("dsb sy; ic iallu; dsb sy; isb" : : : "memory");
}

void
interrupt_self(void)
{
}

const struct code codes[] = { CODES(ENTRY) /* each ends with a comma */
	{ NULL, NULL, NULL, NULL } };
