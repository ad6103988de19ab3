/*
 * The rules of the registers of an x86 PMU.  No set is bound, so the counters
 * stand.  The kernel knows what it left in a register: it gets its value again.
 *
 * Intel SDM vol. 3B, "Architectural Performance Monitoring"; vol. 4, "IA-32
 * Architectural MSRs"; vol. 2B, "RDPMC".
 * AMD APM vol. 2 (24593), "Performance Monitoring Counters", "Performance
 * Counter Global Control", "Performance Counter Global Status".
 */
#include <payload.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/processor.h>

#include "payloads/vpmu/vpmu.h"
#include "payloads/vpmu/x86_64/msr.h"

#define IA32_PERFEVTSEL(n)          (0x186U + (n))
#define RSP_0                       0x1a6U         /* MSR_OFFCORE_RSP_0 */
#define IA32_PMC(n)                 (0x0c1U + (n)) /* extends 32 bits' sign */
#define IA32_A_PMC(n)               (0x4c1U + (n)) /* takes the whole width */
#define IA32_FIXED_CTR(n)           (0x309U + (n))
#define IA32_PERF_CAPS              0x345U
#define IA32_PERF_CAPS_FW           (1U << 13)
#define CPUID_1_ECX_PDCM            (1U << 15)
#define IA32_FIXED_CTR_CTRL         0x38dU
#define IA32_PERF_GLOBAL_STATUS     0x38eU
#define IA32_PERF_GLOBAL_CTRL       0x38fU
#define IA32_PERF_GLOBAL_OVF_CTRL   0x390U
#define IA32_PERF_GLOBAL_STATUS_SET 0x391U
#define RDPMC_FIXED                 0x40000000U

#define AMD_PERF_LEGACY_CTR0            0xc0010004U
#define AMD_PERF_CTL(n)                 (0xc0010200U + 2 * (n))
#define AMD_PERF_CTR(n)                 (0xc0010201U + 2 * (n))
#define AMD_PERF_CNTR_GLOBAL_STATUS     0xc0000300U
#define AMD_PERF_CNTR_GLOBAL_CTL        0xc0000301U
#define AMD_PERF_CNTR_GLOBAL_STATUS_CLR 0xc0000302U

/* Retired instructions at system privilege, without an interrupt. */
#define SELECT_INSNS    (0xc0U | 1U << 17 | 1U << 22)
#define FIXED_CTRL_OS   0x1ULL
#define FIXED_CTRL_MASK 0xfULL /* the bits of a counter */

static bool
is_intel(void)
{
	return vpmu.v_pmu.pm_kind == CPC_PMU_INTEL;
}

/* A byte of CPUID.0AH:EAX or :EDX. */
static unsigned
intel_leaf(bool edx, unsigned shift)
{
	struct cpuid_result r = read_cpuid(0xa);

	return (edx ? r.d : r.a) >> shift & 0xff;
}

static unsigned
intel_version(void)
{
	return intel_leaf(false, 0);
}

static unsigned
intel_counters(void)
{
	return intel_leaf(false, 8);
}

static bool
has_fixed(unsigned n)
{
	return is_intel() && n < CPC_PMU_OWN && vpmu.v_pmu.pm_own[n] != 0;
}

static bool
amd_has_status(void)
{
	return !is_intel() && (read_cpuid(0x80000022).a & 1) != 0;
}

static void
expect_fault(const char *name, uint32_t msr, uint64_t v)
{
	uint64_t old = read_msr(msr);

	if (write_works(msr, v)) {
		point_fail("%s: a write of %#llx does not fault", name,
		    (unsigned long long)v);
		write_msr(msr, old);
	}
}

