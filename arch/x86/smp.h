/*
 * Finding the CPUs of the machine.  Included by arch/x86/.
 */
#ifndef ARCH_X86_SMP_H
#define ARCH_X86_SMP_H

struct bootinfo;

/* Reserve the page where other CPUs start, before the page allocator runs. */
void x86_smp_reserve(struct bootinfo *bi);
/* Call cpu_add() for each enabled CPU in ACPI's tables.  Mask all I/O APICs. */
void x86_smp_init(void);

#endif /* ARCH_X86_SMP_H */
