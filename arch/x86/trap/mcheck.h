/*
 * Machine checks.  Included by arch/x86/.
 */
#ifndef ARCH_X86_TRAP_MCHECK_H
#define ARCH_X86_TRAP_MCHECK_H

struct trapframe;

/* Clear this CPU's banks, and enable the report of all their errors. */
void x86_mcheck_init_cpu(void);
/* Print and clear the errors that this CPU's banks hold.  Returns how many. */
unsigned x86_mcheck_take(void);
/* Print this CPU's banks and end the run.  On the stack of IST_MC. */
_Noreturn void x86_mcheck(const struct trapframe *tf);

#endif /* ARCH_X86_TRAP_MCHECK_H */
