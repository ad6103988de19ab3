/* Replaces arch/arm64/sysreg.h in host tests. */
#ifndef TESTS_LIB_HOST_SHADOW_ARCH_ARM64_SYSREG_H
#define TESTS_LIB_HOST_SHADOW_ARCH_ARM64_SYSREG_H

#include "tests/lib/host/arm64/fake_pmu.h"

#define dsb(kind) isb()

#endif /* TESTS_LIB_HOST_SHADOW_ARCH_ARM64_SYSREG_H */
