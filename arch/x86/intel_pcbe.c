/*
 * The backend of Intel's architectural performance monitoring: whatever
 * CPUID.0AH tells of, on a model nobody has heard of too.  PICs are the
 * general counters, then the fixed ones.
 * Intel SDM vol. 3B, "Architectural Performance Monitoring"; vol. 2A,
 * "CPUID" (leaf 0AH).
 */
#include <stddef.h>

#include "arch/x86/cpuid.h"
#include "arch/x86/evtsel.h"
#include "arch/x86/extra.h"
#include "arch/x86/insn.h"
#include "arch/x86/intel_events.h"
#include "arch/x86/intel_impl.h"
#include "arch/x86/models.h"
#include "arch/x86/pic.h"
#include "arch/x86/pmu.h"
#include "arch/x86/pmu_regs.h"
#include "arch/x86/topology.h"
#include "kern/arch.h"
#include "kern/cpu.h"
#include "lib/printf.h"
#include "lib/search.h"
#include "lib/string.h"

#define RAW_TOO_HIGH 0xffffffffU

struct intel_shape intel_shape;

static const uint8_t attrs_v1[] = { ATTR_EDGE, ATTR_PC, ATTR_INV, ATTR_UMASK,
	ATTR_CMASK, ATTR_END };
static const uint8_t attrs_v3[] = { ATTR_EDGE, ATTR_INV, ATTR_UMASK, ATTR_CMASK,
	ATTR_ANYTHR, ATTR_END };
static const uint8_t attrs_v5[] = { ATTR_EDGE, ATTR_INV, ATTR_UMASK, ATTR_CMASK,
	ATTR_END };

/* What all CPUs have of these, and what one of them lacks. */
uint8_t intel_attrs[ATTR_END + 1] = { ATTR_END };
uint64_t intel_lacking;

/* Those of the version, then of the registers beside. */
static void
list_the_attrs(void)
{
	static const struct {
		enum event_extra extra;
		enum evtsel_attr attr;
	} beside[] = {
		{ EXTRA_OFFCORE0, ATTR_MSR_OFFCORE },
		{ EXTRA_LDLAT, ATTR_MSR_LDLAT },
		{ EXTRA_FRONTEND, ATTR_MSR_FRONTEND },
	};
	const uint8_t *of_version = intel_shape.is_anythread      ? attrs_v3
	                            : intel_shape.is_version >= 3 ? attrs_v5
	                                                          : attrs_v1;
	unsigned n = 0;

	for (; of_version[n] != ATTR_END; n++)
		intel_attrs[n] = of_version[n];
	for (unsigned i = 0; i < sizeof beside / sizeof beside[0]; i++) {
		if (x86_extra_exists(beside[i].extra))
			intel_attrs[n++] = (uint8_t)beside[i].attr;
	}
	intel_attrs[n] = ATTR_END;
}

/*
 * Bits of the event select that this machine lacks, where they would raise
 * #GP.  RTM: Intel SDM vol. 3B, "Performance Monitoring and Intel TSX".
 */
static void
find_lacking_bits(void)
{
	if (arch_curcpu()->c_id == 0)
		intel_lacking = 0;
	if (!intel_shape.is_anythread)
		intel_lacking |= EVTSEL_ANY;
	if (FIELD(cpuid(7, 0).b, 11, 11) == 0)
		intel_lacking |= EVTSEL_IN_TX | EVTSEL_IN_TXCP;
}

/*
 * Counters that tell the threads of a core apart came with version 3;
 * before, what they count is the core's.
 * Intel SDM vol. 3B, "Architectural Performance Monitoring Version 3".
 */
