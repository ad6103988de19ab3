/* Shapes of Intel's PMU: what CPUID and the registers of known CPUs have. */

#include "tests/lib/host/x86/intel_shapes.h"

#include "arch/x86/pmu/pmu.h"
#include "arch/x86/topology.h"

/*
 * CPUID.0AH as these CPUs return it.  EAX: version, counters, width, length of
 * EBX.  EDX: fixed counters, their width, bit 15 AnyThread deprecated.
 */
const struct fake_cpu core_duo = {
	.leaf_a = { .a = 0x07280201 },
	.version = 1,
	.ngp = 2,
	.width = 40,
};
const struct fake_cpu core_2 = {
	.leaf_a = { .a = 0x07280202, .d = 0x503 },
	.version = 2,
	.ngp = 2,
	.fixed = 0x7,
	.width = 40,
};
const struct fake_cpu nehalem = {
	.leaf_a = { .a = 0x07300403, .b = 0x44, .d = 0x603 },
	.version = 3,
	.ngp = 4,
	.fixed = 0x7,
	.width = 48,
	.anythread = true,
};
/* A core with one thread has eight general counters, others have four. */
#define SKYLAKE(n)                                                             \
	.leaf1 = { .c = PDCM },                                                \
	.leaf_a = { .a = 0x07300004 | (n) << 8, .d = 0x603 }, .version = 4,    \
	.ngp = (n), .fixed = 0x7, .width = 48, .full_width = true,             \
	.anythread = true

const struct fake_cpu skylake = { SKYLAKE(4), .caches = 3 };
const struct fake_cpu skylake_without_ht = { SKYLAKE(8) };
/* With the extra MSRs. */
const struct fake_cpu skylake_whole = { SKYLAKE(4), .extra_msrs = true };
const struct fake_cpu ice_lake = {
	.leaf1 = { .c = PDCM },
	.leaf_a = { .a = 0x08300805, .d = 0x8604 },
	.version = 5,
	.ngp = 8,
	.fixed = 0xf,
	.width = 48,
	.full_width = true,
};
/* ECX may name counters beyond the number in EDX. */
const struct fake_cpu gaps = {
	.leaf1 = { .c = PDCM },
	.leaf_a = { .a = 0x08300805, .c = 0x9, .d = 0x8601 },
	.version = 5,
	.ngp = 8,
	.fixed = 0x9,
	.width = 48,
	.full_width = true,
};
const struct fake_cpu sixth = {
	.leaf1 = { .c = PDCM },
	.leaf_a = { .a = 0x0d300a06, .c = 0x77, .d = 0x8603 },
	.leaf_23 = { { .a = 3, .b = 3 }, { .a = 0x3ff, .b = 0x77 } },
	.version = 6,
	.ngp = 10,
	.fixed = 0x77,
	.width = 48,
	.full_width = true,
};
const struct fake_cpu efficient = {
	.leaf1 = { .c = PDCM },
	.leaf_a = { .a = 0x08300605, .b = 0x80, .c = 0x7, .d = 0x8603 },
	.version = 5,
	.ngp = 6,
	.fixed = 0x7,
	.width = 48,
	.full_width = true,
};

struct fake_cpu *const cpu = &fake_cpu[0];
struct x86_set set;

void
boot(const struct fake_cpu *shape)
{
	fake_reset(shape);
	x86_features.family = 6;
	x86_features.model = 94;
	x86_topology_init_cpu();
	x86_models_read();
	assert_int_equal(intel_pcbe_init(), PMU_FOUND);
	set_init(&set, ops);
}
