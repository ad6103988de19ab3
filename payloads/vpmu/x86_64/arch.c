/*
 * The part of vpmu for x86: its events, and what programs may read.
 * Intel SDM vol. 3B, "Architectural Performance Monitoring"; vol. 2B, "RDPMC".
 * AMD APM vol. 2 (24593), "Performance Monitoring Counters".
 */
#include "payloads/vpmu/vpmu.h"

#include <stddef.h>

#include "payloads/vpmu/x86_64/msr.h"

/* The index that no counter has; the manuals name #GP(0) for it. */
#define ABSENT_PIC 64

void trapped_loop(uint64_t iterations);
void (*const arch_trapped_loop)(uint64_t iterations) = trapped_loop;
const unsigned arch_trapped_insns = 4;

/* Bits are those of CPUID.0AH:EBX and pm_events. */
static const struct arch_event intel_events[] = {
	{ "cycles", "0x3c", 0, EVENT_GROWS, 0 },
	{ "instructions", "0xc0", 0, EVENT_INSNS, 1 },
	{ "ref_cycles", "0x3c", 1, EVENT_GROWS, 2 },
	{ "branches", "0xc4", 0, EVENT_BRANCHES, 5 },
	{ 0 },
};
static const struct arch_event amd_events[] = {
	{ "cycles", "0x76", 0, EVENT_GROWS, 0 },
	{ "instructions", "0xc0", 0, EVENT_INSNS, 0 },
	{ "branches", "0xc2", 0, EVENT_BRANCHES, 0 },
	{ 0 },
};

const struct arch_event *
arch_events(void)
{
	return vpmu.v_pmu.pm_kind == CPC_PMU_INTEL ? intel_events : amd_events;
}

enum announced
arch_announced(const struct arch_event *ae)
{
	if (vpmu.v_pmu.pm_kind != CPC_PMU_INTEL)
		return NOT_ENUMERATED;
	return (vpmu.v_pmu.pm_events[0] >> ae->av_bit & 1) != 0 ? ANNOUNCED
	                                                        : NOT_ANNOUNCED;
}

/*
 * A cycle that CMASK 2 counts has retired two instructions or more.  So it
 * counts at most half of the instructions.
 */
static void
judge_cmask(unsigned)
{
	struct measure m;

	if ((vpmu.v_pmu.pm_attrs >> CPC_ATTR_CMASK & 1) == 0) {
		point_skip("the PMU has no attribute cmask");
		return;
	}
	if (!measure_open_code(&m, ANY_PIC, "0xc0", 0, 2)) {
		point_skip("instructions with cmask=2: %s", measure_refusal());
		return;
	}
	int64_t count = measure_difference(&m, spin_loop);
	point_note("%lld of %d instructions", (long long)count, SPIN_WANT);
	if (count < 0 || count > SPIN_WANT / 2)
		point_fail("it counts %lld cycles with two instructions, of %d "
			   "instructions",
		    (long long)count, SPIN_WANT);
	measure_close(&m);
}

static void
judge_rdpmc_absent(unsigned pic)
{
	struct measure m;
	uint64_t value;

	while (vpmu.v_pic[pic].vp_event == NULL && pic + 1 < vpmu.v_npic)
		pic++;
	if (vpmu.v_pic[pic].vp_event == NULL) {
		point_skip("no PIC can be bound");
		return;
	}
	/* Programs may read PICs only while a set of theirs is bound. */
	if (!measure_open(&m, pic, vpmu.v_own, 0))
		return;
	if (read_works(ABSENT_PIC, &value))
		point_fail("RDPMC of counter %u does not fault", ABSENT_PIC);
	measure_close(&m);
}

const struct vpmu_property arch_properties[] = {
	{ "cmask", judge_cmask, 0 },
	{ "rdpmc_absent", judge_rdpmc_absent, 0 },
	{ NULL, NULL, 0 },
};
