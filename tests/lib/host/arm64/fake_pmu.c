/* The counters of a PMUv3 in software: they count, overflow and interrupt. */

#include "tests/lib/host/arm64/fake_pmu.h"

#include <stdio.h>
#include <string.h>

#include "arch/arm64/pmu/pmuv3_impl.h"
#include "arch/arm64/pmu/regs.h"
#include "kern/arch.h"
#include "kern/sched/cpu.h"
#include "tests/lib/host/arm64/fake_pmu_impl.h"
#include "tests/lib/host/support.h"

#define CYCLES FAKE_NEVENT /* index and bit of the cycle counter */

struct cpu cpus[MAXCPU];
struct fake_pmu fake_pmu[FAKE_NCPU];
struct fake_shape fake_shape;
unsigned fake_self;

bool fake_counts_faults;
unsigned fake_faults, fake_lost_isb;

static uint64_t now; /* instructions retired, by any CPU */
static unsigned overflows;

void
fake_broken(const char *fmt, ...)
{
	char why[128];
	va_list ap;

	fake_faults++;
	if (fake_counts_faults)
		return;
	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	fail_msg("%s", why);
}

uint64_t
fake_implemented(void)
{
	return ((1ULL << fake_shape.nevent) - 1) | PMCNTEN_CYCLES;
}

void
fake_reset(const struct fake_shape *shape)
{
	fake_shape = *shape;
	fake_counts_faults = false;
	fake_lost_isb = 0;
	now = 1;
	memset(fake_pmu, 0, sizeof fake_pmu);
	for (fake_self = FAKE_NCPU; fake_self-- > 0;) {
		struct fake_pmu *p = &fake_pmu[fake_self];

		cpus[fake_self] = (struct cpu){ .c_id = fake_self };
		p->pmcr = PMCR_E;
		p->pmcnten = p->pminten = p->pmovs = fake_implemented();
		p->pmuserenr = 0xf;
		p->el = 1;
		for (unsigned n = 0; n <= CYCLES; n++) {
			p->pmevcntr[n] = 0x12345670 + n;
			p->pmevtyper[n] = ARM_INST_RETIRED;
		}
	}
	fake_self = 0;
}

struct cpu *
arch_curcpu(void)
{
	return &cpus[fake_self];
}

struct fake_pmu *
fake_cpu(void)
{
	return &fake_pmu[fake_self];
}

bool
fake_long_events(void)
{
	return fake_shape.version >= PMUVER_V3P5;
}

/* The largest value of counter n. */
static uint64_t
top(unsigned n)
{
	if (n == CYCLES)
		return fake_cpu()->pmcr & PMCR_LC ? ~0ULL : 0xffffffff;
	if (fake_shape.narrow)
		return (1ULL << 31) - 1;
	return fake_long_events() && (fake_cpu()->pmcr & PMCR_LP) != 0
	           ? ~0ULL
	           : 0xffffffff;
}

static bool
counts_at(uint64_t typer, unsigned el)
{
	switch (el) {
	case 0:
		return (typer & PMEVTYPER_U) == 0;
	case 1:
		return (typer & PMEVTYPER_P) == 0 ||
		       (fake_shape.no_filter && (typer & PMEVTYPER_U) == 0);
	default:
		return (typer & PMEVTYPER_NSH) != 0;
	}
}

/* PMUCountValue(): the counts of n if its event happens v times a cycle. */
static uint64_t
count_value(unsigned n, uint64_t v)
{
	struct fake_pmu *p = fake_cpu();
	uint64_t typer = p->pmevtyper[n], th = FIELD(typer, 43, 32);
	unsigned tc = (unsigned)FIELD(typer, 63, 61);
	const bool conditions[] = { v != th, v == th, v >= th, v < th };
	bool now_true = conditions[tc >> 1], was = (p->past >> n & 1) != 0;

	p->past = (p->past & ~(1ULL << n)) | (uint64_t)now_true << n;
	if (typer >> 32 == 0)
		return v;
	if ((typer & PMEVTYPER_TE) != 0)
		return (tc & 1) != 0 ? !was && now_true : was != now_true;
	return (tc & 1) != 0 || !now_true ? now_true : v;
}

