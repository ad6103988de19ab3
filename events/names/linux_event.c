/*
 * The events of Linux's perf_event_open(2), which the kernel resolves itself.
 *
 * Linux, include/uapi/linux/perf_event.h; Intel SDM vol. 3B, "Pre-defined
 * Architectural Performance Events"; AMD PPR for family 17h (54945), BKDG for
 * family 10h (31116); Arm ARM (DDI 0487), "PMU events and event numbers".
 */
#include "events/pmu.h"
#include "include/sys/cpc.h"

/* Linux's error numbers. */
#define ENOENT     2
#define EINVAL     22
#define EOPNOTSUPP 95

#define NHARDWARE LINUX_NEVENTS
#define BRANCHES  4

/* Flags (for us), samples and formats that Linux 6.1 does not know. */
#define UNKNOWN_FLAG   (1ULL << 35)
#define UNKNOWN_SAMPLE (1ULL << 25)
#define UNKNOWN_FORMAT (1ULL << 5)

/*
 * Codes by PERF_COUNT_HW_*; 0: there is no such event.  They are cycles,
 * instructions, references to the last cache, its misses, branches and those
 * mispredicted.  Then bus cycles, cycles that the front end and the back end
 * stall, and reference cycles.
 */
static const uint32_t hardware[][NHARDWARE] = {
	[CPC_PMU_INTEL] = { INTEL_CYCLES, INTEL_INSTRUCTIONS,
	    INTEL_CODE(0x2e, 0x4f), INTEL_CODE(0x2e, 0x41), 0xc4, 0xc5,
	    INTEL_CODE(0x3c, 1), 0, 0, INTEL_FIXED_CODE(2) },
	[CPC_PMU_AMD] = { AMD_CYCLES, AMD_INSTRUCTIONS, 0xff60, 0x0964, 0xc2,
	    0xc3, 0, 0x0287, 0x0187, 0 },
	[CPC_PMU_ARM] = { ARM_CPU_CYCLES, ARM_INST_RETIRED, 0x04, 0x03, 0x0c,
	    0x10, 0x1d, 0x23, 0x24, 0 },
	[CPC_PMU_SOFTWARE] = { SOFT_CODE(SOFT_CYCLES),
	    SOFT_CODE(SOFT_INSTRUCTIONS), 0, 0, SOFT_CODE(SOFT_BRANCHES) },
};
static const uint32_t before_zen[NHARDWARE] = { AMD_CYCLES, AMD_INSTRUCTIONS,
	0x077d, 0x077e, 0xc2, 0xc3, 0, 0xd0, 0xd1, 0 };

/*
 * PERF_COUNT_HW_CACHE_*: L1D, L1I, LL, DTLB, ITLB, BPU, each read and missed.
 * Only Arm's events are the same on all models.
 */
static const uint8_t arm_cache[][2] = { { 0x04, 0x03 }, { 0x14, 0x01 },
	{ 0x36, 0x37 }, { 0x25, 0x05 }, { 0x26, 0x02 }, { 0x12, 0x10 } };

static uint64_t
hardware_code(const struct cpc_pmu *pm, uint64_t n)
{
	/* BR_RETIRED counts them all, PC_WRITE_RETIRED those taken. */
	if (pm->pm_kind == CPC_PMU_ARM && n == BRANCHES &&
	    arm_has_common(pm->pm_events, 0x21))
		return 0x21;
	if (pm->pm_kind == CPC_PMU_AMD && pm->pm_family < AMD_FAMILY_ZEN)
		return before_zen[n];
	return hardware[pm->pm_kind][n];
}

static uint64_t
cache_code(const struct cpc_pmu *pm, uint64_t config)
{
	uint64_t cache = config & 0xff, missed = config >> 16;

	return pm->pm_kind == CPC_PMU_ARM && (config >> 8 & 0xff) == 0 &&
	               cache < sizeof arm_cache / sizeof arm_cache[0] &&
	               missed <= 1
	           ? arm_cache[cache][missed]
	           : 0;
}

