/*
 * Core types: CPUs with the same number in CPUID.1AH:EAX[31:24], on parts that
 * CPUID.7.0:EDX[15] calls hybrid.  All other CPUs are one type.
 * Intel SDM vol. 2A, "CPUID" (leaves 07H and 1AH).
 */
#include "arch/x86/cpuid.h"
#include "arch/x86/insn.h"
#include "arch/x86/pmu/intel/intel_impl.h"
#include "arch/x86/pmu/regs.h"
#include "kern/sched/cpu.h"
#include "lib/string.h"

#define CORE_ATOM 0x20
#define CORE_CORE 0x40

struct intel_shape intel_type_shape[PCBE_MAXTYPE];
/* CPUID.1AH:EAX[31:24] of each type; 0: not hybrid. */
static unsigned core_of[PCBE_MAXTYPE];
static struct pcbe_type types[PCBE_MAXTYPE];
static unsigned ntypes;

static unsigned
core_of_this_cpu(void)
{
	return FIELD(cpuid(7, 0).d, 15, 15) != 0
	           ? (unsigned)FIELD(cpuid(0x1a, 0).a, 31, 24)
	           : 0;
}

unsigned
intel_core_of(unsigned type)
{
	return type == 0 ? 0 : core_of[type - 1];
}

void
intel_type_join(const struct intel_shape *mine)
{
	unsigned cpu = arch_curcpu()->c_id, core = core_of_this_cpu(), t = 0;

	if (cpu == 0)
		ntypes = 0;
	while (t < ntypes && core_of[t] != core)
		t++;
	if (t < ntypes) {
		intel_shape_merge(&intel_type_shape[t], mine);
	} else if (ntypes < PCBE_MAXTYPE) {
		core_of[t] = core;
		intel_type_shape[t] = *mine;
		/* The names of Linux's perf: arch/x86/events/intel/core.c. */
		types[t] = (struct pcbe_type){
			.py_name = core == CORE_ATOM   ? "cpu_atom"
			           : core == CORE_CORE ? "cpu_core"
			                               : "cpu",
		};
		ntypes++;
	}
	/* One type too many: its CPUs count what all share. */
	if (t < ntypes)
		cpuset_add(&types[t].py_cpus, cpu);
}

void
intel_types_lay_out(struct x86_pics *ps)
{
	intel_shape_lay_out(ps, &intel_shape);
	for (unsigned t = 0; ntypes > 1 && t < ntypes && ps->xs_n != 0; t++)
		intel_shape_add(ps, &intel_type_shape[t]);
	for (unsigned t = 0; t < ntypes; t++) {
		const struct intel_shape *is = &intel_type_shape[t];

		types[t].py_pics = intel_shape_pics(is, ps);
		types[t].py_attrs = intel_shape_attrs(is);
	}
	intel_pcbe_ops.pcbe_ntypes = ntypes > 1 ? ntypes : 0;
	intel_pcbe_ops.pcbe_types = types;
	intel_pcbe_ops.pcbe_shared = intel_shape_pics(&intel_shape, ps);
}