/* How much one instruction adds to counter n. */
static uint64_t
step(unsigned n, unsigned el)
{
	const struct fake_pmu *p = fake_cpu();
	unsigned times = 1 + (fake_shape.talkative >> n & 1);

	if ((p->pmcr & PMCR_E) == 0 || (p->pmcnten >> n & 1) == 0)
		return 0;
	if (!counts_at(p->pmevtyper[n], el) || (fake_shape.stuck >> n & 1) != 0)
		return 0;
	if (n == CYCLES)
		return FAKE_CPI;
	switch (p->pmevtyper[n] & 0xffff) {
	case ARM_INST_RETIRED:
		return count_value(n, times);
	case ARM_CPU_CYCLES:
		return count_value(n, FAKE_CPI * times);
	case FAKE_WAVE:
		return count_value(n, now % 4);
	default:
		return 0;
	}
}

void
fake_look_after(uint64_t which)
{
	struct fake_pmu *p = fake_cpu();

	p->pmovs |= p->unnoticed & which;
	p->unnoticed &= ~which;
	for (unsigned n = 0; n < fake_shape.nevent; n++) {
		uint64_t left = -(p->pmevcntr[n] + 1) & top(n);

		if (((p->pmcnten & which) >> n & 1) == 0 || left == 0 ||
		    left >> 62 != 0)
			continue; /* it just overflowed, or is too far away */
		if (p->timer == 0 || p->timer > now + left)
			p->timer = now + left;
	}
}

void
fake_interrupt_line(void)
{
	struct fake_pmu *p = fake_cpu();
	bool asked = (p->pmcr & PMCR_E) != 0 && (p->pmovs & p->pminten) != 0;

	if (!asked)
		p->since = 0;
	else if (p->since == 0)
		p->since = now;
}

static void
retire(unsigned el)
{
	struct fake_pmu *p = fake_cpu();
	/* It freezes the event counters. */
	bool frozen = (p->pmcr & PMCR_FZO) != 0 &&
	              (p->pmovs & ~PMCNTEN_CYCLES) != 0 &&
	              !fake_shape.never_freezes;

	now++;
	for (unsigned n = 0; n <= CYCLES; n++) {
		uint64_t was = p->pmevcntr[n];
		uint64_t add = frozen && n != CYCLES ? 0 : step(n, el);

		p->pmevcntr[n] = (was + add) & top(n);
		if (p->pmevcntr[n] >= was ||
		    (fake_shape.forgets != 0 &&
			++overflows % fake_shape.forgets == 0))
			continue;
		if (fake_shape.loses)
			p->unnoticed |= 1ULL << n;
		else
			p->pmovs |= 1ULL << n;
	}
	if (p->timer == now) {
		p->timer = 0;
		fake_look_after(~0ULL);
	}
	fake_interrupt_line();
}

/* Every write before this point must be certain. */
static void
must_be_sure(const char *what)
{
	const struct fake_pmu *p = fake_cpu();

	if (p->unsure_pmcr || p->unsure_pmcnten || p->unsure_pminten ||
	    p->unsure_pmovs || p->unsure_pmuserenr || p->unsure_pmevcntr != 0 ||
	    p->unsure_pmevtyper != 0)
		fake_broken("%s before an ISB after the last write", what);
}

void
fake_run(unsigned el, uint64_t n)
{
	must_be_sure("instructions are counted");
	if (el != fake_cpu()->el)
		fake_look_after(~0ULL);
	fake_cpu()->el = el;
	while (n-- > 0)
		retire(el);
	fake_cpu()->counted = true;
}

bool
fake_pending(void)
{
	const struct fake_pmu *p = fake_cpu();

	must_be_sure("ISR_EL1 is read");
	if (fake_shape.frozen_deaf && (p->pmcr & PMCR_FZO) != 0)
		return false;
	return fake_shape.noisy || (!fake_shape.deaf && p->since != 0 &&
				       now - p->since >= fake_shape.late);
}

bool
fake_el0_read(unsigned n, uint64_t *v)
{
	must_be_sure("EL0 runs");
	*v = fake_cpu()->pmevcntr[n];
	return n < fake_shape.nevent &&
	       (fake_cpu()->pmuserenr & (PMUSERENR_ER | 1)) != 0;
}

bool
pmuv3_spin(uint64_t pics, uint64_t n)
{
	fake_msr("pmcntenset_el0", pics);
	fake_isb();
	fake_run(1, PMUV3_SPIN_INSNS(n));
	bool was = fake_pending();
	fake_run(1, 1); /* the read of ISR_EL1 itself */
	fake_msr("pmcntenclr_el0", pics);
	fake_isb();
	return was;
}

uint64_t
arch_tick(void)
{
	fake_run(1, FAKE_PATIENT);
	return now;
}

uint64_t
arch_tick_hz(void)
{
	return 10000000; /* an instruction takes 100 ns */
}
