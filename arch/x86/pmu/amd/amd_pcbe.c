/*
 * The backend of AMD's core performance counters.  K7 has four of them, a CPU
 * with core extensions has six, and PerfMonV2 says how many it has.  PerfMonV2
 * also adds global control.
 *
 * AMD APM vol. 2 (24593), "Performance Monitoring Counters"; vol. 3 (24594),
 * "CPUID" (functions 8000_0001h, 8000_0022h).
 */
#include <stddef.h>

#include "arch/x86/cpuid.h"
#include "arch/x86/pmu/access.h"
#include "arch/x86/pmu/pic.h"
#include "arch/x86/pmu/pmu.h"
#include "arch/x86/pmu/regs.h"
#include "kern/arch.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"
#include "lib/string.h"

#define RAW_MAX_K8 0xffU /* up to K8, bits 35:32 are reserved */
#define FAMILY_K7  6     /* earlier families have other registers */

/* The PMU of one CPU, or the part that all CPUs have. */
struct amd_shape {
	unsigned amd_n;
	bool amd_core; /* selects and counters start at C0010200H */
	bool amd_v2;   /* PerfMonV2's global registers */
	bool amd_pc;   /* bit 19 of a select, which families and KVM refuse */
};
static struct amd_shape shape;

#define ATTRS                                                                  \
	(1U << CPC_ATTR_EDGE | 1U << CPC_ATTR_INV | 1U << CPC_ATTR_UMASK |     \
	    1U << CPC_ATTR_CMASK)

static void
read_shape(struct amd_shape *as)
{
	struct cpuid_regs v2 = cpuid(0x80000022, 0);

	memset(as, 0, sizeof *as);
	as->amd_core = FIELD(cpuid(0x80000001, 0).c, 23, 23);
	as->amd_n = as->amd_core ? AMD_PERF_CORE_N : AMD_PERF_LEGACY_N;
	if (as->amd_core && FIELD(v2.a, 0, 0) != 0) {
		as->amd_v2 = true;
		as->amd_n = FIELD(v2.b, 3, 0);
		/* From 6 on, RDPMC reads counters that cores share. */
		if (as->amd_n > AMD_PERF_CORE_N)
			as->amd_n = AMD_PERF_CORE_N;
	}
}

static void
lay_counter(struct x86_pic *p, const struct amd_shape *as, unsigned n)
{
	p->xp_counter = as->amd_core ? AMD_PERF_CTR(n) : AMD_PERF_LEGACY_CTR(n);
	p->xp_select = as->amd_core ? AMD_PERF_CTL(n) : AMD_PERF_LEGACY_CTL(n);
	p->xp_index = n;
	p->xp_short = false;
	p->xp_mask = (1ULL << AMD_PERF_CNTR_WIDTH) - 1;
	p->xp_global = 1ULL << n;
}

static void
lay_out(struct x86_pics *ps, const struct amd_shape *as)
{
	memset(ps, 0, sizeof *ps);
	if (as->amd_v2) {
		ps->xs_ctrl = AMD_PERF_CNTR_GLOBAL_CTL;
		ps->xs_status = AMD_PERF_CNTR_GLOBAL_STATUS;
		ps->xs_clear = AMD_PERF_CNTR_GLOBAL_STATUS_CLR;
	}
	for (unsigned n = 0; n < as->amd_n; n++) {
		lay_counter(&ps->xs_pic[n], as, n);
		ps->xs_all |= ps->xs_pic[n].xp_global;
	}
	ps->xs_n = as->amd_n;
}

/*
 * CPUID has no bit for the legacy counters.  A hypervisor may pass on the bits
 * of the others and hide the registers.  So each counter must keep a value.
 */
static void
probe_registers(struct amd_shape *as)
{
	struct x86_pic p;
	uint64_t v;
	unsigned n;

	if (as->amd_v2 &&
	    (pmu_wrmsr_safe(AMD_PERF_CNTR_GLOBAL_CTL, 1) != 0 ||
		pmu_rdmsr_safe(AMD_PERF_CNTR_GLOBAL_CTL, &v) != 0 || v != 1)) {
		as->amd_v2 = false;
		as->amd_n = AMD_PERF_CORE_N;
	}
	for (n = 0; n < as->amd_n; n++) {
		lay_counter(&p, as, n);
		if (!x86_pic_keeps(&p))
			break;
	}
	as->amd_n = n;
	lay_counter(&p, as, 0);
	as->amd_pc = n > 0 && pmu_wrmsr_safe(p.xp_select, EVTSEL_PC) == 0 &&
	             pmu_rdmsr_safe(p.xp_select, &v) == 0 && v == EVTSEL_PC;
}

/*
 * Some hypervisors hide the register.  Then LFENCE waits or not, as the
 * hypervisor has set it up.
 */
static void
make_lfence_wait(void)
{
	uint64_t v;

	if (pmu_rdmsr_safe(AMD_DE_CFG, &v) == 0)
		pmu_wrmsr_safe(AMD_DE_CFG, v | AMD_DE_CFG_LFENCE);
}

