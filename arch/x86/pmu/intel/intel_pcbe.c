/*
 * The backend of Intel's architectural performance monitoring.  It drives
 * every PMU that CPUID describes, on unknown models too.  The first PICs
 * are the general counters, the last ones the fixed counters.
 *
 * Intel SDM vol. 3B, "Architectural Performance Monitoring"; vol. 2A,
 * "CPUID" (leaf 0AH).
 */
#include <stddef.h>

#include "arch/x86/cpuid.h"
#include "arch/x86/insn.h"
#include "arch/x86/pmu/intel/intel_impl.h"
#include "arch/x86/pmu/pic.h"
#include "arch/x86/pmu/pmu.h"
#include "arch/x86/pmu/regs.h"
#include "arch/x86/topology.h"
#include "kern/arch.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"
#include "lib/string.h"

struct intel_shape intel_shape;

#define ATTRS_V1                                                               \
	(1U << CPC_ATTR_EDGE | 1U << CPC_ATTR_INV | 1U << CPC_ATTR_UMASK |     \
	    1U << CPC_ATTR_CMASK)

uint32_t
intel_shape_attrs(const struct intel_shape *is)
{
	static const struct {
		enum event_extra extra;
		enum cpc_attr_id attr;
	} extras[] = {
		{ EXTRA_OFFCORE0, CPC_ATTR_MSR_OFFCORE },
		{ EXTRA_LDLAT, CPC_ATTR_MSR_LDLAT },
		{ EXTRA_FRONTEND, CPC_ATTR_MSR_FRONTEND },
	};
	uint32_t mask = ATTRS_V1;

	if (is->is_version < 3)
		mask |= 1U << CPC_ATTR_PC;
	if (is->is_anythread)
		mask |= 1U << CPC_ATTR_ANYTHR;
	for (unsigned i = 0; i < sizeof extras / sizeof extras[0]; i++) {
		if (is->is_extras[extras[i].extra] != 0)
			mask |= 1U << extras[i].attr;
	}
	return mask;
}

/*
 * Find the bits of the event select that would raise #GP here.  CPUID bit 11 is
 * RTM: Intel SDM vol. 3B, "Performance Monitoring and Intel TSX".
 */
static uint64_t
lacking_bits(const struct intel_shape *is)
{
	uint64_t bits = is->is_anythread ? 0 : EVTSEL_ANY;

	if (FIELD(cpuid(7, 0).b, 11, 11) == 0)
		bits |= EVTSEL_IN_TX | EVTSEL_IN_TXCP;
	return bits;
}

bool intel_extras_shared;

/*
 * Before version 3, the hardware threads of a core share its counters.
 * Intel SDM vol. 3B, "Architectural Performance Monitoring Version 3".
 *
 * On Nehalem and Westmere they have counters of their own, and share
 * MSR_OFFCORE_RSP_n: Linux, "perf: Add support for supplementary event
 * registers", 2011.
 */
static void
find_siblings(const struct intel_shape *mine, unsigned cpu)
{
	static const uint8_t sharing[] = { 0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c,
		0x2f };
	const struct cpuset *threads = x86_core_threads(cpu);
	unsigned first = cpuset_next(threads, threads, 0);

	if (cpu == 0) {
		intel_pcbe_ops.siblings = NULL;
		intel_extras_shared = false;
	}
	if (cpuset_next(threads, threads, first + 1) >= MAXCPU)
		return;
	if (!mine->is_per_thread)
		intel_pcbe_ops.siblings = x86_core_threads;
	if (x86_features.family == 6 && x86_features.model <= 0xff &&
	    memchr(sharing, (int)x86_features.model, sizeof sharing) != NULL)
		intel_extras_shared = true;
}

enum pmu_found
intel_pcbe_init(void)
{
	struct intel_shape mine;
	struct x86_pics pics;

	intel_shape_read(&mine);
	if (mine.is_version == 0)
		return PMU_NONE;
	intel_shape_probe(&mine);
	if (mine.is_ngp == 0)
		return PMU_MUTE;
	intel_shape_lay_out(&pics, &mine);
	x86_pics_silence(&pics);
	mine.is_lacking |= lacking_bits(&mine);
	/* On other families these numbers may be other MSRs. */
	if (x86_features.family == 6)
		intel_shape_probe_extras(&mine);
	if (arch_curcpu()->c_id == 0) {
		intel_shape = mine;
	} else if (memcmp(&intel_shape, &mine, sizeof mine) != 0) {
		printf("pcbe: CPU %u has another PMU: sets without a core type "
		       "get only what all CPUs have\n",
		    arch_curcpu()->c_id);
		intel_shape_merge(&intel_shape, &mine);
	}
	intel_type_join(&mine);
	intel_types_lay_out(&x86_pics);
	x86_pics_freeze(&intel_pcbe_ops, mine.is_version >= 4);
	x86_pic_ops(&intel_pcbe_ops);
	intel_pcbe_ops.pcbe_attrs = intel_shape_attrs(&intel_shape);
	find_siblings(&mine, arch_curcpu()->c_id);
	return PMU_FOUND;
}

