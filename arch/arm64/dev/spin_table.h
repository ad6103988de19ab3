/*
 * CPUs that wait for an address in memory.  Included by arch/arm64/.
 */
#ifndef ARCH_ARM64_DEV_SPIN_TABLE_H
#define ARCH_ARM64_DEV_SPIN_TABLE_H

#include <stdint.h>

struct machine_cpu;

/*
 * Release a CPU from firmware.  It enters C with `context`, its struct
 * arm64_cpu.  Returns 0, or ENOMEM if its release word cannot be mapped.
 */
int spin_table_release(const struct machine_cpu *mc, uint64_t context);

#endif /* ARCH_ARM64_DEV_SPIN_TABLE_H */
