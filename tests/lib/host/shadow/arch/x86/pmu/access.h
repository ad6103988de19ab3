/* Replaces arch/x86/pmu/access.h in host tests of the backends. */
#pragma once

#include "tests/lib/host/x86/fake_msr.h"
