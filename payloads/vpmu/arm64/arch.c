/*
 * The part of vpmu for arm64: PMUv3's events.
 * Arm ARM (DDI 0487), "The Performance Monitors Extension"; "PMCEID0_EL0";
 * "Required events".
 */
#include <stddef.h>
#include <stdio.h>

#include "payloads/vpmu/arm64/common_event.h"
#include "payloads/vpmu/vpmu.h"

#define INST_RETIRED   0x08
#define CPU_CYCLES     0x11
#define INST_SPEC      0x1b
#define BR_RETIRED     0x21
#define STALL_FRONTEND 0x23
#define STALL_BACKEND  0x24

/* None: which instructions of a program trap depends on the hypervisor. */
void (*const arch_trapped_loop)(uint64_t iterations) = NULL;
const unsigned arch_trapped_insns = 0;

static const struct arch_event events[] = {
	{ "cycles", "0x11", 0, EVENT_GROWS, CPU_CYCLES },
	{ "instructions", "0x8", 0, EVENT_INSNS, INST_RETIRED },
	{ "branches", "0x21", 0, EVENT_BRANCHES, BR_RETIRED },
	{ 0 },
};

const struct arch_event *
arch_events(void)
{
	return events;
}

bool
announced_code(unsigned code)
{
	uint64_t ceid = vpmu.v_pmu.pm_events[code >> 5 & 1];
	unsigned bit = (code & 0x1f) + (code >= 0x4000 ? 32 : 0);

	return (ceid >> bit & 1) != 0;
}

enum announced
arch_announced(const struct arch_event *ae)
{
	return announced_code(ae->av_bit) ? ANNOUNCED : NOT_ANNOUNCED;
}

/* STALL_* are required from PMUv3p1 on; emulators without stalls lack them. */
static void
judge_required(unsigned)
{
	if (!announced_code(SW_INCR))
		point_fail("SW_INCR is not announced");
	if (!announced_code(CPU_CYCLES))
		point_fail("CPU_CYCLES is not announced");
	if (!announced_code(INST_RETIRED) && !announced_code(INST_SPEC))
		point_fail("neither INST_RETIRED nor INST_SPEC is announced");
	if (!announced_code(STALL_FRONTEND) || !announced_code(STALL_BACKEND))
		point_note("STALL_FRONTEND, STALL_BACKEND: not both announced");
}

/* A common event that the PMU does not have counts nothing. */
static void
judge_absent(unsigned)
{
	unsigned absent = 0, counted = 0;
	char text[16];
	struct measure m;

	for (unsigned i = 0; i < 128; i++) {
		unsigned code = i < 64 ? i : 0x4000 + i - 64;

		if (announced_code(code))
			continue;
		absent++;
		snprintf(text, sizeof text, "%#x", code);
		if (!measure_open_code(&m, ANY_PIC, text, 0, 0))
			continue; /* the kernel refuses what is not announced */
		counted++;
		spin_loop(LONG_LOOP);
		if (measure_sample(&m, 0) != 0)
			point_fail("event %#x is not announced, and counts "
				   "%llu",
			    code, (unsigned long long)measure_sample(&m, 0));
		measure_close(&m);
	}
	point_note("%u events are not announced; %u of them were counted",
	    absent, counted);
	if (counted == 0)
		point_skip("the kernel refuses them: boot with models=any");
}

const struct vpmu_property arch_properties[] = {
	{ "events_required", judge_required, 0 },
	{ "events_absent", judge_absent, 0 },
	{ NULL, NULL, 0 },
};

/* PMUv3's counters count any event. */
const struct vpmu_property fixed_properties[] = {
	{ NULL, NULL, 0 },
};
