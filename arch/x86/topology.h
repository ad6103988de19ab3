/*
 * Which CPUs are hardware threads of one core.  Included by arch/x86/ and
 * tests/host.
 */
#ifndef ARCH_X86_TOPOLOGY_H
#define ARCH_X86_TOPOLOGY_H

#include <stdint.h>

struct cpuset; /* kern/sched/cpuset.h */

/*
 * What the APIC ids of this CPU and of the other threads of its core have in
 * common, and no other CPU's has.
 */
uint32_t x86_core_id(void);

/* Note this CPU's core.  Once per CPU, the boot CPU first. */
void x86_topology_init_cpu(void);
/*
 * The CPUs noted that are cpu's core, itself included.  The next call
 * changes the set.  With the kernel lock held, or at boot.
 */
const struct cpuset *x86_core_threads(unsigned cpu);

#endif /* ARCH_X86_TOPOLOGY_H */
