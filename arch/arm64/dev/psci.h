/*
 * The firmware's power calls.  Included by arch/arm64/.
 */
#ifndef ARCH_ARM64_DEV_PSCI_H
#define ARCH_ARM64_DEV_PSCI_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Start a CPU at a physical address with `context` in x0.  Returns 0, or
 * ENODEV without PSCI, EBUSY if the CPU is on already, EINVAL, EIO.
 */
int psci_cpu_on(uint64_t mpidr, uint64_t entry, uint64_t context);
/*
 * End the run: SYSTEM_OFF if it passed, else SYSTEM_RESET.  Returns only if
 * the machine has no PSCI.
 */
void psci_end(bool passed);

#endif /* ARCH_ARM64_DEV_PSCI_H */