enum pmu_found
amd_pcbe_init(void)
{
	struct amd_shape mine;
	struct x86_pics pics;

	if (x86_features.family < FAMILY_K7)
		return PMU_NONE;
	read_shape(&mine);
	probe_registers(&mine);
	if (mine.amd_n == 0)
		return PMU_MUTE;
	lay_out(&pics, &mine);
	x86_pics_silence(&pics);
	make_lfence_wait();
	if (arch_curcpu()->c_id == 0) {
		shape = mine;
	} else if (mine.amd_core != shape.amd_core ||
		   mine.amd_v2 != shape.amd_v2) {
		return PMU_MUTE; /* no known machine mixes these */
	}
	if (mine.amd_n < shape.amd_n)
		shape.amd_n = mine.amd_n;
	shape.amd_pc &= mine.amd_pc;
	lay_out(&x86_pics, &shape);
	x86_pics_freeze(&amd_pcbe_ops,
	    mine.amd_v2 && FIELD(cpuid(0x80000022, 0).a, 2, 2) != 0);
	x86_pic_ops(&amd_pcbe_ops);
	amd_pcbe_ops.pcbe_attrs = ATTRS | (uint32_t)shape.amd_pc << CPC_ATTR_PC;
	return PMU_FOUND;
}

static const char *
impl_name(void)
{
	static char name[32];

	if (x86_features.family == AMD_FAMILY_K8)
		return "AMD Opteron & Athlon64";
	snprintf(name, sizeof name, "AMD Family %02xh", x86_features.family);
	return name;
}

static const char *
cpuref(void)
{
	return "See the \"AMD64 Architecture Programmer's Manual\", volume 2 "
	       "(24593), \"Performance Monitoring Counters\"; raw codes: the "
	       "\"BIOS and Kernel Developer's Guide\" or \"Processor "
	       "Programming Reference\" of the family";
}

/* Bit n: PIC n counts the event. */
static uint64_t
event_coverage(uint64_t code)
{
	uint64_t pics = (1ULL << x86_pics.xs_n) - 1;

	return pics & amd_event_pics(x86_features.family, code);
}

static unsigned
raw_max(void)
{
	return x86_features.family <= AMD_FAMILY_K8 ? RAW_MAX_K8 : AMD_RAW_MAX;
}

static void
describe(struct cpc_pmu *pm, unsigned type)
{
	(void)type; /* no part has more than one kind of PMU */
	pm->pm_kind = CPC_PMU_AMD;
	pm->pm_general = (1U << x86_pics.xs_n) - 1;
	pm->pm_family = x86_features.family;
	pm->pm_model = x86_features.model;
	pm->pm_stepping = x86_features.stepping;
	x86_models_describe(pm);
}

static uint64_t
known_event(enum pcbe_known which, struct cpc_event *ev)
{
	*ev = (struct cpc_event){ .ce_code = AMD_CODE(which == PCBE_INSTRUCTIONS
							  ? AMD_INSTRUCTIONS
							  : AMD_CYCLES,
				      0U) };
	ev->ce_pics = event_coverage(ev->ce_code);
	return ev->ce_pics;
}

/* Bits that a name may set.  The guest and host bits need SVM. */
#define NAMED_BITS                                                             \
	(EVTSEL_EVENT_12 | EVTSEL_UMASK_MASK | EVTSEL_EDGE | EVTSEL_INV |      \
	    EVTSEL_CMASK_MASK)

/* An attribute `umask` adds to the event's own unit mask. */
static int
configure(struct pcbe_cfg *cfg, const struct cpc_event *ev, unsigned nattrs,
    const struct cpc_packattr *attr, struct pcbe_set *set,
    struct cpc_refusal *rf)
{
	uint64_t umask = ev->ce_code & EVTSEL_UMASK_MASK;
	uint64_t sel = evtsel_control(cfg->pc_flags) | (ev->ce_code ^ umask);

	if ((ev->ce_code & ~(NAMED_BITS | AMD_GUEST_HOST)) != 0 ||
	    AMD_CODE_EVENT(ev->ce_code) > raw_max() ||
	    (event_coverage(ev->ce_code) >> cfg->pc_pic & 1) == 0) {
		if ((ev->ce_flags & CPC_EVENT_RAW) == 0)
			return CPC_INVALID_EVENT;
		return pcbe_refuse(rf, CPC_INVALID_EVENT,
		    "an event's number is at most %#x; with a "
		    "unit mask it is written r1c2",
		    raw_max());
	}
	if ((ev->ce_code & AMD_GUEST_HOST) != 0)
		return pcbe_refuse(rf, CPC_RESOURCE_UNAVAIL,
		    "guest and host bits need SVM, which is off");
	int subcode = evtsel_add_attrs(
	    &sel, amd_pcbe_ops.pcbe_attrs, nattrs, attr, set->ps_privileged);
	if (subcode != 0)
		return subcode;
	if ((subcode = x86_models_check(sel | umask, rf)) != 0)
		return subcode;
	cfg->pc_sel = sel | umask;
	x86_pic_configure(cfg, set);
	return 0;
}

static bool
proof_event(unsigned pic, unsigned type, struct cpc_event *ev)
{
	(void)pic;
	(void)type;
	known_event(PCBE_INSTRUCTIONS, ev);
	return true;
}

struct pcbe_ops amd_pcbe_ops = {
	.impl_name = impl_name,
	.cpuref = cpuref,
	.describe = describe,
	.known_event = known_event,
	.configure = configure,
	.proof_event = proof_event,
};
