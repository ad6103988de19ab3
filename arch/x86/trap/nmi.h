/*
 * Stray NMIs, which come neither from an overflow nor from another CPU.
 * Included by arch/x86/.
 */
#ifndef ARCH_X86_TRAP_NMI_H
#define ARCH_X86_TRAP_NMI_H

struct trapframe;

/* A reason in xc_ipi: a report waits.  kern/sched/cpu.h has the lower bits. */
#define X86_IPI_STRAY_NMI 0x80000000U

/*
 * Count the NMI of frame tf, or end the run with nmi=panic.  Safe in every NMI.
 * The log reports the first stray NMI of each CPU, when that CPU next enables
 * interrupts.
 */
void x86_nmi_stray(const struct trapframe *tf);
/* Write that report.  Call with the kernel lock held, not in an NMI. */
void x86_nmi_report(void);

#endif /* ARCH_X86_TRAP_NMI_H */
