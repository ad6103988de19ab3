/* One interface to three kinds of PMU registers: counters start and stop. */
#include "guest.h"

struct pmu pmu;

static void
identify_intel(void)
{
	uint32_t b, c, d, a = cpuid(0xa, &b, &c, &d);

	pmu.intel = true;
	pmu.version = a & 0xff;
	pmu.ngp = a >> 8 & 0xff;
	pmu.nfixed = pmu.version >= 2 ? d & 0x1f : 0;
	pmu.global = pmu.version >= 2;
}

static void
identify_amd(void)
{
	uint32_t b, c, d, leaves = cpuid(0x80000000, &b, &c, &d);

	pmu.ngp = 4;
	cpuid(0x80000001, &b, &c, &d);
	if ((c & 1u << 23) != 0) {
		pmu.version = 1;
		pmu.ngp = 6;
	}
	if (leaves >= 0x80000022 && (cpuid(0x80000022, &b, &c, &d) & 1) != 0) {
		pmu.version = 2;
		pmu.ngp = b & 0xf;
		pmu.global = true;
		pmu.amd_freezes = (cpuid(0x80000022, &b, &c, &d) & 4) != 0;
	}
}

void
pmu_identify(void)
{
	uint32_t b, c, d;

	cpuid(0, &b, &c, &d);
	if (b == 0x756e6547) /* "Genu" */
		identify_intel();
	else
		identify_amd();
}

unsigned
pmu_ncounters(void)
{
	return pmu.ngp + pmu.nfixed;
}

uint64_t
pmu_code(enum event e)
{
	static const uint64_t intel[] = { 0xc0, 0x3c, 0x13c, 0x1a4, 0xc4 };
	static const uint64_t amd[] = { 0xc0, 0x76, 0, 0, 0xc2 };

	if (e == SLOTS && pmu.version < 6)
		return 0;
	return pmu.intel ? intel[e] : amd[e];
}

bool
pmu_can(unsigned counter, enum event e)
{
	if (counter >= pmu.ngp)
		return (unsigned)e == counter - pmu.ngp;
	return pmu_code(e) != 0;
}

uint32_t
pmu_select_msr(unsigned counter)
{
	if (pmu.intel)
		return counter < 8 ? IA32_PERFEVTSEL0 + counter
		                   : IA32_PMC_GP0_CFG_A + 4 * counter;
	return pmu.version == 0 ? AMD_LEGACY_CTL0 + counter
	                        : AMD_CORE_CTL0 + 2 * counter;
}

uint32_t
pmu_counter_msr(unsigned counter)
{
	if (counter >= pmu.ngp)
		return IA32_FIXED_CTR0 + counter - pmu.ngp;
	if (pmu.intel)
		return counter < 8 ? IA32_PMC0 + counter
		                   : IA32_PMC_GP0_CTR + 4 * counter;
	return pmu.version == 0 ? AMD_LEGACY_CTR0 + counter
	                        : AMD_CORE_CTL0 + 2 * counter + 1;
}

uint32_t
pmu_index(unsigned counter)
{
	return counter < pmu.ngp ? counter : 1u << 30 | (counter - pmu.ngp);
}

uint64_t
pmu_status_bit(unsigned counter)
{
	return counter < pmu.ngp ? 1ull << counter : FIXED(counter - pmu.ngp);
}

uint64_t
pmu_status(void)
{
	if (!pmu.global)
		return 0;
	return rdmsr(pmu.intel ? IA32_PERF_GLOBAL_STATUS : AMD_GLOBAL_STATUS);
}

void
pmu_clear_status(void)
{
	if (!pmu.global)
		return;
	wrmsr(pmu.intel ? IA32_PERF_GLOBAL_OVF_CTRL : AMD_GLOBAL_STATUS_CLR,
	    pmu_status());
}

/* Stop and disable all counters.  Their values stay. */
void
pmu_stop(void)
{
	if (pmu.global)
		wrmsr(pmu.intel ? IA32_PERF_GLOBAL_CTRL : AMD_GLOBAL_CTL, 0);
	for (unsigned i = 0; i < pmu.ngp; i++)
		wrmsr(pmu_select_msr(i), 0);
	if (pmu.nfixed != 0)
		wrmsr(IA32_FIXED_CTR_CTRL, 0);
}

/*
 * Set up one counter, without starting it.  Returns the write that starts it:
 * to the global control register if there is one, else to its event select.
 */
struct start
pmu_setup(unsigned counter, enum event e, uint64_t flags, uint64_t preset)
{
	uint64_t select = pmu_code(e) | flags | EVTSEL_EN;
	struct start s = { pmu_select_msr(counter), select };

	if (counter >= pmu.ngp) {
		unsigned shift = 4 * (counter - pmu.ngp);
		uint64_t field = ((flags & EVTSEL_OS) != 0) |
		                 ((flags & EVTSEL_USR) != 0) << 1 |
		                 ((flags & EVTSEL_INT) != 0) << 3;

		wrmsr(IA32_FIXED_CTR_CTRL,
		    (rdmsr(IA32_FIXED_CTR_CTRL) & ~(0xfull << shift)) |
			field << shift);
	} else if (pmu.global) {
		wrmsr(s.msr, select);
	}
	if (pmu.global)
		s = (struct start){ pmu.intel ? IA32_PERF_GLOBAL_CTRL
					      : AMD_GLOBAL_CTL,
			pmu_status_bit(counter) };
	wrmsr(pmu_counter_msr(counter), preset & WIDTH_MASK);
	return s;
}

uint64_t
pmu_run(
    body_fn *body, unsigned counter, enum event e, uint64_t flags, uint32_t n)
{
	struct start s = pmu_setup(counter, e, flags, 0);
	uint64_t count = body(s.msr, (uint32_t)s.value,
	    (uint32_t)(s.value >> 32), pmu_index(counter), n);

	pmu_stop();
	return count;
}

uint64_t
pmu_read(unsigned counter)
{
	return rdmsr(pmu_counter_msr(counter));
}
