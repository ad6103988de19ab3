/* Which threads share a core: leaf 1FH, 0BH, older.  SDM vol. 2A, "CPUID". */
#include "tests/lib/host/support.h"

#include "arch/x86/cpuid.h"
#include "arch/x86/topology.h"
#include "kern/arch.h"
#include "kern/sched/cpu.h"

#define HTT        (1U << 28)
#define MAX_LEAVES 6

/* A leaf that is absent here reads as zeros. */
struct part {
	const char *name;
	struct {
		uint32_t leaf, subleaf;
		struct cpuid_regs regs;
	} leaves[MAX_LEAVES];
};

static const struct part *part;
static uint32_t apic_id;
static struct cpu self;

struct cpu *
arch_curcpu(void)
{
	return &self;
}

/* The leaves of the CPUs of a part differ in the APIC ID only. */
struct cpuid_regs
cpuid(uint32_t leaf, uint32_t subleaf)
{
	for (unsigned i = 0; i < MAX_LEAVES; i++) {
		struct cpuid_regs r = part->leaves[i].regs;

		if (part->leaves[i].leaf != leaf ||
		    part->leaves[i].subleaf != subleaf)
			continue;
		if (leaf == 1)
			r.b |= apic_id << 24;
		else if (leaf == 0xb || leaf == 0x1f)
			r.d = apic_id;
		return r;
	}
	return (struct cpuid_regs){ 0 };
}

/* HTT is clear: EBX[23:16] has no meaning. */
static const struct part pentium_3 = { "Pentium III",
	{ { 1, 0, { .b = 0x00020000, .d = 0x0387fbff } } } };
/* Two threads of one core, with leaf 4 and without it. */
static const struct part pentium_4 = { "Pentium 4 HT",
	{ { 1, 0, { .b = 0x00020800, .d = 0xbfebfbff } } } };
static const struct part pentium_4_prescott = { "Pentium 4 HT, Prescott",
	{ { 1, 0, { .b = 0x00020800, .d = 0xbfebfbff } },
	    { 4, 0, { .a = 0x00004121, .b = 0x01c0003f, .c = 0x1f } } } };
/* Two cores of two threads. */
static const struct part pentium_ee = { "Pentium Extreme Edition",
	{ { 1, 0, { .b = 0x00040800, .d = 0xbfebfbff } },
	    { 4, 0, { .a = 0x04004121, .b = 0x01c0003f, .c = 0x1f } } } };
/* HTT is set, and each core is one thread. */
static const struct part core_2_duo = { "Core 2 Duo",
	{ { 1, 0, { .b = 0x00020800, .d = 0xbfebfbff } },
	    { 4, 0, { .a = 0x04000121, .b = 0x01c0003f, .c = 0x3f } } } };
/* Six cores: IDs are allocated by the next power of two. */
static const struct part xeon_7400 = { "Xeon 7400",
	{ { 1, 0, { .b = 0x00080800, .d = 0xbfebfbff } },
	    { 4, 0, { .a = 0x1c000121, .b = 0x01c0003f, .c = 0x3f } } } };
static const struct part atom = { "Atom N270",
	{ { 1, 0, { .b = 0x00020800, .d = 0xbfe9fbff } },
	    { 4, 0, { .a = 0x00004121, .b = 0x0140003f, .c = 0x3f } } } };
static const struct part nehalem = { "Core i7-920",
	{ { 1, 0, { .b = 0x00100800, .d = 0xbfebfbff } },
	    { 4, 0, { .a = 0x1c004121, .b = 0x01c0003f, .c = 0x3f } },
	    { 0xb, 0, { .a = 1, .b = 2, .c = 0x100 } },
	    { 0xb, 1, { .a = 4, .b = 8, .c = 0x201 } } } };
/* Without threads, IDs are consecutive... */
static const struct part skylake_i5 = { "Core i5-6500",
	{ { 1, 0, { .b = 0x00100800, .d = 0xbfebfbff } },
	    { 4, 0, { .a = 0x1c004121, .b = 0x01c0003f, .c = 0x3f } },
	    { 0xb, 0, { .a = 0, .b = 1, .c = 0x100 } },
	    { 0xb, 1, { .a = 4, .b = 4, .c = 0x201 } } } };
/* ...or leave gaps for the threads that firmware turned off. */
static const struct part threads_off = { "Xeon, threads off",
	{ { 0xb, 0, { .a = 1, .b = 1, .c = 0x100 } },
	    { 0xb, 1, { .a = 5, .b = 14, .c = 0x201 } } } };
