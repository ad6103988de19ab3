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

/* `probe` is a value that the register takes.  A missing register reads 0. */
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
keeps_value(uint32_t msr, uint64_t probe)
{
	uint64_t v;

	return pmu_wrmsr_safe(msr, probe) == 0 &&
	       pmu_rdmsr_safe(msr, &v) == 0 && v == probe &&
	       pmu_wrmsr_safe(msr, 0) == 0;
}

unsigned
x86_extra_msr_probe(void)
{
	unsigned exist = 0;

	for (unsigned i = EXTRA_NONE + 1; i < EXTRA_N; i++)
		exist |= (unsigned)keeps_value(extras[i].msr, extras[i].probe)
		         << i;
	return exist;
}

int
x86_extra_msr_take(struct pcbe_set *set, unsigned exist, enum event_extra extra,
    uint64_t value)
{
	const struct extra *x = &extras[extra];
	unsigned n = extra - 1;

	if ((exist >> extra & 1) == 0) {
		kcpc_reason("this CPU lacks %s (%#x)", x->name, x->msr);
		return CPC_RESOURCE_UNAVAIL;
	}
	if ((set->ps_extra_msrs >> n & 1) != 0 &&
	    set->ps_extra_msr[n] != value) {
		kcpc_reason("%s (%#x) is to be %#llx, and %#llx for request %u",
		    x->name, x->msr, (unsigned long long)value,
		    (unsigned long long)set->ps_extra_msr[n],
		    set->ps_extra_msr_req[n]);
		return CPC_CONFLICTING_REQS;
	}
	/* Refuse the value now.  In program() it would raise #GP. */
	if (pmu_wrmsr_safe(x->msr, value) != 0) {
		kcpc_reason("%s (%#x) does not take %#llx", x->name, x->msr,
		    (unsigned long long)value);
		return CPC_ATTRIBUTE_OUT_OF_RANGE;
	}
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
