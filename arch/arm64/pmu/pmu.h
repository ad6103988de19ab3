/*
 * The PMUv3 backend's function for the rest of arch/arm64/, which includes
 * this.
 */
#ifndef ARCH_ARM64_PMU_PMU_H
#define ARCH_ARM64_PMU_PMU_H

/*
 * Read the shape of this CPU's PMU and stop its PICs.  The boot CPU comes
 * first; PICs and events that another CPU lacks are not offered.
 */
void pmuv3_cpu_init(void);

#endif /* ARCH_ARM64_PMU_PMU_H */
