/*
 * The registers: which values read back, which accesses fault, which registers
 * are absent.  Intel SDM vol. 3B, "Architectural Performance Monitoring
 * Version 1" to 6; AMD64 APM vol. 2, "Performance Monitoring Counters".
 */
#include "guest.h"

body_fn body_loop;

static void
check_fault(const char *name, bool got, bool want)
{
	check(name, got, want);
}

static void
test_identity(void)
{
	uint32_t b, c, d, a;

	if (pmu.global)
		check("at reset global control enables the general counters",
		    rdmsr(pmu.intel ? IA32_PERF_GLOBAL_CTRL : AMD_GLOBAL_CTL),
		    (1u << pmu.ngp) - 1);
	if (!pmu.intel) {
		check("AMD counters", pmu.ngp, pmu.version == 0 ? 4 : 6);
		return;
	}
	a = cpuid(0xa, &b, &c, &d);
	check("width of general counters", a >> 16 & 0xff, 48);
	check("architectural events enumerated", a >> 24,
	    pmu.version >= 6 ? 8 : 7);
	check("events that are not available", b, 0x58);
	check("fixed counters by bit", c,
	    pmu.version >= 5 ? (1u << pmu.nfixed) - 1 : 0);
	check("AnyThread deprecated", d >> 15 & 1, pmu.version >= 5);
	check("width of fixed counters", d >> 5 & 0xff,
	    pmu.version >= 2 ? 48 : 0);
	check("IA32_MISC_ENABLE: PMU, no BTS, no PEBS", rdmsr(0x1a0) & 0x1880,
	    0x1880);
}

/*
 * The events that the emulator models: leaf 40000101H.  A subleaf has the
 * event, the bits that select it, the bits with an effect, and 1.
 */
static void
test_events_leaf(void)
{
	const uint32_t levels =
	    EVTSEL_USR | EVTSEL_OS | EVTSEL_INT | EVTSEL_EN | 1u << 19;
	const uint32_t cycles = EVTSEL_INV | EVTSEL_CMASK(0xff) | EVTSEL_EDGE;
	uint32_t b, c, d, n = 0;

	check("highest leaf of the emulator's list",
	    cpuid(0x40000100, &b, &c, &d), 0x40000101);
	check("its signature: TCGP", b, 0x50474354);
	check("MUEv", c, 0x7645554d);
	check("ents", d, 0x73746e65);
	for (enum event e = INSTRUCTIONS; e <= BRANCHES; e++) {
		if (pmu_code(e) == 0)
			continue;
		check("an event of the list",
		    cpuid_subleaf(0x40000101, n++, &b, &c, &d), pmu_code(e));
		check("the bits that select it", b, pmu.intel ? 0xffff : 0xff);
		check("the bits with an effect", c,
		    levels | (e == REFERENCE  ? 0
				 : e == SLOTS ? cycles & ~(uint32_t)EVTSEL_EDGE
					      : cycles));
		check("the entry is valid", d, 1);
	}
	check("the end of the list",
	    cpuid_subleaf(0x40000101, n, &b, &c, &d) | b | c | d, 0);
	check("no entry after the end",
	    cpuid_subleaf(0x40000101, ~0u, &b, &c, &d) | b | c | d, 0);
}

static void
test_general(void)
{
	for (unsigned i = 0; i < pmu.ngp; i++) {
		uint64_t select = 0x5300c0 + i;

		wrmsr(pmu_select_msr(i), select & ~(uint64_t)EVTSEL_EN);
		check("select reads back", rdmsr(pmu_select_msr(i)),
		    select & ~(uint64_t)EVTSEL_EN);
		wrmsr(pmu_counter_msr(i), 0x12345678 + i);
		check("counter reads back", rdmsr(pmu_counter_msr(i)),
		    0x12345678 + i);
		check("counter reads back by its index", pmu_read(i),
		    0x12345678 + i);
	}
	check_fault(
	    "rdpmc of the last counter", rdpmc_faults(pmu.ngp - 1), false);
	check_fault("rdpmc past the last counter", rdpmc_faults(pmu.ngp), true);
	check_fault("fast rdpmc", rdpmc_faults(1u << 31), true);
	pmu_stop();
}

