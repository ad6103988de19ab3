/*
 * Replaces arch/arm64/sysreg.h in host tests of the backend:
 * tests/lib/host/shadow comes first in its include path.
 */
#ifndef TESTS_LIB_HOST_SHADOW_ARCH_ARM64_SYSREG_H
#define TESTS_LIB_HOST_SHADOW_ARCH_ARM64_SYSREG_H

#include "tests/lib/host/fake_pmu.h"

#endif /* TESTS_LIB_HOST_SHADOW_ARCH_ARM64_SYSREG_H */