/* Bit 63 is in no field of these registers. */
static void
judge_reserved(unsigned)
{
	if (!is_intel()) {
		point_skip("AMD names no fault for a reserved bit");
		return;
	}
	expect_fault("IA32_PERFEVTSEL0", IA32_PERFEVTSEL(0), 1ULL << 63);
	if (intel_version() < 2)
		return;
	expect_fault("IA32_FIXED_CTR_CTRL", IA32_FIXED_CTR_CTRL, 1ULL << 63);
	expect_fault(
	    "IA32_PERF_GLOBAL_CTRL", IA32_PERF_GLOBAL_CTRL, 1ULL << 63);
	expect_fault("IA32_PERF_GLOBAL_CTRL", IA32_PERF_GLOBAL_CTRL,
	    1ULL << intel_counters());
}

static bool
takes_whole_width(void)
{
	return (read_cpuid(1).c & CPUID_1_ECX_PDCM) != 0 &&
	       (read_msr(IA32_PERF_CAPS) & IA32_PERF_CAPS_FW) != 0;
}

/* The counter reads `want` after a write, by RDMSR and by RDPMC. */
static void
expect_write(uint32_t msr, uint32_t index, uint64_t v, uint64_t want)
{
	uint64_t got, by_rdpmc = ~want;

	if (!write_works(msr, v)) {
		point_fail("MSR %#x: a write of %#llx faults", msr,
		    (unsigned long long)v);
		return;
	}
	got = read_msr(msr);
	if (!read_works(index, &by_rdpmc))
		point_fail("RDPMC of %#x faults", index);
	else if (by_rdpmc != want)
		point_fail("MSR %#x: %#llx was written, and RDPMC of %#x is "
			   "%#llx",
		    msr, (unsigned long long)v, index,
		    (unsigned long long)by_rdpmc);
	write_msr(msr, 0);
	if (got != want)
		point_fail("MSR %#x: %#llx was written, and it reads %#llx",
		    msr, (unsigned long long)v, (unsigned long long)got);
}

#define PATTERN 0x89abcdefULL

static void
judge_counter_write(unsigned)
{
	uint64_t mask = (1ULL << vpmu.v_pic[0].vp_width) - 1;

	if (!is_intel()) {
		expect_write(
		    AMD_PERF_LEGACY_CTR0, 0, PATTERN << 15, PATTERN << 15);
		return;
	}
	for (unsigned n = 0; n < intel_counters(); n++) {
		expect_write(IA32_PMC(n), n, 0x12345678, 0x12345678);
		expect_write(IA32_PMC(n), n, PATTERN,
		    (uint64_t)(int64_t)(int32_t)PATTERN & mask);
		if (!takes_whole_width())
			continue;
		expect_write(
		    IA32_A_PMC(n), n, PATTERN << 8 & mask, PATTERN << 8 & mask);
		expect_fault("IA32_A_PMC", IA32_A_PMC(n), mask + 1);
	}
}

/* An absent fixed counter has no control bits, and no number for RDPMC. */
static void
judge_fixed_registers(unsigned)
{
	uint64_t mask = (1ULL << intel_leaf(true, 5) % 64) - 1, value;
	unsigned n = 0;

	if (!has_fixed(0)) {
		point_skip("the PMU has no fixed counter");
		return;
	}
	for (; has_fixed(n); n++)
		expect_write(IA32_FIXED_CTR(n), RDPMC_FIXED + n,
		    PATTERN << 8 & mask, PATTERN << 8 & mask);
	point_note("%u fixed counters", n);
	if (n == CPC_PMU_OWN)
		return; /* this program does not know those after it */
	expect_fault(
	    "IA32_FIXED_CTR_CTRL", IA32_FIXED_CTR_CTRL, FIXED_CTRL_OS << 4 * n);
	if (read_works(RDPMC_FIXED + n, &value))
		point_fail("RDPMC of fixed counter %u, which is absent, does "
			   "not fault",
		    n);
}

/* A counter whose overflow is to be seen in the status register. */
struct watched {
	char wa_name[24];
	uint32_t wa_counter, wa_select; /* MSRs */
	uint64_t wa_start, wa_on, wa_mask;
	uint64_t wa_bit; /* of control, status and clear */
	uint32_t wa_control, wa_status, wa_clear;
};

