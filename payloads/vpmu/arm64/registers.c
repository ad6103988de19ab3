/*
 * The rules of PMUv3's registers.  No set is bound, so the PICs stand.  The
 * kernel knows what it left in a register: it gets its value again.
 * Arm ARM (DDI 0487), "The Performance Monitors Extension"; "PMCR_EL0",
 * "PMCNTENSET_EL0", "PMINTENSET_EL1", "PMOVSCLR_EL0", "PMEVTYPER<n>_EL0",
 * "PMXEVCNTR_EL0", "PMSWINC_EL0", "PMCCNTR_EL0", "PMCCFILTR_EL0".
 */
#include <stddef.h>

#include "payloads/vpmu/arm64/common_event.h"
#include "payloads/vpmu/arm64/sysreg.h"
#include "payloads/vpmu/vpmu.h"

#define PMCR_E       (1ULL << 0)
#define PMCR_P       (1ULL << 1) /* event counters to 0 */
#define PMCR_C       (1ULL << 2) /* PMCCNTR_EL0 to 0 */
#define PMCR_LP      (1ULL << 7) /* PMUv3p5: overflow at 64 bits */
#define PMCR_N_SHIFT 11
#define PMCR_N_MASK  0x1f
#define CYCLE_BIT    (1ULL << 31)
#define NOT_AT_EL1   (1ULL << 31) /* PMCCFILTR_EL0.P */
#define AT_EL2       (1ULL << 27) /* PMCCFILTR_EL0.NSH */

static unsigned
counters(void)
{
	return read_reg("pmcr_el0") >> PMCR_N_SHIFT & PMCR_N_MASK;
}

