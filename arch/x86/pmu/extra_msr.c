/*
 * Extra MSRs: which exist, what a set needs in them, and writing them.
 *
 * Intel SDM vol. 4, "MSRs in Processors Based on Intel Microarchitecture Code
 * Name Sandy Bridge" (MSR_OFFCORE_RSP_0, _1, MSR_PEBS_LD_LAT) and "... Code
 * Name Skylake" (MSR_PEBS_FRONTEND); vol. 3B, "Off-core Response Performance
 * Monitoring", "Load Latency Performance Monitoring Facility".
 */
#include "arch/x86/pmu/extra_msr.h"

#include "arch/x86/pmu/access.h"

/*
 * `probe` is a value that the register takes, alone and with any other bit that
 * it has.  A missing register reads 0.
 */
static const struct extra {
	const char *name;
	uint32_t msr;
	uint64_t probe;
} extras[EXTRA_N] = {
	[EXTRA_OFFCORE0] = { "MSR_OFFCORE_RSP_0", 0x1a6, 0x1 },
	[EXTRA_OFFCORE1] = { "MSR_OFFCORE_RSP_1", 0x1a7, 0x1 },
	[EXTRA_LDLAT] = { "MSR_PEBS_LD_LAT", 0x3f6, 0x3 },
	[EXTRA_FRONTEND] = { "MSR_PEBS_FRONTEND", 0x3f7, 0x11 },
};

static bool
keeps_value(uint32_t msr, uint64_t value)
{
	uint64_t v;

	return pmu_wrmsr_safe(msr, value) == 0 &&
	       pmu_rdmsr_safe(msr, &v) == 0 && v == value;
}

void
x86_extra_msr_probe(uint64_t takes[EXTRA_N])
{
	for (unsigned i = EXTRA_NONE + 1; i < EXTRA_N; i++) {
		uint64_t probe = extras[i].probe;

		if (!keeps_value(extras[i].msr, probe))
			continue;
		for (uint64_t bit = 1; bit != 0; bit <<= 1) {
			if (keeps_value(extras[i].msr, probe | bit))
				takes[i] |= bit;
		}
		pmu_wrmsr_safe(extras[i].msr, 0);
	}
}

int
x86_extra_msr_take(struct pcbe_set *set, const uint64_t takes[EXTRA_N],
    enum event_extra extra, uint64_t value, struct cpc_refusal *rf)
{
	const struct extra *x = &extras[extra];
	unsigned n = extra - 1;

	if (takes[extra] == 0)
		return pcbe_refuse(rf, CPC_RESOURCE_UNAVAIL,
		    "this CPU lacks %s (%#x)", x->name, x->msr);
	if ((set->ps_extra_msrs >> n & 1) != 0 && set->ps_extra_msr[n] != value)
		return pcbe_refuse(rf, CPC_CONFLICTING_REQS,
		    "%s (%#x) is to be %#llx, and %#llx for request %u",
		    x->name, x->msr, (unsigned long long)value,
		    (unsigned long long)set->ps_extra_msr[n],
		    set->ps_extra_msr_req[n]);
	/* Refuse the value now.  In program() it would raise #GP. */
	if ((value & ~takes[extra]) != 0)
		return pcbe_refuse(rf, CPC_ATTRIBUTE_OUT_OF_RANGE,
		    "%s (%#x) does not take %#llx", x->name, x->msr,
		    (unsigned long long)value);
	if ((set->ps_extra_msrs >> n & 1) == 0)
		set->ps_extra_msr_req[n] = (uint8_t)set->ps_n;
	set->ps_extra_msrs |= (uint8_t)(1U << n);
	set->ps_extra_msr[n] = value;
	return 0;
}

void
x86_extra_msr_load(const struct pcbe_set *set)
{
	for (uint32_t left = set->ps_extra_msrs; left != 0; left &= left - 1) {
		unsigned n = (unsigned)__builtin_ctz(left);

		pmu_wrmsr(extras[n + 1].msr, set->ps_extra_msr[n]);
	}
}
