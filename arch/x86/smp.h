/*
 * Which CPUs there are, and how they are started.  Included by arch/x86/.
 */
#ifndef ARCH_X86_SMP_H
#define ARCH_X86_SMP_H

struct bootinfo;

/* Keep the page the other CPUs start in.  Before the page allocator. */
void x86_smp_reserve(struct bootinfo *bi);
/* cpu_add() for each CPU ACPI names as enabled; mask all I/O APICs. */
void x86_smp_init(void);

#endif /* ARCH_X86_SMP_H */