static void
test_amd(void)
{
	wrmsr(AMD_LEGACY_CTR0, UINT64_MAX);
	check("48 bits are kept", rdmsr(AMD_LEGACY_CTR0), WIDTH_MASK);
	wrmsr(AMD_LEGACY_CTL0, 0xfull << 32 | 0xff);
	check("12 bits of event", rdmsr(AMD_LEGACY_CTL0), 0xf000000ffull);
	if (pmu.version >= 1) {
		wrmsr(AMD_CORE_CTL0 + 2 * 3, 0x76);
		check("core select 3 is legacy select 3",
		    rdmsr(AMD_LEGACY_CTL0 + 3), 0x76);
		wrmsr(AMD_LEGACY_CTR0 + 2, 77);
		check("legacy counter 2 is core counter 2",
		    rdmsr(AMD_CORE_CTL0 + 2 * 2 + 1), 77);
	}
	if (pmu.version >= 2) {
		wrmsr(AMD_GLOBAL_CTL, UINT64_MAX);
		check("global control has a bit for each counter",
		    rdmsr(AMD_GLOBAL_CTL), 0x3f);
		wrmsr(AMD_GLOBAL_STATUS, 0x3f);
		check(
		    "global status is read only", rdmsr(AMD_GLOBAL_STATUS), 0);
		wrmsr(AMD_GLOBAL_STATUS_SET, 0x24);
		check("status set", rdmsr(AMD_GLOBAL_STATUS), 0x24);
		check("status set reads 0", rdmsr(AMD_GLOBAL_STATUS_SET), 0);
		wrmsr(AMD_GLOBAL_STATUS_CLR, 0x20);
		check("status cleared", rdmsr(AMD_GLOBAL_STATUS), 4);
		pmu_clear_status();
	}
	pmu_stop();
}

static void
test_intel_presets(void)
{
	bool full = (rdmsr(IA32_PERF_CAPABILITIES) & 1u << 13) != 0;

	wrmsr(IA32_PMC0, 0x80000000);
	check("a preset is sign-extended from bit 31", rdmsr(IA32_PMC0),
	    0xffff80000000ull);
	wrmsr(IA32_PMC0, 0xdead7fffffffull);
	check("its upper half is ignored", rdmsr(IA32_PMC0), 0x7fffffff);
	check("full-width writes are announced", full, true);
	wrmsr(IA32_A_PMC0, 0x123456789abcull);
	check("a full-width preset", rdmsr(IA32_PMC0), 0x123456789abcull);
	check_fault("a preset wider than the counter",
	    wrmsr_faults(IA32_A_PMC0, 1ull << 48), true);
	check("a refused preset changes nothing", rdmsr(IA32_A_PMC0),
	    0x123456789abcull);
}

static void
test_intel_reserved(void)
{
	bool any = pmu.version == 3 || pmu.version == 4;
	uint32_t top = pmu.ngp; /* the first absent one */

	check_fault(
	    "select: bit 32", wrmsr_faults(IA32_PERFEVTSEL0, 1ull << 32), true);
	check_fault("select: AnyThread",
	    wrmsr_faults(IA32_PERFEVTSEL0, EVTSEL_ANY), !any);
	if (pmu.ngp >= 8)
		return;
	check_fault(
	    "select past the last", rdmsr_faults(IA32_PERFEVTSEL0 + top), true);
	check_fault(
	    "counter past the last", wrmsr_faults(IA32_PMC0 + top, 0), true);
	check_fault("full-width counter past the last",
	    wrmsr_faults(IA32_A_PMC0 + top, 0), true);
}