/* Leaf 1FH describes dies, leaf 0BH does not. */
static const struct part cascade_lake_ap = { "Xeon Platinum 9242",
	{ { 0xb, 0, { .a = 1, .b = 2, .c = 0x100 } },
	    { 0xb, 1, { .a = 7, .b = 96, .c = 0x201 } },
	    { 0x1f, 0, { .a = 1, .b = 2, .c = 0x100 } },
	    { 0x1f, 1, { .a = 6, .b = 48, .c = 0x201 } },
	    { 0x1f, 2, { .a = 7, .b = 96, .c = 0x502 } } } };
/* Four threads per core. */
static const struct part knights_landing = { "Xeon Phi 7210",
	{ { 0xb, 0, { .a = 2, .b = 4, .c = 0x100 } },
	    { 0xb, 1, { .a = 9, .b = 256, .c = 0x201 } } } };
/* A hypervisor's leaf 0BH that is present but empty. */
static const struct part hollow = { "a hollow leaf",
	{ { 1, 0, { .b = 0x00020800, .d = HTT } },
	    { 4, 0, { .a = 0x00000121 } }, { 0xb, 0, { .c = 0 } } } };

/* The APIC IDs that are in the core of the first one: bit n for the nth ID. */
static void
expect_core(const struct part *p, unsigned n, const uint32_t *ids, unsigned set)
{
	uint32_t first = 0;
	unsigned found = 0;

	part = p;
	for (unsigned i = 0; i < n; i++) {
		apic_id = ids[i];
		if (i == 0)
			first = x86_core_id();
		found |= (unsigned)(x86_core_id() == first) << i;
	}
	if (found != set)
		fail_msg("%s: %#x, not %#x", p->name, found, set);
}

TEST(cores)
{
	static const uint32_t dense[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	static const uint32_t middle[] = { 6, 7, 8, 5, 4 };
	static const uint32_t even[] = { 0, 2, 4, 6 };
	static const uint32_t high[] = { 0x101, 0x100, 0x102, 0x1 };

	expect_core(&pentium_3, 2, dense, 1);
	expect_core(&pentium_4, 2, dense, 3);
	expect_core(&pentium_4_prescott, 4, dense, 3);
	expect_core(&pentium_ee, 4, dense, 3);
	expect_core(&core_2_duo, 2, dense, 1);
	expect_core(&xeon_7400, 8, dense, 1);
	expect_core(&atom, 2, dense, 3);
	expect_core(&nehalem, 8, dense, 3);
	expect_core(&nehalem, 5, middle, 3);
	expect_core(&skylake_i5, 4, dense, 1);
	expect_core(&threads_off, 4, even, 1);
	expect_core(&cascade_lake_ap, 8, dense, 3);
	expect_core(&knights_landing, 8, dense, 0xf);
	expect_core(&knights_landing, 4, high, 7);
	expect_core(&hollow, 2, dense, 3);
}

/* A core has more threads, whether they were started or not. */
TEST(shared_cores)
{
	static const struct {
		const struct part *part;
		bool shared;
	} cases[] = {
		{ &pentium_3, false },
		{ &pentium_ee, true },
		{ &core_2_duo, false },
		{ &xeon_7400, false },
		{ &atom, true },
		{ &nehalem, true },
		{ &skylake_i5, false },
		{ &threads_off, false },
		{ &knights_landing, true },
		{ &hollow, true },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		part = cases[i].part;
		if (x86_core_is_shared() != cases[i].shared)
			fail_msg("%s", part->name);
	}
}

/* CPUs come up in any order.  The threads of a core are those that are up. */
TEST(threads_by_cpu)
{
	static const uint32_t ids[] = { 4, 0, 2, 5, 1, 3 };
	static const uint64_t want[] = { 0x09, 0x12, 0x24, 0x09, 0x12, 0x24 };

	part = &nehalem;
	for (self.c_id = 0; self.c_id < 6; self.c_id++) {
		apic_id = ids[self.c_id];
		x86_topology_init_cpu();
		assert_int_equal(x86_core_threads(self.c_id)->cs_word[0],
		    want[self.c_id] & ((2U << self.c_id) - 1));
	}
	for (unsigned cpu = 0; cpu < 6; cpu++)
		assert_int_equal(x86_core_threads(cpu)->cs_word[0], want[cpu]);
	assert_int_equal(x86_core_threads(6)->cs_word[0], 0);
}
