/* Replaces payloads/vpmu/arm64/sysreg.h in host tests. */
#ifndef TESTS_LIB_HOST_SHADOW_PAYLOADS_VPMU_ARM64_SYSREG_H
#define TESTS_LIB_HOST_SHADOW_PAYLOADS_VPMU_ARM64_SYSREG_H

#include <stdint.h>

uint64_t read_reg(const char *name);
void write_reg(const char *name, uint64_t v);

#endif /* TESTS_LIB_HOST_SHADOW_PAYLOADS_VPMU_ARM64_SYSREG_H */