static void
test_intel_global(void)
{
	bool any = pmu.version == 3 || pmu.version == 4;
	bool v6 = pmu.version >= 6;
	uint64_t all = ((1ull << pmu.ngp) - 1) | (v6 ? 0x1000full : 7) << 32;
	bool none = pmu.version < 2;

	check_fault("fixed control", rdmsr_faults(IA32_FIXED_CTR_CTRL), none);
	check_fault("fixed counter 0", rdmsr_faults(IA32_FIXED_CTR0), none);
	check_fault(
	    "rdpmc of fixed counter 2", rdpmc_faults(1u << 30 | 2), none);
	check_fault(
	    "rdpmc of fixed counter 3", rdpmc_faults(1u << 30 | 3), !v6);
	check_fault(
	    "rdpmc of fixed counter 4", rdpmc_faults(1u << 30 | 4), true);
	check_fault(
	    "global status", rdmsr_faults(IA32_PERF_GLOBAL_STATUS), none);
	check_fault(
	    "global control", rdmsr_faults(IA32_PERF_GLOBAL_CTRL), none);
	check_fault(
	    "overflow control", rdmsr_faults(IA32_PERF_GLOBAL_OVF_CTRL), none);
	check_fault(
	    "status set", rdmsr_faults(IA32_PERF_GLOBAL_SET), pmu.version < 4);
	check_fault(
	    "in use", rdmsr_faults(IA32_PERF_GLOBAL_INUSE), pmu.version < 4);
	if (none)
		return;
	check_fault("fixed control: AnyThread",
	    wrmsr_faults(IA32_FIXED_CTR_CTRL, 4), !any);
	check_fault("fixed control: a fourth counter",
	    wrmsr_faults(IA32_FIXED_CTR_CTRL, 1ull << 12), !v6);
	check_fault("fixed counter 3", rdmsr_faults(IA32_FIXED_CTR0 + 3), !v6);
	check_fault("global control: all counters",
	    wrmsr_faults(IA32_PERF_GLOBAL_CTRL, all), false);
	check("global control reads back", rdmsr(IA32_PERF_GLOBAL_CTRL), all);
	check_fault("global control: one more",
	    wrmsr_faults(IA32_PERF_GLOBAL_CTRL, 1ull << pmu.ngp), true);
	check_fault("global control: a fourth fixed",
	    wrmsr_faults(IA32_PERF_GLOBAL_CTRL, 1ull << 35), !v6);
	check_fault("global status is read only",
	    wrmsr_faults(IA32_PERF_GLOBAL_STATUS, 0), true);
	check_fault("overflow control: an absent counter",
	    wrmsr_faults(IA32_PERF_GLOBAL_OVF_CTRL, 1ull << pmu.ngp), true);
	check_fault("overflow control: bit 62",
	    wrmsr_faults(IA32_PERF_GLOBAL_OVF_CTRL, 1ull << 62), false);
	check_fault("overflow control: bit 59",
	    wrmsr_faults(IA32_PERF_GLOBAL_OVF_CTRL, 1ull << 59),
	    pmu.version < 4);
	pmu_stop();
}

static void
test_intel_v4(void)
{
	wrmsr(IA32_PERF_GLOBAL_SET, 1 | FIXED(1));
	check("status set", pmu_status(), 1 | FIXED(1));
	wrmsr(IA32_PERF_GLOBAL_OVF_CTRL, 1);
	check("status reset", pmu_status(), FIXED(1));
	pmu_clear_status();
	wrmsr(IA32_PERFEVTSEL0 + 1, 0xc0);
	wrmsr(IA32_FIXED_CTR_CTRL, 0x2);
	check("in use: one general, one fixed", rdmsr(IA32_PERF_GLOBAL_INUSE),
	    2 | FIXED(0));
	wrmsr(IA32_FIXED_CTR_CTRL, 0xa);
	check("in use: the interrupt", rdmsr(IA32_PERF_GLOBAL_INUSE),
	    2 | FIXED(0) | 1ull << 63);
	check_fault("in use is read only",
	    wrmsr_faults(IA32_PERF_GLOBAL_INUSE, 0), true);
	wrmsr(IA32_PERF_GLOBAL_SET, 1ull << 59);
	check("a frozen counter stands still",
	    pmu_run(body_loop, 0, INSTRUCTIONS, EVTSEL_OS, 10), 0);
	pmu_clear_status();
	pmu_stop();
}

/* Before version 6 these registers and bits are absent. */
static void
test_intel_before_v6(void)
{
	check_fault(
	    "select: EQ", wrmsr_faults(IA32_PERFEVTSEL0, EVTSEL_EQ), true);
	check_fault("select: second unit mask",
	    wrmsr_faults(IA32_PERFEVTSEL0, EVTSEL_UMASK2(1)), true);
	check_fault(
	    "counter of version 6", rdmsr_faults(IA32_PMC_GP0_CTR), true);
}

