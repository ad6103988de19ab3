/*
 * Declarations that only arm64 code uses: per-CPU and per-LWP data, the trap
 * frame, and functions shared by several files.  Included by arch/arm64/ and
 * boot/.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arm64/asm.h"

struct arm64_fp;
struct as;
struct bootinfo;
struct cpu;
struct lwp;
struct machine_cpu;

/* The interrupted registers, as vectors.S stores them. */
struct trapframe {
	uint64_t tf_x[31];
	uint64_t tf_sp; /* SP_EL0 from a payload, else the kernel's */
	uint64_t tf_pc;
	uint64_t tf_pstate;
	uint64_t tf_esr;      /* valid after a synchronous exception only */
	uint64_t tf_far;      /* the same, and not after an SVC of a payload */
	uint64_t tf_frame[2]; /* x29, pc: a frame record for backtraces */
};
_Static_assert(offsetof(struct trapframe, tf_sp) == TF_SP, "asm.h");
_Static_assert(offsetof(struct trapframe, tf_frame) == TF_FRAME, "asm.h");
_Static_assert(sizeof(struct trapframe) == TF_BYTES, "asm.h");

/* The arm64 data of a CPU: c_arch of its struct cpu. */
struct arm64_cpu {
	struct cpu *ac_cpu;
	char *ac_emergency;     /* top of the stack to report an overflow on */
	char *ac_stack;         /* top of the stack that the CPU starts on */
	uint64_t ac_try;        /* stack pointer in arm64_try(), or 0 */
	uint64_t ac_mpidr;      /* affinity fields of MPIDR_EL1 */
	uint32_t ac_pmu_intid;  /* INTID of its overflow interrupt, or 0 */
	uint32_t ac_gicv2_mask; /* GICv2: the CPU's bit in GICD_SGIR */
	volatile uint32_t *ac_gicr; /* GICv3: the CPU's redistributor */
	uint64_t ac_errors;         /* that its RAS records had so far */
	bool ac_decided;            /* it has arrived, or is not waited for */
};
_Static_assert(offsetof(struct arm64_cpu, ac_cpu) == AC_CPU, "asm.h");
_Static_assert(offsetof(struct arm64_cpu, ac_emergency) == AC_EMERGENCY, "asm");
_Static_assert(offsetof(struct arm64_cpu, ac_stack) == AC_STACK, "asm.h");
_Static_assert(offsetof(struct arm64_cpu, ac_try) == AC_TRY, "asm.h");

/* The arm64 data of an LWP: its l_arch. */
struct arm64_lwp {
	void *al_sp; /* its struct switch_frame, while it does not run */
	uint64_t al_tls;
	struct arm64_fp *al_fp; /* NULL for a kernel thread */
};

extern struct arm64_cpu arm64_boot_cpu;
extern bool arm64_has_pan;     /* user memory needs PSTATE.PAN cleared */
extern uint32_t arm64_boot_el; /* exception level at which the CPU started */

/* The CPU that may leave arm64_released_entry(): dev/spin_table.c. */
extern struct released {
	uint64_t r_mpidr;   /* its affinity fields */
	uint64_t r_context; /* its struct arm64_cpu */
} arm64_released;

/* Call the hypervisor or the secure monitor.  Returns -1 if it is absent. */
uint64_t arm64_hvc(uint64_t function, uint64_t a, uint64_t b, uint64_t c);
uint64_t arm64_smc(uint64_t function, uint64_t a, uint64_t b, uint64_t c);
/*
 * vmm.c: the name of the hypervisor with this first word of its UID, which is
 * all ones if the call is not supported.  Then it is what the host says in
 * `accel`, which may be NULL.  "unknown" if neither is known, "none" on metal.
 */
const char *arm64_vmm_name(uint32_t uid, bool is_virtual, const char *accel);

/* Largest device tree or struct bootinfo that a loader hands over. */
#define ARM64_HANDED_MAX (2UL << 20)
/* mm/early.c: make the first page tables.  Called with the MMU off. */
void arm64_early_map(uint64_t handed_over);
/*
 * Map memory one to one, for reading until mmu.c makes the direct map.  The MMU
 * is on.  Returns NULL if pa is 0 or there is no memory for tables.
 */
const void *arm64_early_ptr(uint64_t pa, uint64_t bytes);
/* boot/linux_image.S.  Firmware needs their physical addresses. */
void arm64_secondary_entry(void); /* by PSCI */
void arm64_released_entry(void);  /* by a spin table */
_Noreturn void arm64_secondary_main(struct arm64_cpu *ac);

