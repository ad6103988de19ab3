/*
 * Exceptions, interrupts, NMIs and system calls, as entry.S hands them over.
 * Also the accessors of the trap frame.
 */
#include "arch/x86/dev/apic.h"
#include "arch/x86/insn.h"
#include "arch/x86/pmu/pic.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/sched/klock.h"
#include "kern/sys/syscall.h"
#include "lib/printf.h"
#include "lib/string.h"

/* Vectors.  Intel SDM vol. 3A, "Exception and Interrupt Reference". */
#define VEC_UD 6
#define VEC_GP 13
#define VEC_PF 14
#define VEC_AC 17

/* Error code of a page fault. */
#define PF_PRESENT 0x1
#define PF_WRITE   0x2
#define PF_USER    0x4
#define PF_RSVD    0x8
#define PF_FETCH   0x10
#define PF_KEY     0x20

static const struct {
	enum fault fault;
	const char *what;
} causes[NEXCEPTION] = {
	[0] = { FAULT_DIV, "integer division" },
	[VEC_DB] = { FAULT_STEP, "debug exception" },
	[3] = { FAULT_BREAK, "breakpoint" },
	[4] = { FAULT_PROT, "overflow (INTO)" },
	[5] = { FAULT_PROT, "bound exceeded" },
	[VEC_UD] = { FAULT_UNDEF, "undefined instruction" },
	[7] = { FAULT_UNDEF, "no floating point here" },
	[10] = { FAULT_PROT, "bad task-state segment" },
	[11] = { FAULT_PROT, "segment not present" },
	[12] = { FAULT_PROT, "stack segment" },
	[VEC_GP] = { FAULT_PROT, "general protection" },
	[16] = { FAULT_FP, "x87 exception" },
	[VEC_AC] = { FAULT_ALIGN, "misaligned" },
	[19] = { FAULT_FP, "SIMD floating point exception" },
	[21] = { FAULT_PROT, "control protection" },
};

/* A kernel instruction that may fault, and where to continue after a fault. */
struct fixup {
	int32_t f_insn; /* both are relative to their own address */
	int32_t f_resume;
};
extern const struct fixup __fixup_start[], __fixup_end[];

static bool
apply_fixup(struct trapframe *tf)
{
	for (const struct fixup *f = __fixup_start; f < __fixup_end; f++) {
		if (tf->tf_rip == (uintptr_t)&f->f_insn + f->f_insn) {
			tf->tf_rip = (uintptr_t)&f->f_resume + f->f_resume;
			return true;
		}
	}
	if (tf->tf_rip - (uintptr_t)x86_sigcopy_start <
		(size_t)(x86_sigcopy_end - x86_sigcopy_start) &&
	    (tf->tf_vector == VEC_GP ||
		(tf->tf_vector == VEC_PF && read_cr(2) < USER_TOP))) {
		tf->tf_rip = (uintptr_t)x86_sigcopy_failed;
		return true;
	}
	return false;
}

static const char *
page_fault_cause(uint64_t err)
{
	if (err & PF_RSVD)
		return "damaged page table";
	if (err & PF_KEY)
		return "protection key";
	if (!(err & PF_PRESENT))
		return "not mapped";
	if (err & PF_FETCH)
		return "not executable";
	return err & PF_WRITE ? "not writable" : "not readable";
}

/* UD2, 0FH 0BH.  Intel SDM vol. 2B, "UD - Undefined Instruction". */
#define UD2 0x0b0f

/* With SAN=ubsan, the compiler makes the kernel's undefined behaviour a UD2. */
static bool
is_ubsan_trap(const struct trapframe *tf)
{
	uint16_t insn;

	if (tf->tf_vector != VEC_UD)
		return false;
	memcpy(&insn, (const void *)tf->tf_rip, sizeof insn);
	return insn == UD2;
}