/* Is it Intel's code of a fixed counter?  No raw event has it. */
static bool
is_fixed(uint64_t code)
{
	return code - INTEL_FIXED_CODE(0) < INTEL_NFIXED;
}

/* The PICs that count a code. */
static uint32_t
pics_of(const struct cpc_pmu *pm, uint64_t code)
{
	uint32_t pics = pm->pm_general;
	int bit = intel_arch_bit(code);

	if (pm->pm_kind == CPC_PMU_AMD)
		return pics & amd_event_pics(pm->pm_family, code);
	if (pm->pm_kind == CPC_PMU_SOFTWARE && code > SOFT_RAW_MAX)
		return code - SOFT_CODE(0) < CPC_PMU_OWN
		           ? pm->pm_own[code - SOFT_CODE(0)]
		           : 0;
	if (pm->pm_kind != CPC_PMU_INTEL)
		return pics;
	if (is_fixed(code) || (bit >= 0 && (pm->pm_events[0] >> bit & 1) == 0))
		pics = 0;
	for (unsigned n = 0; n < INTEL_NFIXED; n++)
		pics |= intel_fixed_counts(n, code) ? pm->pm_own[n] : 0;
	return pics;
}

int
events_linux_check(const struct linux_attr *attr)
{
	if (attr->flags >= UNKNOWN_FLAG || attr->stack >> 16 != 0 ||
	    attr->reserved != 0 || attr->sample_type >= UNKNOWN_SAMPLE ||
	    attr->format >= UNKNOWN_FORMAT || attr->period >> 63 != 0)
		return EINVAL;
	/* As if no counter interrupted so. */
	return (attr->flags & (LINUX_FREQUENCY | LINUX_PRECISE)) != 0 ||
	               (attr->period != 0 &&
			   (attr->type == LINUX_SOFTWARE ||
			       attr->sample_type > LINUX_SAMPLE_IP))
	           ? EOPNOTSUPP
	           : 0;
}

/* The event's code; 0: there is no such event here. */
static uint64_t
code_of(const struct cpc_pmu *pm, const struct linux_attr *attr)
{
	uint64_t code = 0;

	if (attr->type == LINUX_RAW)
		return is_fixed(attr->config) ? 0 : attr->config;
	if (attr->type == LINUX_HARDWARE)
		code = hardware_code(pm, attr->config);
	else if (attr->type == LINUX_CACHE)
		code = cache_code(pm, attr->config);
	return pm->pm_kind != CPC_PMU_ARM ||
	               arm_has_common(pm->pm_events, (unsigned)code)
	           ? code
	           : 0;
}

int
events_linux(const struct cpc_pmu *pm, const struct linux_attr *attr,
    bool system, struct cpc_packreq *pr)
{
	bool user = (attr->flags & LINUX_NO_USER) == 0;
	bool kernel = (attr->flags & LINUX_NO_KERNEL) == 0;
	uint64_t code;

	if (attr->type == LINUX_SOFTWARE)
		return attr->config < 7 || attr->config == 9 ? 0 : ENOENT;
	if (attr->type == LINUX_HARDWARE && attr->config >= NHARDWARE)
		return EINVAL;
	/* Nothing would be counted, which no program expects. */
	if (system && !kernel)
		return EOPNOTSUPP;
	/* Its extra MSR is not set, so it would count something else. */
	if (pm->pm_kind == CPC_PMU_INTEL && attr->config1 != 0)
		return EINVAL;
	code = code_of(pm, attr);
	*pr = (struct cpc_packreq){
		.cr_event = { .ce_code = code,
		    .ce_pics = code != 0 ? pics_of(pm, code) : 0 },
		.cr_flags = (user ? CPC_COUNT_USER : 0) |
		            (kernel ? CPC_COUNT_SYSTEM : 0),
		.cr_picnum = -1,
	};
	if (pr->cr_event.ce_pics != 0)
		return 0;
	return attr->type == LINUX_RAW ? EINVAL : ENOENT;
}
