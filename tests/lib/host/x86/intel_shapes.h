/* Shapes of Intel's PMU, and a boot on one.  Included by its tests. */
#pragma once

#include "tests/lib/host/support.h"

#include "arch/x86/pmu/pmu.h"
#include "tests/lib/host/x86/fake_msr.h"
#include "tests/lib/host/x86/x86_set.h"

#define USER   CPC_COUNT_USER
#define SYSTEM CPC_COUNT_SYSTEM
#define BOTH   (USER | SYSTEM)
#define NOTIFY CPC_OVF_NOTIFY_EMT
#define PDCM   (1U << 15)

#define ops (&intel_pcbe_ops)

/* Each is named for a CPU of that shape, or for its unusual property. */
extern const struct fake_cpu core_duo, core_2, nehalem, skylake,
    skylake_without_ht, skylake_whole, ice_lake, gaps, sixth, efficient;

/* Included here, intel_impl.h would see the macro `ops`. */
extern bool intel_extras_shared;

/* Give all CPUs this shape, boot the first one, and empty the set. */
void boot(const struct fake_cpu *shape);
extern struct fake_cpu *const cpu; /* the first CPU */
extern struct x86_set set;
