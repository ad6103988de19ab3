/*
 * What arm64 keeps to itself: per-CPU and per-LWP data, the trap frame, and
 * the functions its own files share.  Included by arch/arm64/ and boot/.
 */
#ifndef ARCH_ARM64_ARM64_H
#define ARCH_ARM64_ARM64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arm64/asm.h"

struct arm64_fp;
struct as;
struct bootinfo;
struct cpu;
struct lwp;

/* Registers as vectors.S stores them. */
struct trapframe {
	uint64_t tf_x[31];
	uint64_t tf_sp; /* SP_EL0 from a payload, else the kernel's */
	uint64_t tf_pc;
	uint64_t tf_pstate;
	uint64_t tf_esr; /* ESR_EL1 and FAR_EL1: of synchronous ones only */
	uint64_t tf_far;
	uint64_t tf_frame[2]; /* x29, pc: a frame record for backtraces */
};
_Static_assert(offsetof(struct trapframe, tf_sp) == TF_SP, "asm.h");
_Static_assert(offsetof(struct trapframe, tf_frame) == TF_FRAME, "asm.h");
_Static_assert(sizeof(struct trapframe) == TF_BYTES, "asm.h");

/* A CPU's own data, its struct cpu's c_arch. */
struct arm64_cpu {
	struct cpu *ac_cpu;
	char *ac_emergency;     /* top of the stack for reporting an overflow */
	char *ac_stack;         /* top of the stack it starts on */
	uint64_t ac_try;        /* arm64_try()'s stack pointer, or 0 */
	uint64_t ac_mpidr;      /* affinity fields */
	uint32_t ac_gicv2_mask; /* its bit in GICD_SGIR, GICv2 */
	volatile uint32_t *ac_gicr; /* its redistributor, GICv3 */
};
_Static_assert(offsetof(struct arm64_cpu, ac_cpu) == AC_CPU, "asm.h");
_Static_assert(offsetof(struct arm64_cpu, ac_emergency) == AC_EMERGENCY, "asm");
_Static_assert(offsetof(struct arm64_cpu, ac_stack) == AC_STACK, "asm.h");
_Static_assert(offsetof(struct arm64_cpu, ac_try) == AC_TRY, "asm.h");

/* An LWP's, its l_arch. */
struct arm64_lwp {
	void *al_sp; /* its struct switch_frame, while it does not run */
	uint64_t al_tls;
	struct arm64_fp *al_fp; /* NULL: a kernel thread's */
};

extern struct arm64_cpu arm64_boot_cpu;
extern bool arm64_has_pan;     /* user memory opens by clearing PSTATE.PAN */
extern uint32_t arm64_boot_el; /* the level the boot CPU came up at */

/* Calls by the SMC Calling Convention; -1 if there is nothing to call. */
uint64_t arm64_hvc(uint64_t function);
uint64_t arm64_smc(uint64_t function);

/* boot: what a loader hands over may be this long. */
#define ARM64_HANDED_MAX (2UL << 20)
void arm64_early_map(uint64_t handed_over);
void arm64_secondary_entry(void); /* physical address wanted */
_Noreturn void arm64_secondary_main(struct arm64_cpu *ac);

/* vectors.S */
extern char arm64_vectors[];
_Noreturn void arm64_user_return(struct trapframe *tf);

/* trap.c, called by vectors.S */
void arm64_trap_sync(struct trapframe *tf); /* but for SVC of a payload */
void arm64_trap_irq(struct trapframe *tf);  /* of the kernel, idle */
void arm64_trap_bad(struct trapframe *tf);
_Noreturn void arm64_trap_overflow(struct trapframe *tf);

/*
 * An instruction that may fault and where to go on then, in .fixup_table.
 */
struct arm64_fixup {
	int32_t f_insn; /* both relative to the field itself */
	int32_t f_resume;
};

/*
 * uaccess_loops.S.  fn(arg) may reach user memory by plain accesses; EFAULT
 * where it could not.
 */
int arm64_try(void (*fn)(void *), void *arg);
void arm64_try_failed(void);

/*
 * uaccess_loops.S.  Does something answer a read of this register?  Tables may
 * name an address where nothing is.
 */
bool arm64_answers(const volatile uint32_t *reg);

/* cpu.c */
struct arm64_cpu *arm64_curcpu(void);
void arm64_cpus_init(void);

/* sigframe.c: once SVE is known; what a signal takes of its stack. */
void arm64_sigframe_init(void);
size_t arm64_sigframe_bytes(void);

/* kstack.c */
void arm64_kstack_init(void);

/* mmu.c */
uint64_t arm64_image_pa(const void *p); /* of a symbol of the image */
/* The boot mappings of the lower half are no longer needed on this CPU. */
void arm64_drop_identity(void);
/* Write back what a CPU without caches is to read. */
void arm64_clean(const void *va, size_t len);

#endif /* ARCH_ARM64_ARM64_H */
