/* Replaces arch/arm64/sysreg.h in host tests. */
#pragma once

#include "tests/lib/host/arm64/fake_pmu.h"

#define dsb(kind) isb()
