/* The x86 PMUs: Intel's versions and shapes, and AMD's three generations. */
#include "tests/host/kern/cpc/registers/machine.h"

#include "arch/x86/pmu/pmu.h"
#include "arch/x86/pmu/regs.h"
#include "arch/x86/topology.h"
#include "tests/lib/host/x86/intel_shapes.h"

#define TWO                                                                    \
	{                                                                      \
		{ "0xc0", "0x3c edge=1,cmask=1" },                             \
		{                                                              \
			"0xc4", "0xc5 umask=2"                                 \
		}                                                              \
	}
#define WITH_FIXED                                                             \
	{                                                                      \
		{ "PAPI_tot_ins", "PAPI_tot_cyc", "0xc0",                      \
			"0x3c edge=1,cmask=1" },                               \
		{                                                              \
			"0xc4", "0xc5 umask=2", "PAPI_tot_cyc"                 \
		}                                                              \
	}
#define WITH_MSRS                                                              \
	{                                                                      \
		{ "0xb7 umask=1,msr_offcore=0x10001",                          \
			"0xbb umask=1,msr_offcore=0x10002",                    \
			"0xcd umask=1,msr_ldlat=8",                            \
			"0xc6 umask=1,msr_frontend=17" },                      \
		{                                                              \
			"0xb7 umask=1,msr_offcore=0x10003",                    \
			    "0xbb umask=1,msr_offcore=0x10004",                \
			    "0xcd umask=1,msr_ldlat=9",                        \
			    "0xc6 umask=1,msr_frontend=18"                     \
		}                                                              \
	}
#define ON_AMD                                                                 \
	{                                                                      \
		{ "0xc0", "0x76 edge=1,cmask=1", "0xc2" },                     \
		{                                                              \
			"0xc1", "0xc3 umask=2", "0x76 inv=1,cmask=2"           \
		}                                                              \
	}

static const struct fake_cpu k8 = {
	.kind = FAKE_AMD,
	.ngp = 4,
	.width = 48,
	.short_event = true,
};
static const struct fake_cpu bulldozer = {
	.kind = FAKE_AMD,
	.leaf_80000001 = { .c = 1U << 23 },
	.ngp = 6,
	.width = 48,
	.core = true,
};
static const struct fake_cpu zen_4 = {
	.kind = FAKE_AMD,
	.leaf_80000001 = { .c = 1U << 23 },
	.leaf_80000022 = { .a = 1, .b = 6 },
	.version = 2,
	.ngp = 6,
	.width = 48,
	.core = true,
};

const struct regs_model regs_models[] = {
	{ "core_duo", TWO, { { 0 } } },
	{ "core_2", WITH_FIXED, { { 0 } } },
	{ "nehalem", WITH_FIXED, { { 0 } } },
	{ "skylake", WITH_FIXED, { { 0 } } },
	{ "skylake, extra MSRs", WITH_MSRS, { { 0 } } },
	{ "ice_lake", WITH_FIXED, { { 0 } } },
	{ "gaps", WITH_FIXED, { { 0 } } },
	{ "sixth", WITH_FIXED, { { 0 } } },
	{ "core types", WITH_FIXED, WITH_FIXED },
	{ "k8", ON_AMD, { { 0 } } },
	{ "bulldozer", ON_AMD, { { 0 } } },
	{ "zen_4", ON_AMD, { { 0 } } },
};
const unsigned regs_nmodel = sizeof regs_models / sizeof regs_models[0];

static const struct fake_cpu *const shapes[] = { &core_duo, &core_2, &nehalem,
	&skylake, &skylake_whole, &ice_lake, &gaps, &sixth, &ice_lake, &k8,
	&bulldozer, &zen_4 };
static const unsigned families[] = { 6, 6, 6, 6, 6, 6, 6, 6, 6, 0x0f, 0x15,
	0x19 };

/* CPUs 0 and 1 are cpu_core, CPU 2 is cpu_atom. */
static void
make_core_types(void)
{
	for (unsigned i = 0; i < FAKE_NCPU; i++) {
		if (i == 2)
			fake_cpu[i] = efficient;
		fake_cpu[i].core_type = i == 2 ? 0x20 : 0x40;
		fake_cpu[i].reads_open = true;
	}
}

void
regs_reset(unsigned model)
{
	fake_reset(shapes[model]);
	if (regs_models[model].rm_typed[0][0] != NULL)
		make_core_types();
	x86_features.family = families[model];
	x86_features.model = 94;
}

const struct pcbe_ops *
regs_init_cpu(unsigned model)
{
	bool amd = shapes[model]->kind == FAKE_AMD;

	x86_topology_init_cpu();
	x86_models_read();
	assert_int_equal(amd ? amd_pcbe_init() : intel_pcbe_init(), PMU_FOUND);
	return amd ? &amd_pcbe_ops : &intel_pcbe_ops;
}

void
regs_on_cpu(unsigned c)
{
	fake_self = c;
}

static bool
is_enabled(const struct fake_cpu *c, unsigned bit)
{
	return c->version < 2 || (c->ctrl >> bit & 1) != 0;
}

static void
add_extra_msrs(const struct fake_cpu *c, struct regs_file *rf)
{
	regs_add(rf, "MSR_OFFCORE_RSP_", 0, c->offcore[0]);
	regs_add(rf, "MSR_OFFCORE_RSP_", 1, c->offcore[1]);
	regs_add(rf, "MSR_PEBS_LD_LAT", -1, c->ldlat);
	regs_add(rf, "MSR_PEBS_FRONTEND", -1, c->frontend);
}

void
regs_read(unsigned n, struct regs_file *rf)
{
	const struct fake_cpu *c = &fake_cpu[n];

	rf->n = 0;
	regs_add(rf, "reads open", -1, c->reads_open);
	regs_add(rf, "IA32_DEBUGCTL", -1, c->debugctl);
	regs_add(rf, "status", -1, c->status);
	for (unsigned i = 0; i < c->ngp; i++) {
		if ((c->sel[i] & EVTSEL_EN) == 0 || !is_enabled(c, i))
			continue;
		regs_add(rf, "select ", (int)i, c->sel[i]);
		regs_add(rf, "counter ", (int)i, c->gp[i]);
	}
	for (unsigned i = 0; i < FAKE_NFIX; i++) {
		uint64_t ctrl = c->fixed_ctrl >> 4 * i & 0xf;

		if ((ctrl & 3) == 0 || !is_enabled(c, 32 + i))
			continue;
		regs_add(rf, "fixed control ", (int)i, ctrl);
		regs_add(rf, "fixed counter ", (int)i, c->fix[i]);
	}
	if (c->extra_msrs && c->ctrl != 0)
		add_extra_msrs(c, rf);
}