static void
find_siblings(const struct intel_shape *mine, unsigned cpu)
{
	const struct cpuset *threads = x86_core_threads(cpu);
	unsigned first = cpuset_next(threads, threads, 0);

	if (cpu == 0)
		intel_pcbe_ops.siblings = NULL;
	if (!mine->is_per_thread &&
	    cpuset_next(threads, threads, first + 1) < MAXCPU)
		intel_pcbe_ops.siblings = x86_core_threads;
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
	if (arch_curcpu()->c_id == 0) {
		intel_shape = mine;
		intel_pcbe_ops.pcbe_table =
		    events_cpu_intel(x86_features.family, x86_features.model,
			x86_features.stepping);
	} else if (memcmp(&intel_shape, &mine, sizeof mine) != 0) {
		printf("pcbe: CPU %u has another PMU: what all CPUs have is "
		       "offered\n",
		    arch_curcpu()->c_id);
		intel_shape_merge(&intel_shape, &mine);
	}
	intel_shape_lay_out(&x86_pics, &intel_shape);
	x86_pic_ops(&intel_pcbe_ops);
	if (intel_pcbe_ops.pcbe_table.es_pmu != NULL)
		x86_extra_probe();
	list_the_attrs();
	find_lacking_bits();
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

static const char *
list_attrs(unsigned n)
{
	return evtsel_attr_name(intel_attrs, n);
}

int
intel_fixed_of(unsigned pic)
{
	uint32_t index = x86_pics.xs_pic[pic].xp_index;

	return (index & RDPMC_FIXED) != 0 ? (int)(index - RDPMC_FIXED) : -1;
}

bool
intel_fixed_counts(unsigned n, uint64_t code)
{
	for (unsigned i = 0; i < intel_nevents; i++) {
		if (intel_events[i].ie_fixed == (int)n &&
		    intel_events[i].ie_code == code)
			return true;
	}
	return false;
}

/*
 * A code means the architectural event whatever the request calls it.  On other
 * counter masks and edges the bit of CPUID.0AH:EBX holds as well.
 */
const char *
intel_general_lack(uint64_t select)
{
	static char text[80];
	uint64_t code = select & (INTEL_RAW_MAX | EVTSEL_UMASK_MASK);

	for (unsigned i = 0; i < intel_nevents; i++) {
		const struct intel_event *e = &intel_events[i];

		if (e->ie_code != code || e->ie_bit >= 32 ||
		    (intel_shape.is_absent >> e->ie_bit & 1) == 0)
			continue;
		snprintf(text, sizeof text,
		    "CPUID.0AH:EBX[%u] says that event %#x is absent",
		    e->ie_bit, (unsigned)code);
		return text;
	}
	return x86_models_lack(select);
}

/* The architecture has the event, and this machine lacks it. */
static bool
is_lacking(const struct intel_event *e)
{
	return (e->ie_code & RDPMC_FIXED) == 0 && e->ie_bit < 32 &&
	       (e->ie_cache == 0 || e->ie_cache == intel_shape.is_cache) &&
	       ((intel_shape.is_events | intel_shape.is_absent) >> e->ie_bit &
		   1) != 0 &&
	       intel_general_lack(e->ie_code) != NULL;
}

/* Bit n: PIC n counts the event. */
static uint64_t
coverage(const struct intel_event *e)
{
	uint64_t pics = 0;
	unsigned pic;

	if (e->ie_cache != 0 && e->ie_cache != intel_shape.is_cache)
		return 0;
	if ((e->ie_code & RDPMC_FIXED) == 0 &&
	    (intel_shape.is_events >> e->ie_bit & 1) != 0 &&
	    intel_general_lack(e->ie_code) == NULL)
		pics = low_bits(intel_shape.is_ngp);
	for (pic = intel_shape.is_ngp; pic < x86_pics.xs_n; pic++) {
		if (intel_fixed_of(pic) == e->ie_fixed)
			pics |= 1ULL << pic;
	}
	return pics;
}

static const char *
list_events(unsigned pic, unsigned *at)
{
	while (*at < intel_nevents) {
		const struct intel_event *e = &intel_events[(*at)++];

		if ((coverage(e) >> pic & 1) != 0)
			return e->ie_name;
	}
	return NULL;
}

static uint64_t
event_coverage(
    const char *name, bool is_num, uint64_t num, struct pcbe_event *ev)
{
	const struct intel_event *e =
	    search_name(name, intel_events, intel_nevents, sizeof *e);

	if (e != NULL) {
		ev->pe_code = e->ie_code;
		ev->pe_flags = e->ie_generic ? PCBE_EVENT_GENERIC : 0;
		ev->pe_pics = coverage(e);
		/* configure() says why, if a PIC is asked for it. */
		if (ev->pe_pics == 0 && is_lacking(e)) {
			ev->pe_flags |= CPC_EVENT_LACKING;
			ev->pe_pics = low_bits(intel_shape.is_ngp);
		}
		return ev->pe_pics;
	}
	if (!is_num)
		return 0;
	ev->pe_code = num <= INTEL_RAW_MAX ? num : RAW_TOO_HIGH;
	ev->pe_flags = PCBE_EVENT_RAW;
	ev->pe_pics = low_bits(intel_shape.is_ngp);
	return ev->pe_pics;
}

/* Each PIC by an event of its own; instructions where it can count them. */
static const char *
prove(unsigned pic)
{
	static const char *const events[] = { "instr_retired.any",
		"cpu_clk_unhalted.thread", "cpu_clk_unhalted.ref",
		"topdown.slots" };
	const char *ins = "inst_retired.any_p";
	struct pcbe_event ev;
	int fixed = intel_fixed_of(pic);

	if (fixed >= 0)
		return x86_prove(
		    &intel_pcbe_ops, pic, events[fixed], fixed == 0);
	if (event_coverage(ins, false, 0, &ev) != 0 &&
	    (ev.pe_flags & CPC_EVENT_LACKING) == 0)
		return x86_prove(&intel_pcbe_ops, pic, ins, true);
	return x86_prove(
	    &intel_pcbe_ops, pic, "cpu_clk_unhalted.thread_p", false);
}

struct pcbe_ops intel_pcbe_ops = {
	.impl_name = impl_name,
	.cpuref = cpuref,
	.list_events = list_events,
	.list_attrs = list_attrs,
	.event_coverage = event_coverage,
	.pcbe_kind = EVENT_INTEL,
	.table_event = intel_table_event,
	.attr_pics = intel_attr_pics,
	.configure = intel_configure,
	.prove = prove,
};
