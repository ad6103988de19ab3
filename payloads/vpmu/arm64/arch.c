/*
 * The part of vpmu for arm64: PMUv3's events, and the rules of its registers.
 * Arm ARM (DDI 0487), "The Performance Monitors Extension"; "PMCEID0_EL0",
 * "PMCNTENSET_EL0", "PMINTENSET_EL1", "PMOVSCLR_EL0", "PMEVTYPER<n>_EL0",
 * "PMXEVCNTR_EL0", "PMSWINC_EL0"; "Required events".
 */
#include "payloads/vpmu/vpmu.h"

#include <stddef.h>
#include <stdio.h>

#define SW_INCR        0x00
#define INST_RETIRED   0x08
#define CPU_CYCLES     0x11
#define INST_SPEC      0x1b
#define BR_RETIRED     0x21
#define STALL_FRONTEND 0x23
#define STALL_BACKEND  0x24

#define PMCR_E       1
#define PMCR_N_SHIFT 11
#define PMCR_N_MASK  0x1f
#define CYCLE_BIT    (1ULL << 31)

#define read_reg(name)                                                         \
	__extension__({                                                        \
		uint64_t reg_v_;                                               \
		__asm__ volatile("mrs %0, " name : "=r"(reg_v_));              \
		reg_v_;                                                        \
	})
#define write_reg(name, v)                                                     \
	__asm__ volatile("msr " name ", %0\n\tisb" : : "r"((uint64_t)(v)))

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

/* Common events: 0 to 3FH and 4000H to 403FH. */
static bool
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
judge_required(unsigned pic)
{
	(void)pic;
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
judge_absent(unsigned pic)
{
	unsigned absent = 0, counted = 0;
	char text[16];
	struct measure m;

	(void)pic;
	for (unsigned i = 0; i < 128; i++) {
		unsigned code = i < 64 ? i : 0x4000 + i - 64;

		if (announced_code(code))
			continue;
		absent++;
		snprintf(text, sizeof text, "%#x", code);
		if (!measure_open_code(&m, text, 0, 0))
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

/*
 * Registers.  No set is bound, so the PICs stand.  The kernel knows what it
 * left in a register: it gets its value again.
 */
static unsigned
counters(void)
{
	return read_reg("pmcr_el0") >> PMCR_N_SHIFT & PMCR_N_MASK;
}

static void
judge_counters(unsigned pic)
{
	(void)pic;
	point_equal("PMCR_EL0.N", counters(), vpmu.v_npic);
}

static void
expect_reads(const char *name, uint64_t got, uint64_t want)
{
	if (got != want)
		point_fail("%s reads %#llx, not %#llx", name,
		    (unsigned long long)got, (unsigned long long)want);
}

/* A bit of a counter that the PMU does not have stays 0. */
static void
judge_reserved(unsigned pic)
{
	uint64_t own = (1ULL << counters()) - 1;
	uint64_t all = 0xffffffff, old;

	(void)pic;
	old = read_reg("pmcntenset_el0") & all;
	write_reg("pmcntenset_el0", all);
	expect_reads("PMCNTENSET_EL0", read_reg("pmcntenset_el0") & all,
	    own | CYCLE_BIT);
	expect_reads("PMCNTENCLR_EL0", read_reg("pmcntenclr_el0") & all,
	    own | CYCLE_BIT);
	write_reg("pmcntenclr_el0", all & ~old);
	expect_reads("PMCNTENSET_EL0", read_reg("pmcntenset_el0") & all, old);

	write_reg("pmovsclr_el0", all);
	old = read_reg("pmintenset_el1") & all;
	write_reg("pmintenset_el1", all);
	expect_reads("PMINTENSET_EL1", read_reg("pmintenset_el1") & all,
	    own | CYCLE_BIT);
	write_reg("pmintenclr_el1", all & ~old);
	expect_reads("PMINTENCLR_EL1", read_reg("pmintenclr_el1") & all, old);

	if (old == 0) { /* else the interrupt would come */
		write_reg("pmovsset_el0", all);
		expect_reads("PMOVSCLR_EL0", read_reg("pmovsclr_el0") & all,
		    own | CYCLE_BIT);
	}
	write_reg("pmovsclr_el0", all);
	expect_reads("PMOVSCLR_EL0", read_reg("pmovsclr_el0") & all, 0);
}

/* Through PMSELR_EL0 each counter keeps what is written. */
static void
judge_counter_write(unsigned pic)
{
	const uint64_t pattern = 0x89abcdef01234567;
	uint64_t select = read_reg("pmselr_el0"), want;

	(void)pic;
	for (unsigned n = 0; n < vpmu.v_npic; n++) {
		want =
		    vpmu.v_pic[n].vp_width == 64 ? pattern : (uint32_t)pattern;
		write_reg("pmselr_el0", n);
		write_reg("pmxevcntr_el0", want);
		expect_reads("PMXEVCNTR_EL0", read_reg("pmxevcntr_el0"), want);
		write_reg("pmxevcntr_el0", 0);
	}
	write_reg("pmselr_el0", select);
}

/* PMEVTYPER keeps the number of a common event that the PMU does not have. */
static void
judge_event_write(unsigned pic)
{
	uint64_t old = read_reg("pmevtyper0_el0");
	unsigned code = 0;

	(void)pic;
	while (code < 64 && announced_code(code))
		code++;
	if (code == 64) {
		point_skip("all common events are announced");
		return;
	}
	write_reg("pmevtyper0_el0", code);
	expect_reads("PMEVTYPER0_EL0", read_reg("pmevtyper0_el0"), code);
	write_reg("pmevtyper0_el0", old);
}

#define WRITES 100

/* The counts of PMSWINC_EL0 on counter 0. */
static uint64_t
count_writes(void)
{
	write_reg("pmevcntr0_el0", 0);
	for (unsigned i = 0; i < WRITES; i++)
		write_reg("pmswinc_el0", 1);
	return read_reg("pmevcntr0_el0");
}

/* SW_INCR counts the writes of PMSWINC_EL0 while its counter is enabled. */
static void
judge_sw_incr(unsigned pic)
{
	uint64_t type = read_reg("pmevtyper0_el0");
	uint64_t cr = read_reg("pmcr_el0");

	(void)pic;
	if (!announced_code(SW_INCR)) {
		point_skip("the PMU does not announce SW_INCR");
		return;
	}
	write_reg("pmcr_el0", cr | PMCR_E);
	write_reg("pmevtyper0_el0", SW_INCR);
	expect_reads("the disabled counter", count_writes(), 0);
	write_reg("pmcntenset_el0", 1);
	expect_reads("the counter", count_writes(), WRITES);
	write_reg("pmcntenclr_el0", 1);
	write_reg("pmevcntr0_el0", 0);
	write_reg("pmevtyper0_el0", type);
	write_reg("pmcr_el0", cr);
}

const struct vpmu_property arch_properties[] = {
	{ "events_required", judge_required, 0 },
	{ "events_absent", judge_absent, 0 },
	{ "counters", judge_counters, NEEDS_SYSTEM },
	{ "reserved_bits", judge_reserved, NEEDS_SYSTEM },
	{ "counter_write", judge_counter_write, NEEDS_SYSTEM },
	{ "event_write", judge_event_write, NEEDS_SYSTEM },
	{ "sw_incr", judge_sw_incr, NEEDS_SYSTEM },
	{ NULL, NULL, 0 },
};