static const char *
impl_name(void)
{
	static char name[64];

	snprintf(name, sizeof name,
	    "Intel Arch PerfMon v%u on Family %u Model %u",
	    intel_shape.is_version, x86_features.family, x86_features.model);
	return name;
}

static const char *
cpuref(void)
{
	return "See the \"Intel 64 and IA-32 Architectures Software "
	       "Developer's Manual\" (325462), \"Performance Monitoring\"; "
	       "raw codes: Intel's event lists of the CPU, perfmon-events";
}

int
intel_fixed_of(unsigned pic)
{
	uint32_t index = x86_pics.xs_pic[pic].xp_index;

	return (index & RDPMC_FIXED) != 0 ? (int)(index - RDPMC_FIXED) : -1;
}

/* Bit n: PIC n is fixed counter `fixed`, and the shape has it. */
static uint32_t
fixed_pics(const struct intel_shape *is, unsigned fixed)
{
	uint32_t pics = 0;

	for (unsigned pic = 0; pic < x86_pics.xs_n; pic++) {
		if (intel_fixed_of(pic) == (int)fixed)
			pics |= 1U << pic;
	}
	return pics & intel_shape_pics(is, &x86_pics);
}

/*
 * The code decides which architectural event it is, not the request's name.
 * The bit of CPUID.0AH:EBX also applies with a counter mask or edge bit.
 */
int
intel_general_check(
    const struct intel_shape *is, uint64_t select, struct cpc_refusal *rf)
{
	uint64_t code =
	    select & (INTEL_RAW_MAX | EVTSEL_UMASK_MASK | EVTSEL_UMASK2);
	int bit = intel_arch_bit(code);

	if (bit >= 0 && (is->is_absent >> bit & 1) != 0)
		return pcbe_refuse(rf, CPC_RESOURCE_UNAVAIL,
		    "CPUID.0AH:EBX[%d] says that event %#x is absent", bit,
		    (unsigned)code);
	return x86_models_check(select, rf);
}

static void
describe(struct cpc_pmu *pm, unsigned type)
{
	const struct intel_shape *is = intel_shape_of(type);

	pm->pm_kind = CPC_PMU_INTEL;
	pm->pm_core = intel_core_of(type);
	pm->pm_general = intel_shape_general(is);
	for (unsigned n = 0; n < INTEL_NFIXED; n++)
		pm->pm_own[n] = fixed_pics(is, n);
	pm->pm_family = x86_features.family;
	pm->pm_model = x86_features.model;
	pm->pm_stepping = x86_features.stepping;
	for (unsigned i = 0; i < EXTRA_N; i++)
		pm->pm_extras |= (uint32_t)(is->is_extras[i] != 0) << i;
	pm->pm_cache = is->is_cache;
	pm->pm_events[0] = is->is_events;
	pm->pm_absent = is->is_absent;
	x86_models_describe(pm);
	pm->pm_lacking = is->is_lacking;
}

static uint64_t
known_event_of(
    const struct intel_shape *is, enum pcbe_known which, struct cpc_event *ev)
{
	bool ins = which == PCBE_INSTRUCTIONS;
	unsigned bit = ins ? INTEL_INSTRUCTIONS_RETIRED : INTEL_CORE_CYCLES;

	*ev = (struct cpc_event){ .ce_code =
				      ins ? INTEL_INSTRUCTIONS : INTEL_CYCLES };
	if ((is->is_events >> bit & 1) != 0 &&
	    intel_general_check(is, ev->ce_code, NULL) == 0)
		ev->ce_pics = intel_shape_general(is);
	ev->ce_pics |= fixed_pics(is, ins ? 0 : 1);
	return ev->ce_pics;
}

static uint64_t
known_event(enum pcbe_known which, struct cpc_event *ev)
{
	return known_event_of(&intel_shape, which, ev);
}

static bool
proof_event(unsigned pic, unsigned type, struct cpc_event *ev)
{
	const struct intel_shape *is = intel_shape_of(type);
	int fixed = intel_fixed_of(pic);

	if (fixed >= 0) {
		*ev = (struct cpc_event){ .ce_pics = 1ULL << pic,
			.ce_code = INTEL_FIXED_CODE((unsigned)fixed) };
		return fixed == 0;
	}
	if ((known_event_of(is, PCBE_INSTRUCTIONS, ev) >> pic & 1) != 0)
		return true;
	known_event_of(is, PCBE_CYCLES, ev);
	return false;
}

struct pcbe_ops intel_pcbe_ops = {
	.impl_name = impl_name,
	.cpuref = cpuref,
	.describe = describe,
	.known_event = known_event,
	.attr_pics = intel_attr_pics,
	.configure = intel_configure,
	.proof_event = proof_event,
};