static void
judge_counters(unsigned)
{
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
judge_reserved(unsigned)
{
	uint64_t own = (1ULL << counters()) - 1;
	uint64_t all = 0xffffffff, old;

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
judge_counter_write(unsigned)
{
	const uint64_t pattern = 0x89abcdef01234567;
	uint64_t select = read_reg("pmselr_el0"), want;

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
judge_event_write(unsigned)
{
	uint64_t old = read_reg("pmevtyper0_el0");
	unsigned code = 0;

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

/* Software increments: their number is exact. */
#define WRITES 100

/* Write PMSWINC_EL0 WRITES times for these counters. */
static void
increment(uint64_t which)
{
	for (unsigned i = 0; i < WRITES; i++)
		write_reg("pmswinc_el0", which);
}

static uint64_t
read_counter(unsigned n)
{
	write_reg("pmselr_el0", n);
	return read_reg("pmxevcntr_el0");
}

static void
set_counter(unsigned n, uint64_t event, uint64_t value)
{
	write_reg("pmselr_el0", n);
	write_reg("pmxevtyper_el0", event);
	write_reg("pmxevcntr_el0", value);
}

/* Registers that a point changes and restores. */
struct saved {
	uint64_t sv_select, sv_control, sv_type[2];
};

static bool
begin_increments(struct saved *s, uint64_t control)
{
	if (!announced_code(SW_INCR)) {
		point_skip("the PMU does not announce SW_INCR");
		return false;
	}
	s->sv_select = read_reg("pmselr_el0");
	s->sv_control = read_reg("pmcr_el0");
	for (unsigned n = 0; n < 2 && n < counters(); n++) {
		write_reg("pmselr_el0", n);
		s->sv_type[n] = read_reg("pmxevtyper_el0");
	}
	write_reg("pmcr_el0", control);
	write_reg("pmovsclr_el0", 0xffffffff);
	return true;
}

static void
end_increments(const struct saved *s)
{
	write_reg("pmcntenclr_el0", (1ULL << counters()) - 1);
	write_reg("pmovsclr_el0", 0xffffffff);
	for (unsigned n = 0; n < 2 && n < counters(); n++)
		set_counter(n, s->sv_type[n], 0);
	write_reg("pmselr_el0", s->sv_select);
	write_reg("pmcr_el0", s->sv_control);
}

/* SW_INCR counts the writes of PMSWINC_EL0 while its counter is enabled. */
static void
judge_sw_incr(unsigned)
{
	uint64_t on = read_reg("pmcr_el0") | PMCR_E;
	struct saved s;

	if (!begin_increments(&s, on))
		return;
	set_counter(0, SW_INCR, 0);
	increment(1);
	expect_reads("the disabled counter", read_counter(0), 0);
	write_reg("pmcntenset_el0", 1);
	increment(1);
	expect_reads("the counter", read_counter(0), WRITES);
	increment(2);
	expect_reads(
	    "the counter, after writes for another", read_counter(0), WRITES);
	write_reg("pmcr_el0", on & ~PMCR_E);
	increment(1);
	write_reg("pmcr_el0", on);
	expect_reads("the counter, after writes without PMCR_EL0.E",
	    read_counter(0), WRITES);
	end_increments(&s);
}

/* The counter wraps at so many bits; those above are not judged. */
static void
overflow_at(const char *name, unsigned bits, uint64_t control)
{
	uint64_t all = bits == 64 ? ~0ULL : (1ULL << bits) - 1;
	uint64_t start = all - WRITES / 2 + 1;
	struct saved s;

	if (!begin_increments(&s, control | PMCR_E))
		return;
	set_counter(0, SW_INCR, start);
	write_reg("pmcntenset_el0", 1);
	expect_reads(name, read_reg("pmovsclr_el0"), 0);
	increment(1);
	expect_reads(name, read_reg("pmovsclr_el0"), 1);
	expect_reads(name, read_counter(0) & all, WRITES - WRITES / 2);
	write_reg("pmovsclr_el0", 1);
	expect_reads(name, read_reg("pmovsclr_el0"), 0);
	if (bits == 64) { /* past 32 bits it goes on */
		set_counter(0, SW_INCR, (1ULL << 32) - WRITES / 2);
		increment(1);
		expect_reads(name, read_reg("pmovsclr_el0"), 0);
	}
	end_increments(&s);
}

/* An overflow sets its bit in PMOVSSET, whether it interrupts or not. */
static void
judge_status(unsigned)
{
	uint64_t control = read_reg("pmcr_el0");

	if ((read_reg("pmintenset_el1") & 1) != 0) {
		point_skip("the kernel keeps the interrupt of counter 0 on");
		return;
	}
	overflow_at("PMOVSCLR_EL0, 32 bits", 32, control & ~PMCR_LP);
	if (vpmu.v_pic[0].vp_width == 64)
		overflow_at("PMOVSCLR_EL0, 64 bits", 64, control | PMCR_LP);
}

/* Counter 0 overflows once; what counter 1, which counts CHAIN, then reads. */
static uint64_t
chain_once(uint64_t enabled, uint64_t start)
{
	set_counter(0, SW_INCR, (1ULL << 32) - WRITES / 2);
	set_counter(1, CHAIN, start);
	write_reg("pmovsclr_el0", 0xffffffff);
	write_reg("pmcntenset_el0", enabled);
	increment(1);
	write_reg("pmcntenclr_el0", 3);
	return read_counter(1) & 0xffffffff;
}

/*
 * An odd counter with the event CHAIN counts the 32-bit overflows of the
 * counter below it, if both are enabled.
 */
static void
judge_chain(unsigned)
{
	struct saved s;

	if (counters() < 2 || !announced_code(CHAIN)) {
		point_skip("the PMU has no two counters, or no event CHAIN");
		return;
	}
	if (!begin_increments(&s, (read_reg("pmcr_el0") & ~PMCR_LP) | PMCR_E))
		return;
	expect_reads("the upper counter", chain_once(3, 7), 8);
	expect_reads("PMOVSCLR_EL0", read_reg("pmovsclr_el0"), 1);
	expect_reads("the upper counter, if it is off", chain_once(1, 7), 7);
	expect_reads(
	    "the upper counter, if the lower is off", chain_once(2, 7), 7);
	expect_reads("PMOVSCLR_EL0, no overflow", read_reg("pmovsclr_el0"), 0);
	expect_reads("the upper counter, full", chain_once(3, 0xffffffff), 0);
	expect_reads("PMOVSCLR_EL0, both", read_reg("pmovsclr_el0"), 3);
	end_increments(&s);
}

/* PMCR_EL0.P clears the event counters alone, PMCR_EL0.C PMCCNTR_EL0 alone. */
static void
judge_reset(unsigned)
{
	uint64_t control = read_reg("pmcr_el0"), before;
	uint64_t select = read_reg("pmselr_el0");

	for (unsigned n = 0; n < counters(); n++) {
		write_reg("pmselr_el0", n);
		write_reg("pmxevcntr_el0", 1000 + n);
	}
	before = read_reg("pmccntr_el0");
	write_reg("pmcr_el0", control | PMCR_P);
	if (read_reg("pmccntr_el0") < before)
		point_fail("PMCR_EL0.P clears PMCCNTR_EL0");
	for (unsigned n = 0; n < counters(); n++) {
		expect_reads(
		    "an event counter, after PMCR_EL0.P", read_counter(n), 0);
		write_reg("pmxevcntr_el0", 1000 + n);
	}
	before = read_reg("pmccntr_el0");
	write_reg("pmcr_el0", control | PMCR_C);
	if (read_reg("pmccntr_el0") >= before)
		point_fail("PMCR_EL0.C does not clear PMCCNTR_EL0");
	expect_reads("PMCR_EL0", read_reg("pmcr_el0"), control);
	for (unsigned n = 0; n < counters(); n++) {
		expect_reads("an event counter, after PMCR_EL0.C",
		    read_counter(n), 1000 + n);
		write_reg("pmxevcntr_el0", 0);
	}
	write_reg("pmccntr_el0", before);
	write_reg("pmselr_el0", select);
}

/*
 * The cycle counter.  The kernel uses it as the tick, which no sample reads
 * now.  It gets a value that is not far from its own.
 */
static uint64_t
cycles_of(uint64_t iterations)
{
	uint64_t before = read_reg("pmccntr_el0");

	spin_loop(iterations);
	return read_reg("pmccntr_el0") - before;
}

static uint64_t
least_cycles(uint64_t iterations)
{
	uint64_t least = cycles_of(iterations), cycles;

	for (unsigned i = 0; i < vpmu.v_runs; i++) {
		cycles = cycles_of(iterations);
		least = cycles < least ? cycles : least;
	}
	return least;
}

static void
judge_cycle_counter(unsigned)
{
	uint64_t filter = read_reg("pmccfiltr_el0");
	uint64_t el = read_reg("CurrentEL") >> 2 & 3;
	uint64_t shorter = least_cycles(SHORT_LOOP), tick;

	tick = least_cycles(LONG_LOOP);
	point_note("%llu cycles of %d iterations", (unsigned long long)tick,
	    LONG_LOOP);
	if (tick <= shorter)
		point_fail("%d iterations take %llu cycles, %d take %llu",
		    LONG_LOOP, (unsigned long long)tick, SHORT_LOOP,
		    (unsigned long long)shorter);

	write_reg(
	    "pmccfiltr_el0", el == 2 ? filter & ~AT_EL2 : filter | NOT_AT_EL1);
	expect_reads(
	    "PMCCNTR_EL0 less itself, filtered", least_cycles(LONG_LOOP), 0);
	write_reg("pmccfiltr_el0", filter);

	write_reg("pmcntenclr_el0", CYCLE_BIT);
	expect_reads(
	    "PMCCNTR_EL0 less itself, disabled", cycles_of(LONG_LOOP), 0);
	write_reg("pmcntenset_el0", CYCLE_BIT);

	tick = read_reg("pmccntr_el0");
	write_reg("pmovsclr_el0", CYCLE_BIT);
	write_reg("pmccntr_el0", -(uint64_t)100);
	spin_loop(100000);
	if (read_reg("pmccntr_el0") > 1ULL << 40)
		point_fail("PMCCNTR_EL0 reads %#llx: it does not wrap",
		    (unsigned long long)read_reg("pmccntr_el0"));
	expect_reads("PMOVSCLR_EL0, bit 31, after the overflow",
	    read_reg("pmovsclr_el0") & CYCLE_BIT, CYCLE_BIT);
	write_reg("pmovsclr_el0", CYCLE_BIT);
	expect_reads("PMOVSCLR_EL0, bit 31, cleared",
	    read_reg("pmovsclr_el0") & CYCLE_BIT, 0);
	write_reg("pmccntr_el0", tick);
}

const struct vpmu_property register_properties[] = {
	{ "counters", judge_counters, NEEDS_SYSTEM },
	{ "reserved_bits", judge_reserved, NEEDS_SYSTEM },
	{ "counter_write", judge_counter_write, NEEDS_SYSTEM },
	{ "event_write", judge_event_write, NEEDS_SYSTEM },
	{ "sw_incr", judge_sw_incr, NEEDS_SYSTEM },
	{ "status", judge_status, NEEDS_SYSTEM },
	{ "chain", judge_chain, NEEDS_SYSTEM },
	{ "reset", judge_reset, NEEDS_SYSTEM },
	{ "cycle_counter", judge_cycle_counter, NEEDS_SYSTEM },
	{ NULL, NULL, 0 },
};
