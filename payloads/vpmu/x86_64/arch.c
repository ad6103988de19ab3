/*
 * The part of vpmu for x86: its events, and the rules of its registers.
 * Intel SDM vol. 3B, "Architectural Performance Monitoring"; vol. 4, "IA-32
 * Architectural MSRs"; vol. 2B, "RDPMC", "WRMSR".
 * AMD APM vol. 2 (24593), "Performance Monitoring Counters".
 */
#include "payloads/vpmu/vpmu.h"

#include <cpuid.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

#define IA32_PERFEVTSEL0      0x186
#define IA32_PMC0             0x0c1 /* takes 32 bits, extends their sign */
#define IA32_A_PMC0           0x4c1 /* takes the whole width */
#define IA32_PERF_CAPS        0x345
#define IA32_PERF_CAPS_FW     (1 << 13)
#define CPUID_1_ECX_PDCM      (1 << 15)
#define IA32_FIXED_CTR_CTRL   0x38d
#define IA32_PERF_GLOBAL_CTRL 0x38f
#define AMD_PERF_CTR0         0xc0010004

/* The index that no counter has; the manuals name #GP(0) for it. */
#define ABSENT_PIC 64

void trapped_loop(uint64_t iterations);
void (*const arch_trapped_loop)(uint64_t iterations) = trapped_loop;
const unsigned arch_trapped_insns = 4;

uint64_t
arch_raw(unsigned index)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
	return (uint64_t)high << 32 | low;
}

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
judge_cmask(unsigned pic)
{
	struct measure m;
	int64_t count;

	(void)pic;
	if ((vpmu.v_pmu.pm_attrs >> CPC_ATTR_CMASK & 1) == 0) {
		point_skip("the PMU has no attribute cmask");
		return;
	}
	if (!measure_open_code(&m, "0xc0", 0, 2)) {
		point_skip("instructions with cmask=2: %s", measure_refusal());
		return;
	}
	count = measure_difference(&m, spin_loop);
	point_note("%lld of %d instructions", (long long)count, SPIN_WANT);
	if (count < 0 || count > SPIN_WANT / 2)
		point_fail("it counts %lld cycles with two instructions, of %d "
			   "instructions",
		    (long long)count, SPIN_WANT);
	measure_close(&m);
}

/*
 * Code that may fault.
 */
static sigjmp_buf after_fault;

static void
leave_fault(int sig)
{
	siglongjmp(after_fault, sig);
}

static bool
rdpmc_faults(unsigned index)
{
	bool faults = sigsetjmp(after_fault, 1) != 0;

	signal(SIGSEGV, leave_fault);
	if (!faults)
		arch_raw(index);
	signal(SIGSEGV, SIG_DFL);
	return faults;
}

static void
judge_rdpmc_absent(unsigned pic)
{
	struct measure m;

	while (vpmu.v_pic[pic].vp_event == NULL && pic + 1 < vpmu.v_npic)
		pic++;
	if (vpmu.v_pic[pic].vp_event == NULL) {
		point_skip("no PIC can be bound");
		return;
	}
	/* Programs may read PICs only while a set of theirs is bound. */
	if (!measure_open(&m, pic, vpmu.v_own, 0))
		return;
	if (!rdpmc_faults(ABSENT_PIC))
		point_fail("RDPMC of counter %u does not fault", ABSENT_PIC);
	measure_close(&m);
}

static uint64_t
read_msr(uint32_t msr)
{
	uint32_t low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (uint64_t)high << 32 | low;
}

static void
write_msr(uint32_t msr, uint64_t v)
{
	__asm__ volatile(
	    "wrmsr"
	    :
	    : "c"(msr), "a"((uint32_t)v), "d"((uint32_t)(v >> 32)));
}

/* Write; false if that faults. */
static bool
write_works(uint32_t msr, uint64_t v)
{
	bool works = sigsetjmp(after_fault, 1) == 0;

	signal(SIGSEGV, leave_fault);
	if (works)
		write_msr(msr, v);
	signal(SIGSEGV, SIG_DFL);
	return works;
}

/* The kernel knows what it left in the register: it gets its value again. */
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

static unsigned
intel_version(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0xa, &a, &b, &c, &d) != 0 ? a & 0xff : 0;
}

static unsigned
intel_counters(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0xa, &a, &b, &c, &d) != 0 ? a >> 8 & 0xff : 0;
}

/* Bit 63 is in no field of these registers. */
static void
judge_reserved(unsigned pic)
{
	(void)pic;
	if (vpmu.v_pmu.pm_kind != CPC_PMU_INTEL) {
		point_skip("AMD names no fault for a reserved bit");
		return;
	}
	expect_fault("IA32_PERFEVTSEL0", IA32_PERFEVTSEL0, 1ULL << 63);
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
	unsigned a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) != 0 &&
	       (c & CPUID_1_ECX_PDCM) != 0 &&
	       (read_msr(IA32_PERF_CAPS) & IA32_PERF_CAPS_FW) != 0;
}

/* The counter reads `want` after a write. */
static void
expect_write(uint32_t msr, uint64_t v, uint64_t want)
{
	uint64_t got;

	if (!write_works(msr, v)) {
		point_fail("MSR %#x: a write of %#llx faults", msr,
		    (unsigned long long)v);
		return;
	}
	got = read_msr(msr);
	write_msr(msr, 0);
	if (got != want)
		point_fail("MSR %#x: %#llx was written, and it reads %#llx",
		    msr, (unsigned long long)v, (unsigned long long)got);
}

#define PATTERN 0x89abcdefULL

/* No set is bound, so the PICs stand. */
static void
judge_counter_write(unsigned pic)
{
	uint64_t mask = (1ULL << vpmu.v_pic[0].vp_width) - 1;

	(void)pic;
	if (vpmu.v_pmu.pm_kind != CPC_PMU_INTEL) {
		expect_write(AMD_PERF_CTR0, PATTERN << 15, PATTERN << 15);
		return;
	}
	for (unsigned n = 0; n < intel_counters(); n++) {
		expect_write(IA32_PMC0 + n, 0x12345678, 0x12345678);
		expect_write(IA32_PMC0 + n, PATTERN,
		    (uint64_t)(int64_t)(int32_t)PATTERN & mask);
		if (!takes_whole_width())
			continue;
		expect_write(
		    IA32_A_PMC0 + n, PATTERN << 8 & mask, PATTERN << 8 & mask);
		expect_fault("IA32_A_PMC", IA32_A_PMC0 + n, mask + 1);
	}
}

const struct vpmu_property arch_properties[] = {
	{ "cmask", judge_cmask, 0 },
	{ "rdpmc_absent", judge_rdpmc_absent, 0 },
	{ "reserved_bits", judge_reserved, NEEDS_SYSTEM },
	{ "counter_write", judge_counter_write, NEEDS_SYSTEM },
	{ NULL, NULL, 0 },
};
