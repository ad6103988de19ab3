/* Replaces arch/x86/pmu/access.h in host tests of the backends. */
#ifndef TESTS_LIB_HOST_SHADOW_ARCH_X86_PMU_ACCESS_H
#define TESTS_LIB_HOST_SHADOW_ARCH_X86_PMU_ACCESS_H

#include "tests/lib/host/x86/fake_msr.h"

#endif /* TESTS_LIB_HOST_SHADOW_ARCH_X86_PMU_ACCESS_H */
