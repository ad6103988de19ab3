/*
 * Handles exceptions after vectors.S has saved the registers, and has the
 * accessors of the trap frame.
 */
#include "arch/arm64/arm64.h"
#include "arch/arm64/dev/gic.h"
#include "arch/arm64/sysreg.h"
#include "arch/arm64/trap/fp.h"
#include "arch/arm64/trap/sigcopy.h"
#include "kern/arch.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/console.h"
#include "kern/platform/ksym.h"
#include "kern/proc/lwp.h"
#include "kern/sched/klock.h"
#include "kern/sys/syscall.h"
#include "lib/printf.h"

/* Offsets and numbers that vectors.S uses. */
_Static_assert(offsetof(struct spinlock, sl_held) == 0, "the kernel lock");
_Static_assert(offsetof(struct cpu, c_lwp) == C_LWP, "asm.h");
_Static_assert(offsetof(struct lwp, l_ast) == L_AST, "asm.h");
_Static_assert(SYSCALL_NLINUX == SVC_NLINUX, "asm.h");
_Static_assert(BARECPC_SYS_CPC == SVC_PRIVATE, "asm.h");
_Static_assert(SYSCALL_NPRIVATE == SVC_NPRIVATE, "asm.h");

/*
 * ESR_EL1.EC and the fault status codes of ISS.
 * Arm ARM (DDI 0487), "ESR_EL1, Exception Syndrome Register (EL1)".
 */
#define EC_UNKNOWN     0x00
#define EC_FP_TRAPPED  0x07
#define EC_ILLEGAL     0x0e
#define EC_SYSREG      0x18
#define EC_SVE_TRAPPED 0x19
#define EC_SME_TRAPPED 0x1d
#define EC_IABORT_LOW  0x20
#define EC_IABORT      0x21
#define EC_PC_ALIGN    0x22
#define EC_DABORT_LOW  0x24
#define EC_DABORT      0x25
#define EC_SP_ALIGN    0x26
#define EC_FP          0x2c
#define EC_SERROR      0x2f
#define EC_STEP_LOW    0x32
#define EC_STEP        0x33
#define EC_WATCH_LOW   0x34
#define EC_WATCH       0x35
#define EC_BRK         0x3c
#define ISS_WRITE      (1 << 6)
#define ISS_FNV        (1 << 10)
#define FSC_ALIGNMENT  0x21
#define FSC_EXTERNAL   0x10

static const struct {
	enum fault fault;
	const char *what;
} causes[64] = {
	[EC_UNKNOWN] = { FAULT_UNDEF, "undefined or privileged instruction" },
	[EC_FP_TRAPPED] = { FAULT_UNDEF, "no floating point here" },
	[EC_ILLEGAL] = { FAULT_UNDEF, "illegal execution state" },
	[EC_SYSREG] = { FAULT_UNDEF, "privileged system register" },
	[EC_SVE_TRAPPED] = { FAULT_UNDEF, "no SVE here" },
	[EC_SME_TRAPPED] = { FAULT_UNDEF, "no SME here" },
	[EC_PC_ALIGN] = { FAULT_ALIGN, "misaligned pc" },
	[EC_SP_ALIGN] = { FAULT_ALIGN, "misaligned stack pointer" },
	[EC_FP] = { FAULT_FP, "floating point exception" },
	[EC_STEP_LOW] = { FAULT_STEP, "single step" },
	[EC_STEP] = { FAULT_STEP, "single step" },
	[EC_WATCH_LOW] = { FAULT_BREAK, "watchpoint" },
	[EC_WATCH] = { FAULT_BREAK, "watchpoint" },
	[EC_BRK] = { FAULT_BREAK, "breakpoint" },
};

extern const struct arm64_fixup __fixup_start[], __fixup_end[];

