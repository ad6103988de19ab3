/* CPUs that are threads of one core.  Included by arch/x86/ and tests/host. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cpuset; /* kern/sched/cpuset.h */

/* The id of this CPU's core: the part of the APIC id that its threads share. */
uint32_t x86_core_id(void);

/* Does this CPU's core have more threads, whether they were started or not? */
bool x86_core_is_shared(void);

/* Note this CPU's core.  Call once on each CPU, the boot CPU first. */
void x86_topology_init_cpu(void);
/*
 * The noted CPUs that are threads of the same core as `cpu`, which is among
 * them.  The next call overwrites the result.  Call with the kernel lock held,
 * or at boot.
 */
const struct cpuset *x86_core_threads(unsigned cpu);
