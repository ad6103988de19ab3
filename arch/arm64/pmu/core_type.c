/*
 * Core types: CPUs with the same Implementer and PartNum in MIDR_EL1.  On
 * big.LITTLE machines they differ in events, and perhaps in event counters.
 * Arm ARM (DDI 0487), "MIDR_EL1".
 */
#include "arch/arm64/cpu_name.h"
#include "arch/arm64/pmu/pmuv3_impl.h"
#include "kern/arch.h"
#include "kern/sched/cpu.h"

struct pmuv3 pmuv3_types[PCBE_MAXTYPE];
static struct pcbe_type types[PCBE_MAXTYPE];
static char names[PCBE_MAXTYPE][32];
static unsigned ntypes;

static void
add_type(const struct pmuv3 *mine)
{
	arm64_perf_name(names[ntypes], sizeof names[0], mine->pv_implementer,
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