/* If the kernel expected this fault, set the pc at which it continues. */
static bool
apply_fixup(struct trapframe *tf)
{
	for (const struct arm64_fixup *f = __fixup_start; f < __fixup_end;
	     f++) {
		if (tf->tf_pc == (uintptr_t)&f->f_insn + f->f_insn) {
			tf->tf_pc = (uintptr_t)&f->f_resume + f->f_resume;
			return true;
		}
	}
	if (FIELD(tf->tf_esr, 31, 26) == EC_DABORT && tf->tf_far < USER_TOP &&
	    tf->tf_pc - (uintptr_t)arm64_sigcopy_start <
		(size_t)(arm64_sigcopy_end - arm64_sigcopy_start)) {
		tf->tf_pc = (uintptr_t)arm64_sigcopy_failed;
		return true;
	}
	if (arm64_curcpu()->ac_try != 0 &&
	    (FIELD(tf->tf_esr, 31, 26) == EC_UNKNOWN ||
		(FIELD(tf->tf_esr, 31, 26) == EC_DABORT &&
		    tf->tf_far < USER_TOP))) {
		tf->tf_pc = (uintptr_t)arm64_try_failed;
		return true;
	}
	return false;
}

static const char *
abort_cause(const struct trapframe *tf, bool fetch)
{
	unsigned fsc = FIELD(tf->tf_esr, 5, 0);

	if (fsc == FSC_EXTERNAL)
		return "external abort";
	if (tf->tf_far >= USER_TOP && tf_user(tf))
		return "kernel memory";
	switch (fsc >> 2) {
	case 0:
		return "not an address";
	case 1:
		return "not mapped";
	case 3:
		if (fetch)
			return "not executable";
		return tf->tf_esr & ISS_WRITE ? "not writable" : "not readable";
	default:
		return fetch ? "instruction abort" : "data abort";
	}
}

/*
 * With SAN=ubsan, undefined behaviour in the kernel runs gcc's
 * __builtin_trap(): a BRK with this number.  Arm ARM (DDI 0487), "ISS
 * encoding for an exception from execution of a Breakpoint instruction".
 */
#define GCC_TRAP 1000

static void
report_fault(struct trapframe *tf, unsigned ec)
{
	uintptr_t addr = tf->tf_esr & ISS_FNV ? 0 : tf->tf_far;
	bool fetch = ec == EC_IABORT || ec == EC_IABORT_LOW;

	if (fetch || ec == EC_DABORT || ec == EC_DABORT_LOW) {
		if (FIELD(tf->tf_esr, 5, 0) == FSC_ALIGNMENT)
			trap_fault(tf, FAULT_ALIGN, addr, "misaligned");
		else
			trap_fault(
			    tf, FAULT_PAGE, addr, abort_cause(tf, fetch));
	} else if (causes[ec].what != NULL) {
		trap_fault(tf, causes[ec].fault,
		    ec == EC_PC_ALIGN ? tf->tf_far : tf->tf_pc,
		    causes[ec].what);
	} else {
		trap_fault(tf, FAULT_OTHER, 0, "unexpected exception");
	}
}

/*
 * A program reads an ID register, MRS Xt, S3_0_C0_Cm_op2: emulate it, as
 * HWCAP_CPUID promises.  The read is undefined at EL0.  Linux,
 * Documentation/arch/arm64/cpu-feature-registers.rst.
 */
#define MRS_ID      0xd5380000u
#define MRS_ID_MASK 0xfffff000u

static bool
emulate_id_read(struct trapframe *tf)
{
	uint32_t insn;
	uint64_t value;

	if (copyin_quietly(&insn, tf->tf_pc, sizeof insn) != 0 ||
	    (insn & MRS_ID_MASK) != MRS_ID ||
	    !arm64_id_reg((unsigned)FIELD(insn, 11, 8),
		(unsigned)FIELD(insn, 7, 5), &value))
		return false;
	if (FIELD(insn, 4, 0) != 31) /* XZR */
		tf->tf_x[FIELD(insn, 4, 0)] = value;
	tf->tf_pc += sizeof insn;
	tf->tf_pstate &= ~(uint64_t)PSTATE_BTYPE; /* as after the instruction */
	return true;
}

