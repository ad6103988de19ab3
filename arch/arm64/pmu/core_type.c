/*
 * Core types: CPUs with the same Implementer and PartNum in MIDR_EL1.  On
 * big.LITTLE machines they differ in events, and perhaps in event counters.
 * Arm ARM (DDI 0487), "MIDR_EL1".
 */
#include "arch/arm64/pmu/pmuv3_impl.h"

#include "kern/arch.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"
#include "lib/string.h"

#define MIDR_IMPLEMENTER(midr) ((unsigned)((midr) >> 24 & 0xff))
#define MIDR_PART(midr)        ((unsigned)((midr) >> 4 & 0xfff))

struct pmuv3 pmuv3_types[PCBE_MAXTYPE];
static struct pcbe_type types[PCBE_MAXTYPE];
static char names[PCBE_MAXTYPE][32];
static unsigned ntypes;

/*
 * The names that Linux's perf has, from drivers/perf/arm_pmuv3.c.  The parts
 * are in the technical reference manuals of the CPUs, "MIDR_EL1".
 */
static const struct {
	unsigned part;
	const char *name;
} arm_names[] = {
	{ 0xd02, "armv8_cortex_a34" },
	{ 0xd03, "armv8_cortex_a53" },
	{ 0xd04, "armv8_cortex_a35" },
	{ 0xd05, "armv8_cortex_a55" },
	{ 0xd06, "armv8_cortex_a65" },
	{ 0xd07, "armv8_cortex_a57" },
	{ 0xd08, "armv8_cortex_a72" },
	{ 0xd09, "armv8_cortex_a73" },
	{ 0xd0a, "armv8_cortex_a75" },
	{ 0xd0b, "armv8_cortex_a76" },
	{ 0xd0c, "armv8_neoverse_n1" },
	{ 0xd0d, "armv8_cortex_a77" },
	{ 0xd40, "armv8_neoverse_v1" },
	{ 0xd41, "armv8_cortex_a78" },
	{ 0xd44, "armv8_cortex_x1" },
	{ 0xd46, "armv9_cortex_a510" },
	{ 0xd47, "armv9_cortex_a710" },
	{ 0xd48, "armv9_cortex_x2" },
	{ 0xd49, "armv9_neoverse_n2" },
	{ 0xd4a, "armv8_neoverse_e1" },
	{ 0xd4d, "armv9_cortex_a715" },
	{ 0xd4e, "armv9_cortex_x3" },
	{ 0xd4f, "armv8_neoverse_v2" },
	{ 0xd80, "armv9_cortex_a520" },
	{ 0xd81, "armv9_cortex_a720" },
	{ 0xd82, "armv9_cortex_x4" },
	{ 0xd83, "armv8_neoverse_v3ae" },
	{ 0xd84, "armv8_neoverse_v3" },
	{ 0xd85, "armv9_cortex_x925" },
	{ 0xd87, "armv9_cortex_a725" },
	{ 0xd88, "armv9_cortex_a520ae" },
	{ 0xd89, "armv9_cortex_a720ae" },
	{ 0xd8a, "armv8_c1_nano" },
	{ 0xd8b, "armv8_c1_pro" },
	{ 0xd8c, "armv8_c1_ultra" },
	{ 0xd8e, "armv9_neoverse_n3" },
	{ 0xd90, "armv8_c1_premium" },
};

/* A part without a name of its own is named by its numbers. */
static void
set_name(char *name, size_t size, unsigned implementer, unsigned part)
{
	for (size_t i = 0; i < sizeof arm_names / sizeof arm_names[0]; i++) {
		if (implementer == 0x41 && arm_names[i].part == part) {
			strlcpy(name, arm_names[i].name, size);
			return;
		}
	}
	snprintf(name, size, "armv8_%02x_%03x", implementer, part);
}

static void
add_type(const struct pmuv3 *mine)
{
	set_name(names[ntypes], sizeof names[0], mine->pv_implementer,
	    mine->pv_part);
	pmuv3_types[ntypes] = *mine;
	types[ntypes] = (struct pcbe_type){ .py_name = names[ntypes] };
	ntypes++;
}

/* The PICs of all types: they are the first ones of each. */
static void
publish_types(void)
{
	pmuv3.pv_pics = 0;
	for (unsigned t = 0; t < ntypes; t++) {
		uint64_t pics = (1ULL << pmuv3_types[t].pv_nevent) - 1;

		types[t].py_pics = (uint32_t)pics;
		types[t].py_attrs = pmuv3_attrs(&pmuv3_types[t]);
		pmuv3.pv_pics |= pics;
	}
	if (pmuv3.pv_nevent == 0)
		pmuv3.pv_pics = 0;
	pmuv3_pcbe_ops.pcbe_attrs = pmuv3_attrs(&pmuv3);
	pmuv3_pcbe_ops.pcbe_ntypes = ntypes > 1 ? ntypes : 0;
	pmuv3_pcbe_ops.pcbe_types = types;
	pmuv3_pcbe_ops.pcbe_shared = (uint32_t)((1ULL << pmuv3.pv_nevent) - 1);
}

void
pmuv3_type_join(struct pmuv3 *mine, uint64_t midr)
{
	unsigned cpu = arch_curcpu()->c_id, t = 0;

	mine->pv_implementer = MIDR_IMPLEMENTER(midr);
	mine->pv_part = MIDR_PART(midr);
	if (cpu == 0) {
		ntypes = 0;
		pmuv3.pv_implementer = mine->pv_implementer;
		pmuv3.pv_part = mine->pv_part;
	}
	while (t < ntypes &&
	       (pmuv3_types[t].pv_implementer != mine->pv_implementer ||
		   pmuv3_types[t].pv_part != mine->pv_part))
		t++;
	if (t < ntypes)
		pmuv3_merge(&pmuv3_types[t], mine);
	else if (ntypes < PCBE_MAXTYPE)
		add_type(mine);
	/* One kind of CPU too many: it counts what all share. */
	if (t < ntypes)
		cpuset_add(&types[t].py_cpus, cpu);
	publish_types();
}