static uint64_t
nmis(void)
{
	struct barecpc_interrupts by = { 0 };

	payload_interrupts(&by);
	return by.by_nmis;
}

/* Events from the start to the overflow, and iterations of the loop. */
#define BEFORE_OVERFLOW 100
#define OVERFLOW_LOOP   100000

/*
 * Let the counter overflow without asking for an interrupt.  Returns the NMIs
 * that came all the same.
 */
static uint64_t
overflow_quietly(const struct watched *wa)
{
	uint64_t before = nmis(), status, count;
	uint64_t select = read_msr(wa->wa_select);
	uint64_t control = read_msr(wa->wa_control);

	write_msr(wa->wa_control, 0);
	write_msr(wa->wa_clear, wa->wa_bit);
	if ((read_msr(wa->wa_status) & wa->wa_bit) != 0)
		point_fail("%s: its status is set at the start", wa->wa_name);
	write_msr(wa->wa_counter, wa->wa_start);
	write_msr(wa->wa_select, (select & ~wa->wa_mask) | wa->wa_on);
	write_msr(wa->wa_control, wa->wa_bit);
	spin_loop(OVERFLOW_LOOP);
	write_msr(wa->wa_control, 0);
	status = read_msr(wa->wa_status);
	count = read_msr(wa->wa_counter);
	if ((status & wa->wa_bit) == 0)
		point_fail(
		    "%s: its overflow does not set the status", wa->wa_name);
	if (count > 1 << 30)
		point_fail("%s: it reads %#llx after its overflow", wa->wa_name,
		    (unsigned long long)count);
	write_msr(wa->wa_clear, wa->wa_bit);
	if ((read_msr(wa->wa_status) & wa->wa_bit) != 0)
		point_fail("%s: its status is not cleared", wa->wa_name);
	write_msr(wa->wa_counter, 0);
	write_msr(wa->wa_select, select);
	write_msr(wa->wa_control, control);
	return nmis() - before;
}

/* An NMI may be someone else's, so one run of several must be without. */
static void
watch_overflow(const struct watched *wa)
{
	for (unsigned i = 0; i < vpmu.v_runs; i++) {
		if (overflow_quietly(wa) == 0)
			return;
	}
	point_fail(
	    "%s: an interrupt comes that was not asked for", wa->wa_name);
}

static void
watch_general(unsigned n)
{
	struct watched wa = { .wa_counter = AMD_PERF_CTR(n),
		.wa_select = AMD_PERF_CTL(n),
		.wa_start = -(uint64_t)BEFORE_OVERFLOW & ((1ULL << 48) - 1),
		.wa_on = SELECT_INSNS,
		.wa_mask = ~0ULL,
		.wa_bit = 1ULL << n,
		.wa_control = AMD_PERF_CNTR_GLOBAL_CTL,
		.wa_status = AMD_PERF_CNTR_GLOBAL_STATUS,
		.wa_clear = AMD_PERF_CNTR_GLOBAL_STATUS_CLR };

	if (is_intel()) {
		wa.wa_counter = IA32_PMC(n);
		wa.wa_select = IA32_PERFEVTSEL(n);
		wa.wa_start = (uint32_t)-BEFORE_OVERFLOW;
		wa.wa_control = IA32_PERF_GLOBAL_CTRL;
		wa.wa_status = IA32_PERF_GLOBAL_STATUS;
		wa.wa_clear = IA32_PERF_GLOBAL_OVF_CTRL;
	}
	snprintf(wa.wa_name, sizeof wa.wa_name, "counter %u", n);
	watch_overflow(&wa);
}