void
arm64_trap_sync(struct trapframe *tf)
{
	unsigned ec = FIELD(tf->tf_esr, 31, 26);

	if (!tf_user(tf)) {
		if (apply_fixup(tf))
			return;
		if (ec == EC_BRK && FIELD(tf->tf_esr, 15, 0) == GCC_TRAP)
			trap_fault(tf, FAULT_UNDEF, tf->tf_pc,
			    "undefined behaviour (UBSan: brk)");
		report_fault(tf, ec);
		return;
	}
	kernel_lock();
	if (!((ec == EC_UNKNOWN || ec == EC_SYSREG) && emulate_id_read(tf)) &&
	    !(ec == EC_SVE_TRAPPED && arm64_fp_use_sve(arm64_fp_self())))
		report_fault(tf, ec);
	trap_return(tf);
}

/* An interrupt in the kernel.  Only arch_idle() lets one in. */
void
arm64_trap_irq(void)
{
	kernel_lock();
	gic_dispatch();
	kernel_unlock();
}

/*
 * SError, or a vector that should never be used.  An SError ends the run even
 * in a payload.  PSTATE.A masks it in system calls, so the kernel may have
 * caused it.
 */
void
arm64_trap_bad(struct trapframe *tf)
{
	trap_panic(tf, FIELD(tf->tf_esr, 31, 26) == EC_SERROR
			   ? "SError"
			   : "unexpected vector");
}

void
arm64_trap_overflow(struct trapframe *tf)
{
	bool guard = tf->tf_sp >= KSTACK_BASE && tf->tf_sp % 16 == 0;

	cons_seize(true);
	ksym_backtrace(tf->tf_x[29]);
	trap_panic(
	    tf, guard ? "kernel stack overflow" : "bad kernel stack pointer");
}

uintptr_t
tf_fp(const struct trapframe *tf)
{
	return tf->tf_x[29];
}

bool
tf_is_syscall(const struct trapframe *tf)
{
	return FIELD(tf->tf_esr, 31, 26) == EC_SVC;
}

unsigned
tf_sysno(const struct trapframe *tf)
{
	return (unsigned)tf->tf_x[8];
}

unsigned
tf_access(const struct trapframe *tf)
{
	unsigned ec = FIELD(tf->tf_esr, 31, 26);

	/* A translation, access flag or permission fault. */
	switch (FIELD(tf->tf_esr, 5, 2)) {
	case 1:
	case 2:
	case 3:
		break;
	default:
		return 0;
	}
	if (ec == EC_IABORT || ec == EC_IABORT_LOW)
		return PROT_EXEC;
	return tf->tf_esr & ISS_WRITE ? PROT_WRITE : PROT_READ;
}

void
tf_set_pc(struct trapframe *tf, uintptr_t pc)
{
	tf->tf_pc = pc;
}

void
tf_set_ret(struct trapframe *tf, intptr_t v)
{
	tf->tf_x[0] = (uint64_t)v;
}

/* Step back over the SVC.  The frame still has the call's arguments. */
void
tf_restart(struct trapframe *tf)
{
	tf->tf_pc -= 4;
}

void
tf_print(const struct trapframe *tf)
{
	for (unsigned i = 0; i < 31; i++)
		printf("%sx%-2u %016lx%s", i % 5 == 0 ? "cpu: " : " ", i,
		    (unsigned long)tf->tf_x[i],
		    i % 5 == 4 || i == 30 ? "\n" : "");
	printf("cpu: pc %016lx sp %016lx pstate %08lx esr %08lx far %016lx\n",
	    (unsigned long)tf->tf_pc, (unsigned long)tf->tf_sp,
	    (unsigned long)tf->tf_pstate, (unsigned long)tf->tf_esr,
	    (unsigned long)tf->tf_far);
}

/* Stacks grow down: the caller's record is above, in the same stack. */
bool
arch_frame_next(uintptr_t *fp, uintptr_t *pc)
{
	const uintptr_t *record = (const uintptr_t *)*fp;

	if (*fp < KSTACK_BASE || *fp % 16 != 0 || (*fp & KSTACK_BYTES) != 0 ||
	    record[0] == 0)
		return false;
	if (record[0] <= *fp || record[0] - *fp > KSTACK_BYTES)
		return false;
	*fp = record[0];
	*pc = record[1];
	return true;
}