static void
test_intel_v6(void)
{
	uint32_t b, c, d, i = pmu.ngp - 1;

	check("leaf 23H: subleaves", cpuid_subleaf(0x23, 0, &b, &c, &d), 3);
	check("leaf 23H: second unit mask, EQ", b, 3);
	check("leaf 23H: slots of a cycle", c, SLOTS_WIDE);
	check("leaf 23H: general counters", cpuid_subleaf(0x23, 1, &b, &c, &d),
	    (1u << pmu.ngp) - 1);
	check("leaf 23H: fixed counters", b, (1u << pmu.nfixed) - 1);
	check(
	    "leaf 7 announces it", cpuid_subleaf(7, 1, &b, &c, &d) >> 8 & 1, 1);
	wrmsr(IA32_PMC_GP0_CFG_A + 4, EVTSEL_UMASK2(0xa5) | EVTSEL_EQ | 0xc0);
	check("both selects are one register", rdmsr(IA32_PERFEVTSEL0 + 1),
	    EVTSEL_UMASK2(0xa5) | EVTSEL_EQ | 0xc0);
	wrmsr(IA32_PMC_GP0_CTR + 4, 0x123456789abcull);
	check("both counters are one register", rdmsr(IA32_PMC0 + 1),
	    0x123456789abcull);
	wrmsr(IA32_PMC_FX0_CTR + 4 * 3, 0xba9876543210ull);
	check("fixed counter 3 has two addresses", rdmsr(IA32_FIXED_CTR0 + 3),
	    0xba9876543210ull);
	check_fault("select: bit 37",
	    wrmsr_faults(IA32_PMC_GP0_CFG_A, 1ull << 37), true);
	check_fault("the registers that reload a counter",
	    rdmsr_faults(IA32_PMC_GP0_CTR + 2), true);
	check_fault(
	    "the last counter", rdmsr_faults(IA32_PMC_GP0_CTR + 4 * i), false);
	check_fault("past the last counter",
	    rdmsr_faults(IA32_PMC_GP0_CTR + 4 * (i + 1)), true);
	check_fault("past the last fixed counter",
	    rdmsr_faults(IA32_PMC_FX0_CTR + 4 * pmu.nfixed), true);
	wrmsr(IA32_PERF_METRICS, 0x11223344);
	check("PERF_METRICS reads back", rdmsr(IA32_PERF_METRICS), 0x11223344);
	check_fault("rdpmc of PERF_METRICS", rdpmc_faults(1u << 29), false);
	check("a second unit mask is another event",
	    pmu_run(
		body_loop, 0, INSTRUCTIONS, EVTSEL_OS | EVTSEL_UMASK2(1), 1000),
	    0);
	check("EQ: one instruction in a cycle",
	    pmu_run(body_loop, i, INSTRUCTIONS,
		EVTSEL_OS | EVTSEL_EQ | EVTSEL_CMASK(1), 1000),
	    2002);
	for (uint32_t n = SLOTS_WIDE - 1; n <= SLOTS_WIDE + 1; n++) {
		check("cycles with at least n slots",
		    pmu_run(
			body_loop, i, SLOTS, EVTSEL_OS | EVTSEL_CMASK(n), 1000),
		    n <= SLOTS_WIDE ? 2002ull * pmu.cpi : 0);
		check("EQ: cycles with exactly n slots",
		    pmu_run(body_loop, i, SLOTS,
			EVTSEL_OS | EVTSEL_EQ | EVTSEL_CMASK(n), 1000),
		    n == SLOTS_WIDE ? 2002ull * pmu.cpi : 0);
	}
	pmu_stop();
}

/* An overflow without an interrupt shows in the status and the value. */
static void
test_overflow(void)
{
	for (unsigned c = 0; c < pmu_ncounters(); c++) {
		enum event e =
		    c < pmu.ngp ? INSTRUCTIONS : (enum event)(c - pmu.ngp);
		struct start s = pmu_setup(c, e, EVTSEL_OS, -(uint64_t)1000);
		uint64_t scale = e == CYCLES  ? pmu.cpi
		                 : e == SLOTS ? pmu.cpi * SLOTS_WIDE
		                              : 1,
			 got;

		if (e == REFERENCE)
			scale <<= pmu.shift;
		got = body_loop(s.msr, (uint32_t)s.value,
		    (uint32_t)(s.value >> 32), pmu_index(c), 1000);
		pmu_stop();
		check("wrapped counter", got, 2002 * scale - 1000);
		if (pmu.global)
			check("the status of this counter only", pmu_status(),
			    pmu_status_bit(c));
		pmu_clear_status();
		check("status cleared", pmu_status(), 0);
	}
}

void
test_registers(void)
{
	test_identity();
	test_events_leaf();
	test_general();
	if (pmu.intel) {
		test_intel_presets();
		test_intel_reserved();
		test_intel_global();
		if (pmu.version >= 4)
			test_intel_v4();
		if (pmu.version >= 6)
			test_intel_v6();
		else
			test_intel_before_v6();
	} else {
		test_amd();
	}
	test_overflow();
}