static void
report_fault(struct trapframe *tf, uintptr_t addr)
{
	uint64_t vec = tf->tf_vector;

	if (vec == VEC_PF)
		trap_fault(tf, FAULT_PAGE, addr, page_fault_cause(tf->tf_err));
	else if (vec < NEXCEPTION && causes[vec].what != NULL)
		trap_fault(tf, causes[vec].fault,
		    causes[vec].fault == FAULT_PROT ? 0 : tf->tf_rip,
		    causes[vec].what);
	else
		trap_fault(tf, FAULT_OTHER, 0, "unexpected vector");
}

/* Return to the payload.  Usually that needs no call. */
static inline void
leave_kernel(struct trapframe *tf)
{
	if (lwp_self()->l_ast != 0)
		trap_return(tf);
	else
		kernel_unlock();
}

/* An NMI may interrupt another one's handler here, so the add is atomic. */
static inline void
nmi_count(void)
{
	__atomic_fetch_add(&arch_curcpu()->c_nmis, 1, __ATOMIC_RELAXED);
}

/* No overflow explains the NMI: it stops this CPU, or it is stray. */
static void
nmi_unexpected(const struct trapframe *tf)
{
	if (x86_halt_requested())
		x86_stop();
	x86_nmi_stray(tf);
}

void
x86_trap_payload(struct trapframe *tf)
{
	uintptr_t addr = read_cr(2); /* before another CPU's turn */

	kernel_lock();
	report_fault(tf, addr);
	leave_kernel(tf);
}

/*
 * Another CPU holds the kernel lock.  While this CPU waits for it, a cross-call
 * may make it stop the set.
 */
static void
nmi_wait_for_lock(struct trapframe *tf)
{
	uint32_t found = x86_pic_nmi_found();

	/* A CPU that stops the machine does not release the lock. */
	if (x86_halt_requested())
		x86_stop();
	kernel_lock_wait();
	if (kcpc_pmi())
		x86_pic_nmi_seen();
	else if (!x86_pic_nmi_late() && x86_pic_nmi_found() == found)
		nmi_unexpected(tf);
}

/* An NMI hit a payload.  Handle it like an overflow in x86_interrupt(). */
void
x86_trap_nmi(struct trapframe *tf)
{
	nmi_count();
	if (!lock_try(&klock))
		nmi_wait_for_lock(tf);
	else if (kcpc_pmi())
		x86_pic_nmi_seen();
	else if (!x86_pic_nmi_late())
		nmi_unexpected(tf);
	leave_kernel(tf);
}

void
x86_trap_kernel(struct trapframe *tf)
{
	if (apply_fixup(tf))
		return;
	if (is_ubsan_trap(tf))
		trap_fault(tf, FAULT_UNDEF, tf->tf_rip,
		    "undefined behaviour (UBSan: ud2)");
	report_fault(tf, read_cr(2));
}

void
x86_trap_pmi(struct trapframe *tf)
{
	kernel_lock();
	arch_curcpu()->c_interrupts++;
	kcpc_pmi(); /* also unmasks the APIC's entry */
	x86_apic_write(APIC_EOI, 0);
	leave_kernel(tf);
}

void
x86_trap_interrupt(struct trapframe *tf)
{
	kernel_lock();
	x86_interrupt(tf);
	leave_kernel(tf);
}

void
x86_trap_idle(struct trapframe *tf)
{
	kernel_lock();
	x86_interrupt(tf);
	kernel_unlock();
}

void
x86_trap_uninvited(struct trapframe *tf)
{
	trap_panic(tf, "interrupt while interrupts are off: the emulator or "
		       "hypervisor delivered one too many");
}

/*
 * The frame has the arguments in their order.  System V ABI, AMD64 supplement,
 * "Linux Conventions".
 */
void
x86_trap_syscall(struct trapframe *tf)
{
	kernel_lock();
	intptr_t ret = syscall_find((unsigned)tf->tf_err)(&tf->tf_rdi);
	if (ret != -EJUSTRETURN)
		tf->tf_rax = (uint64_t)ret;
	leave_kernel(tf);
}