/* trap/vectors.S */
extern char arm64_vectors[];
_Noreturn void arm64_user_return(struct trapframe *tf);

/* trap/trap.c, called by trap/vectors.S */
void arm64_trap_sync(struct trapframe *tf); /* not for a payload's SVC */
void arm64_trap_irq(void);                  /* interrupts in arch_idle() */
void arm64_trap_bad(struct trapframe *tf);
_Noreturn void arm64_trap_overflow(struct trapframe *tf);

/*
 * An entry of .fixup_table: an instruction that may fault, and the address at
 * which the kernel continues then.  Both are relative to their own field.
 */
struct arm64_fixup {
	int32_t f_insn;
	int32_t f_resume;
};

/*
 * mm/usercopy_loops.S.  Call fn(arg), which may access user memory by plain
 * loads and stores.  Returns 0, or EFAULT if an access faulted or an
 * instruction was undefined.
 */
int arm64_try(void (*fn)(void *), void *arg);
void arm64_try_failed(void);

/*
 * mm/usercopy_loops.S.  Returns false if a read of the register faults.  The
 * firmware's tables may name an address that has no device.
 */
bool arm64_answers(const volatile uint32_t *reg);

/* cpu.c */
struct arm64_cpu *arm64_curcpu(void);
void arm64_cpus_init(void);

/* trap/sigframe.c.  Call init after arm64_cpus_init(), which finds SVE. */
void arm64_sigframe_init(void);
/* Bytes of stack that a signal's frame needs, with SVE registers. */
size_t arm64_sigframe_bytes(void);
/*
 * describe.c: what a program reads from the ID register S3_0_C0_Ccrm_op2.
 * Returns false if the instruction is undefined.
 */
bool arm64_id_reg(unsigned crm, unsigned op2, uint64_t *value);

/* mm/mmu.c */
void arm64_kstack_init(void);
/* The physical address of a symbol of the image. */
uint64_t arm64_image_pa(const void *p);
/* Remove the boot mappings of the lower half from this CPU. */
void arm64_drop_identity(void);

/* dev/timer.c: enable this CPU's timer; payloads may read the counter. */
void arm64_timer_cpu_init(void);
void arm64_timer_intr(void);

/*
 * dev/console.c: start the UART that the command line or `machine` names, and
 * print the output that waits for it.  A virtual machine whose tables name no
 * UART gets QEMU's.  Needs the direct map.
 */
void console_init(void);

/*
 * dev/watchdog.c: stop each watchdog of the machine's tables that runs.  Call
 * when the console works.
 */
void arm64_watchdogs_init(void);

/*
 * dev/psci.c: the firmware's power calls.  Start a CPU at a physical address
 * with `context` in x0.  Returns NULL, or why the CPU does not start.
 */
const char *psci_cpu_on(uint64_t mpidr, uint64_t entry, uint64_t context);

/*
 * dev/bcm_pm.c: the power block of BCM2835 and its successors.  Map the
 * registers, if the machine has them.  End the run, or return without them.
 */
void bcm_pm_init(void);
void bcm_pm_end(bool passed);

/*
 * dev/spin_table.c: release a CPU that waits for an address in memory from
 * firmware.  It enters C with `context`, its struct arm64_cpu.  Returns NULL,
 * or why the CPU does not start.
 */
const char *spin_table_release(const struct machine_cpu *mc, uint64_t context);

/* ras.c: may the calling CPU's error records be read? */
bool arm64_ras_exists(void);
/*
 * Clear the errors in the records that the calling CPU reaches, those from
 * before the boot without printing them.  Returns how many there were.
 */
unsigned arm64_ras_take(bool say);

/*
 * pmu/pmu.c: read the shape of this CPU's PMU and stop its PICs.  The boot CPU
 * comes first; PICs and events that another CPU lacks are not offered.
 */
void pmuv3_cpu_init(void);

/* Linux's include/uapi/asm-generic/stat.h, which arm64 uses. */
struct linux_stat {
	uint64_t st_dev, st_ino;
	uint32_t st_mode, st_nlink, st_uid, st_gid;
	uint64_t st_rdev, st_pad1;
	int64_t st_size;
	int32_t st_blksize, st_pad2;
	int64_t st_blocks;      /* in units of 512 bytes */
	int64_t st_times[3][2]; /* seconds and ns */
	uint32_t st_pad3[2];
};
_Static_assert(sizeof(struct linux_stat) == 128, "Linux's struct stat");
