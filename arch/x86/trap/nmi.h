/*
 * Stray NMIs: those that no overflow and no CPU of ours sent.  Included by
 * arch/x86/.
 */
#ifndef ARCH_X86_TRAP_NMI_H
#define ARCH_X86_TRAP_NMI_H

struct trapframe;

/* In xc_ipi, above kern/sched/cpu.h's reasons: a report waits. */
#define X86_IPI_STRAY_NMI 0x80000000U

/*
 * Count the NMI of frame tf; with nmi=panic end the run.  May be called
 * anywhere an NMI strikes.  The first of each CPU is reported in the log, at
 * the next moment this CPU lets interrupts in.
 */
void x86_nmi_stray(const struct trapframe *tf);
/* Write that report.  With the kernel lock held, not in an NMI. */
void x86_nmi_report(void);

#endif /* ARCH_X86_TRAP_NMI_H */