/* After an overflow's NMI, the kernel continues at the interrupted address. */
static void
kernel_nmi(struct trapframe *tf)
{
	nmi_count();
	if (x86_halt_requested())
		x86_stop();
	if (!x86_pic_nmi(tf->tf_rip))
		nmi_unexpected(tf);
	/*
	 * An NMI between STI and HLT may have raised the PMI, or hold back a
	 * pending interrupt.  HLT would sleep through the interrupt: skip it.
	 */
	if (tf->tf_rip == (uintptr_t)x86_idle_hlt)
		tf->tf_rip++;
}

/* NMIs in the kernel, double faults, machine checks, on their own stacks. */
void
x86_trap_anywhere(struct trapframe *tf)
{
	if (tf->tf_vector == VEC_NMI) {
		kernel_nmi(tf);
		return;
	}
	if (tf->tf_vector == VEC_MC)
		x86_mcheck(tf);
	trap_panic(tf, "double fault");
}

void
x86_trap_overflow(struct trapframe *tf)
{
	trap_panic(tf, tf->tf_rsp < KSTACK_BASE ? "bad kernel stack pointer"
						: "kernel stack overflow");
}

uintptr_t
tf_fp(const struct trapframe *tf)
{
	return tf->tf_rbp;
}

bool
tf_is_syscall(const struct trapframe *tf)
{
	return tf->tf_vector == VEC_SYSCALL;
}

unsigned
tf_sysno(const struct trapframe *tf)
{
	return (unsigned)tf->tf_err;
}

unsigned
tf_access(const struct trapframe *tf)
{
	bool user = (tf->tf_cs & 3) != 0;

	if (tf->tf_err & (PF_RSVD | PF_KEY))
		return 0;
	/* The CPU's own access, to a descriptor: never to user pages. */
	if (user && (tf->tf_err & PF_USER) == 0)
		return 0;
	if (tf->tf_err & PF_FETCH)
		return PROT_EXEC;
	return tf->tf_err & PF_WRITE ? PROT_WRITE : PROT_READ;
}

void
tf_set_pc(struct trapframe *tf, uintptr_t pc)
{
	tf->tf_rip = pc;
}

void
tf_set_ret(struct trapframe *tf, intptr_t v)
{
	tf->tf_rax = (uint64_t)v;
}

/* Go back over SYSCALL, two bytes long.  The arguments are still in place. */
void
tf_restart(struct trapframe *tf)
{
	tf->tf_rax = tf->tf_err;
	tf->tf_rip -= 2;
}

void
tf_print(const struct trapframe *tf)
{
	printf("cpu: rax %016lx rbx %016lx rcx %016lx rdx %016lx\n", tf->tf_rax,
	    tf->tf_rbx, tf->tf_rcx, tf->tf_rdx);
	printf("cpu: rsi %016lx rdi %016lx rbp %016lx rsp %016lx\n", tf->tf_rsi,
	    tf->tf_rdi, tf->tf_rbp, tf->tf_rsp);
	printf("cpu: r8  %016lx r9  %016lx r10 %016lx r11 %016lx\n", tf->tf_r8,
	    tf->tf_r9, tf->tf_r10, tf->tf_r11);
	printf("cpu: r12 %016lx r13 %016lx r14 %016lx r15 %016lx\n", tf->tf_r12,
	    tf->tf_r13, tf->tf_r14, tf->tf_r15);
	printf("cpu: rip %016lx rflags %08lx cs %02lx ss %02lx\n", tf->tf_rip,
	    tf->tf_rflags, tf->tf_cs, tf->tf_ss);
	printf("cpu: vector %#lx error %#lx cr2 %016lx cr3 %016lx\n",
	    tf->tf_vector, tf->tf_err, read_cr(2), read_cr(3));
}

/* A stack grows down, so the record of the caller is above, in one stack. */
bool
arch_frame_next(uintptr_t *fp, uintptr_t *pc)
{
	const uintptr_t *record = (const uintptr_t *)*fp;

	if (*fp < KSTACK_BASE || *fp % 8 != 0 || (*fp & KSTACK_BYTES) != 0)
		return false;
	*pc = record[1];
	*fp = record[0];
	return *pc != 0;
}
