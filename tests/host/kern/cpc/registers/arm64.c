/* PMUv3: counters of 32 and of 64 bits, and a big and a little core type. */
#include "tests/host/kern/cpc/registers/machine.h"

#include <string.h>

#include "arch/arm64/pmu/pmuv3_impl.h"
#include "tests/lib/host/arm64/fake_pmu.h"

#define MIDR_EMULATED 0x000f0510ULL
#define MIDR_A55      0x411fd050ULL
#define MIDR_A76      0x414fd0b0ULL

#define SETS                                                                   \
	{                                                                      \
		{ "!PAPI_tot_ins", "0x11", "!0x8" },                           \
		{                                                              \
			"0x11", "!PAPI_tot_ins"                                \
		}                                                              \
	}

const struct regs_model regs_models[] = {
	{ "PMUv3", SETS, { { 0 } } },
	{ "PMUv3p1", SETS, { { 0 } } },
	{ "PMUv3p5", SETS, { { 0 } } },
	{ "big and little", { { "PAPI_tot_ins", "0x8" }, { "0x8" } }, SETS },
};
const unsigned regs_nmodel = sizeof regs_models / sizeof regs_models[0];

#define INSTRUCTIONS (1ULL << ARM_INST_RETIRED)
#define CYCLES       (1ULL << ARM_CPU_CYCLES)
static const struct fake_shape shapes[] = {
	{ .version = 1, .nevent = 4, .ceid = { INSTRUCTIONS | CYCLES } },
	{ .version = 4, .nevent = 6, .ceid = { INSTRUCTIONS | CYCLES } },
	{ .version = 6, .nevent = 6, .ceid = { INSTRUCTIONS | CYCLES } },
	{ .version = 6, .nevent = 6, .ceid = { INSTRUCTIONS | CYCLES } },
};
static struct fake_shape shape_of[FAKE_NCPU];

static bool
is_little(unsigned model, unsigned c)
{
	return c == 2 && regs_models[model].rm_typed[0][0] != NULL;
}

void
regs_reset(unsigned model)
{
	fake_reset(&shapes[model]);
	memset(&pmuv3, 0, sizeof pmuv3);
	for (unsigned c = 0; c < FAKE_NCPU; c++) {
		shape_of[c] = shapes[model];
		if (is_little(model, c))
			shape_of[c].nevent = 4;
	}
}

const struct pcbe_ops *
regs_init_cpu(unsigned model)
{
	bool typed = regs_models[model].rm_typed[0][0] != NULL;

	pmuv3_pcbe_init(false, is_little(model, fake_self) ? MIDR_A55
			       : typed                     ? MIDR_A76
							   : MIDR_EMULATED);
	pmuv3_pcbe_overflow(PMUV3_PLAIN);
	return &pmuv3_pcbe_ops;
}

void
regs_on_cpu(unsigned c)
{
	fake_self = c;
	fake_shape = shape_of[c];
}

/* PMCCNTR_EL0 always runs, for the time. */
void
regs_read(unsigned c, struct regs_file *rf)
{
	const struct fake_pmu *p = &fake_pmu[c];

	rf->n = 0;
	regs_add(rf, "PMCR_EL0", -1, p->pmcr);
	regs_add(rf, "PMCNTENSET_EL0", -1, p->pmcnten);
	regs_add(rf, "PMINTENSET_EL1", -1, p->pminten & p->pmcnten);
	regs_add(rf, "PMOVSCLR_EL0", -1, p->pmovs & p->pmcnten);
	regs_add(rf, "PMUSERENR_EL0", -1, p->pmuserenr);
	regs_add(rf, "PMCCFILTR_EL0", -1, p->pmevtyper[FAKE_NEVENT]);
	for (unsigned n = 0; n < shape_of[c].nevent; n++) {
		if ((p->pmcnten >> n & 1) == 0)
			continue;
		regs_add(rf, "PMEVTYPER_EL0 ", (int)n, p->pmevtyper[n]);
		regs_add(rf, "PMEVCNTR_EL0 ", (int)n, p->pmevcntr[n]);
	}
}