static void
watch_fixed(unsigned n)
{
	struct watched wa = { .wa_counter = IA32_FIXED_CTR(n),
		.wa_select = IA32_FIXED_CTR_CTRL,
		.wa_start = -(uint64_t)BEFORE_OVERFLOW &
		            ((1ULL << intel_leaf(true, 5) % 64) - 1),
		.wa_on = FIXED_CTRL_OS << 4 * n,
		.wa_mask = FIXED_CTRL_MASK << 4 * n,
		.wa_bit = 1ULL << (32 + n),
		.wa_control = IA32_PERF_GLOBAL_CTRL,
		.wa_status = IA32_PERF_GLOBAL_STATUS,
		.wa_clear = IA32_PERF_GLOBAL_OVF_CTRL };

	snprintf(wa.wa_name, sizeof wa.wa_name, "fixed counter %u", n);
	watch_overflow(&wa);
}

static void
judge_status(unsigned)
{
	if (is_intel() ? intel_version() < 2 : !amd_has_status()) {
		point_skip("this PMU has no register of overflows");
		return;
	}
	for (unsigned n = 0; n < vpmu.v_npic && !vpmu.v_pic[n].vp_fixed; n++)
		watch_general(n);
	for (unsigned n = 0; has_fixed(n); n++)
		watch_fixed(n);
}

/* From version 4 on, software may set the status, as a hypervisor does. */
static void
judge_status_set(unsigned)
{
	uint64_t bits = (1ULL << intel_counters()) - 1;

	if (!is_intel() || intel_version() < 4) {
		point_skip("IA32_PERF_GLOBAL_STATUS_SET needs version 4");
		return;
	}
	write_msr(IA32_PERF_GLOBAL_OVF_CTRL, bits);
	if (!write_works(IA32_PERF_GLOBAL_STATUS_SET, bits))
		point_fail("IA32_PERF_GLOBAL_STATUS_SET: the write faults");
	else if ((read_msr(IA32_PERF_GLOBAL_STATUS) & bits) != bits)
		point_fail("%#llx was set, and the status is %#llx",
		    (unsigned long long)bits,
		    (unsigned long long)read_msr(IA32_PERF_GLOBAL_STATUS));
	write_msr(IA32_PERF_GLOBAL_OVF_CTRL, bits);
	if ((read_msr(IA32_PERF_GLOBAL_STATUS) & bits) != 0)
		point_fail("the status is not cleared");
}

static void
find_offcore(void *found, const char *attr)
{
	*(bool *)found |= strcmp(attr, "msr_offcore") == 0;
}

/* Each CPU writes its number, and looks for another one's instead. */
static void
judge_offcore(unsigned)
{
	enum { LEFT, WRITE, LOOK, RESTORE, TURNS, CPUS = 256 };
	static uint64_t left[CPUS]; /* by the kernel */
	bool found = false;

	cpc_walk_attrs(vpmu.v_cpc, &found, find_offcore);
	if (!found)
		point_skip("this PMU has no MSR_OFFCORE_RSP_0");
	for (int i = 0; found && i < TURNS * CPUS; i++) {
		int turn = i / CPUS, cpu = i % CPUS;
		uint64_t mine = (uint64_t)cpu % 127 + 1;

		if (processor_bind(P_LWPID, P_MYID, cpu, NULL) != 0)
			continue;
		if (turn == LEFT)
			left[cpu] = read_msr(RSP_0);
		else if (turn != LOOK)
			write_msr(RSP_0, turn == WRITE ? mine : left[cpu]);
		else if (read_msr(RSP_0) != mine)
			point_note("CPU %d shares OFFCORE_RSP_0", cpu);
	}
	processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL);
}

const struct vpmu_property register_properties[] = {
	{ "reserved_bits", judge_reserved, NEEDS_SYSTEM },
	{ "counter_write", judge_counter_write, NEEDS_SYSTEM },
	{ "fixed_registers", judge_fixed_registers, NEEDS_SYSTEM },
	{ "status", judge_status, NEEDS_SYSTEM },
	{ "status_set", judge_status_set, NEEDS_SYSTEM },
	{ "offcore", judge_offcore, NEEDS_SYSTEM | NEEDS_CPUS },
	{ NULL, NULL, 0 },
};
