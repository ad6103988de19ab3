/*
 * The PMUv3 backend, to the rest of arch/arm64/, which includes this.
 */
#ifndef ARCH_ARM64_PMU_PMU_H
#define ARCH_ARM64_PMU_PMU_H

/* Learn and silence this CPU's PMU; the boot CPU's decides the shape. */
void pmuv3_cpu_init(void);

#endif /* ARCH_ARM64_PMU_PMU_H */
