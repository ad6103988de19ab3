/* A PMUv3's registers in software: each access obeys the Arm ARM. */
#include "tests/lib/host/arm64/fake_pmu.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/pmu/regs.h"
#include "tests/lib/host/arm64/fake_pmu_impl.h"
#include "tests/lib/host/support.h"

#define CYCLES     FAKE_NEVENT /* index and bit of the cycle counter */
#define PMCR_WRITE (PMCR_E | PMCR_P | PMCR_C | PMCR_LC)
#define PMCR_KEPT  (PMCR_E | PMCR_LC | PMCR_LP | PMCR_FZO)

void
fake_isb(void)
{
	struct fake_pmu *p = fake_cpu();

	p->isbs++;
	if (fake_lost_isb != 0 && --fake_lost_isb == 0)
		return;
	p->unsure_pmcr = p->unsure_pmcnten = p->unsure_pminten = false;
	p->unsure_pmovs = p->unsure_pmuserenr = p->counted = false;
	p->unsure_pmselr = false;
	p->unsure_pmevcntr = p->unsure_pmevtyper = 0;
}

static jmp_buf undefined;

/* The kernel's, for instructions that are undefined. */
int
arm64_try(void (*fn)(void *), void *arg)
{
	if (setjmp(undefined) != 0)
		return EFAULT;
	fn(arg);
	return 0;
}

static void
fake_access(void)
{
	struct fake_pmu *p = fake_cpu();

	p->touched++;
	if (fake_shape.trapped != 0 && p->touched >= fake_shape.trapped)
		longjmp(undefined, 1);
}

/*
 * Registers with a number: NAME<n>_EL0.  If n is PMCR_EL0.N or more, an access
 * is CONSTRAINED UNPREDICTABLE.  UNDEFINED is one of its permitted results.
 */
static bool
numbered(const char *reg, const char *name, unsigned *n)
{
	char whole[32];

	for (*n = 0; *n < FAKE_NEVENT; ++*n) {
		snprintf(whole, sizeof whole, "%s%u_el0", name, *n);
		if (strcmp(reg, whole) != 0)
			continue;
		if (*n >= fake_shape.nevent)
			fake_broken("%s: there are %u", reg, fake_shape.nevent);
		return true;
	}
	return false;
}

static bool
is(const char *reg, const char *name)
{
	return strcmp(reg, name) == 0;
}

/* A count is certain only after an ISB that follows the instructions. */
static uint64_t
read_counter(unsigned n)
{
	struct fake_pmu *p = fake_cpu();

	if (p->counted && (p->pmcnten >> n & 1) != 0)
		fake_broken(
		    "counter %u is read before an ISB that follows what "
		    "it counted",
		    n);
	if (p->unsure_pmcnten || p->unsure_pmcr ||
	    (p->unsure_pmevtyper >> n & 1) != 0)
		fake_broken("counter %u is read before an ISB", n);
	fake_look_after(1ULL << n);
	return p->pmevcntr[n];
}

static uint64_t
read_pmovs(void)
{
	const struct fake_pmu *p = fake_cpu();

	if (p->unsure_pmcnten || (p->counted && p->pmcnten != 0))
		fake_broken("PMOVSCLR_EL0 is read before an ISB");
	return p->pmovs & fake_implemented();
}

uint64_t
fake_mrs(const char *reg)
{
	struct fake_pmu *p = fake_cpu();
	unsigned n;

	fake_access();
	if (is(reg, "id_aa64dfr0_el1"))
		return 0x10305006 | (uint64_t)fake_shape.version << 8;
	if (fake_shape.version == PMUVER_NONE ||
	    fake_shape.version == PMUVER_IMPDEF)
		fake_broken("%s: there is no PMUv3", reg);
	if (is(reg, "pmcr_el0"))
		return (p->pmcr & PMCR_KEPT) | (uint64_t)fake_shape.nevent
		                                   << 11;
	if (is(reg, "pmceid0_el0"))
		return fake_shape.ceid[0];
	if (is(reg, "pmceid1_el0"))
		return fake_shape.ceid[1];
	if (is(reg, "PMMIR_EL1")) {
		if (fake_shape.version < PMUVER_V3P7)
			fake_broken("PMMIR_EL1 is read");
		return fake_shape.pmmir;
	}
	if (is(reg, "pmccntr_el0"))
		return read_counter(CYCLES);
	if (is(reg, "pmselr_el0"))
		return p->pmselr;
	if (is(reg, "pmovsclr_el0"))
		return read_pmovs();
	if (numbered(reg, "pmevcntr", &n))
		return read_counter(n);
	fake_broken("%s is read", reg);
	return 0;
}

/* A counter must not run while it is configured, and must be known not to. */
static void
must_be_stopped(unsigned n, const char *reg)
{
	const struct fake_pmu *p = fake_cpu();

	if (((p->pmcnten & fake_implemented()) >> n & 1) != 0)
		fake_broken("%s is written while it counts", reg);
	if (p->unsure_pmcnten)
		fake_broken(
		    "%s is written before an ISB after PMCNTENCLR_EL0", reg);
}

static void
write_pmcr(uint64_t v)
{
	struct fake_pmu *p = fake_cpu();

	if ((v & ~(PMCR_WRITE | (fake_long_events() ? PMCR_LP : 0) |
		     (fake_shape.version >= PMUVER_V3P7 ? PMCR_FZO : 0))) != 0)
		fake_broken(
		    "PMCR_EL0: reserved bits in %#llx", (unsigned long long)v);
	for (unsigned n = 0; n < CYCLES && (v & PMCR_P) != 0; n++)
		p->pmevcntr[n] = 0;
	if ((v & PMCR_C) != 0)
		p->pmevcntr[CYCLES] = 0;
	p->pmcr = v & PMCR_KEPT;
	p->unsure_pmcr = true;
	fake_look_after(~0ULL);
}

/* All earlier writes must be certain when a counter starts. */
static void
write_pmcntenset(uint64_t v)
{
	struct fake_pmu *p = fake_cpu();

	v &= fake_implemented() & ~p->pmcnten;
	if ((v & (p->unsure_pmevcntr | p->unsure_pmevtyper)) != 0)
		fake_broken(
		    "PMCNTENSET_EL0 starts %#llx before an ISB after its "
		    "count or event",
		    (unsigned long long)v);
	if (p->unsure_pmcr || p->unsure_pmovs || p->unsure_pminten)
		fake_broken("PMCNTENSET_EL0 before an ISB after PMCR, PMOVSCLR "
			    "or PMINTENSET");
	p->pmcnten |= v;
	p->starts++;
	p->unsure_pmcnten = true;
	fake_look_after(~0ULL);
}

static void
write_pmcntenclr(uint64_t v)
{
	fake_look_after(~0ULL);
	fake_cpu()->pmcnten &= ~v;
	fake_cpu()->unsure_pmcnten = true;
}

static void
write_pmevcntr(unsigned n, uint64_t v)
{
	struct fake_pmu *p = fake_cpu();

	must_be_stopped(n, n == CYCLES ? "PMCCNTR_EL0" : "PMEVCNTR<n>_EL0");
	if (!fake_long_events() && n != CYCLES && v >> 32 != 0)
		fake_broken("PMEVCNTR%u_EL0 has 32 bits: %#llx", n,
		    (unsigned long long)v);
	p->pmevcntr[n] = v;
	p->unsure_pmevcntr |= 1ULL << n;
}

/* The bits of PMEVTYPER<n>_EL0 that PMMIR_EL1 announces. */
static uint64_t
threshold_bits(void)
{
	uint64_t bits = FIELD(fake_shape.pmmir, 23, 20);

	if (bits == 0)
		return 0;
	return 7ULL << 61 | ((1ULL << bits) - 1) << 32 |
	       (FIELD(fake_shape.pmmir, 27, 24) != 0 ? PMEVTYPER_TE : 0);
}

static void
write_pmevtyper(unsigned n, uint64_t v)
{
	struct fake_pmu *p = fake_cpu();
	uint64_t known = PMEVTYPER_P | PMEVTYPER_U | PMEVTYPER_NSH;

	must_be_stopped(n, n == CYCLES ? "PMCCFILTR_EL0" : "PMEVTYPER<n>_EL0");
	if (n != CYCLES) {
		known |= fake_shape.version >= PMUVER_V3P1 ? 0xffff : 0x3ff;
		known |= threshold_bits();
	}
	if ((v & PMEVTYPER_TE) != 0 && FIELD(v, 62, 61) == 0)
		fake_broken("PMEVTYPER%u_EL0: TE with TC %u is reserved", n,
		    (unsigned)FIELD(v, 63, 61));
	if ((v & ~known) != 0)
		fake_broken("PMEVTYPER%u_EL0: reserved bits in %#llx", n,
		    (unsigned long long)v);
	p->pmevtyper[n] = v;
	p->unsure_pmevtyper |= 1ULL << n;
}

static void
write_pmuserenr(uint64_t v)
{
	if ((v & ~(PMUSERENR_CR | PMUSERENR_ER)) != 0)
		fake_broken("PMUSERENR_EL0: %#llx lets EL0 write",
		    (unsigned long long)v);
	fake_cpu()->pmuserenr = v;
	fake_cpu()->unsure_pmuserenr = true;
}

static void
write_pminten(uint64_t set, uint64_t clear)
{
	struct fake_pmu *p = fake_cpu();

	p->pminten = (p->pminten | (set & fake_implemented())) & ~clear;
	p->unsure_pminten = true;
}

static void
write_pmovsclr(uint64_t v)
{
	fake_cpu()->pmovs &= ~v;
	fake_cpu()->unsure_pmovs = true;
}

/* The counter that PMSELR_EL0 selects. */
static unsigned
selected(const char *reg)
{
	const struct fake_pmu *p = fake_cpu();

	if (p->unsure_pmselr)
		fake_broken("%s before an ISB after PMSELR_EL0", reg);
	if (p->pmselr >= fake_shape.nevent)
		fake_broken("%s: there are %u", reg, fake_shape.nevent);
	return (unsigned)p->pmselr;
}

static void
write_pmselr(uint64_t v)
{
	fake_cpu()->pmselr = v;
	fake_cpu()->unsure_pmselr = true;
}

static void
write_named(const char *reg, uint64_t v)
{
	unsigned n;

	if (is(reg, "pmcr_el0"))
		write_pmcr(v);
	else if (is(reg, "pmcntenset_el0"))
		write_pmcntenset(v);
	else if (is(reg, "pmcntenclr_el0"))
		write_pmcntenclr(v);
	else if (is(reg, "pmintenset_el1"))
		write_pminten(v, 0);
	else if (is(reg, "pmintenclr_el1"))
		write_pminten(0, v);
	else if (is(reg, "pmovsclr_el0"))
		write_pmovsclr(v);
	else if (is(reg, "pmuserenr_el0"))
		write_pmuserenr(v);
	else if (is(reg, "pmccfiltr_el0"))
		write_pmevtyper(CYCLES, v);
	else if (is(reg, "pmselr_el0"))
		write_pmselr(v);
	else if (is(reg, "pmxevcntr_el0"))
		write_pmevcntr(selected(reg), v);
	else if (is(reg, "pmxevtyper_el0"))
		write_pmevtyper(selected(reg), v);
	else if (numbered(reg, "pmevcntr", &n))
		write_pmevcntr(n, v);
	else if (numbered(reg, "pmevtyper", &n))
		write_pmevtyper(n, v);
	else
		fake_broken("%s is written", reg);
}

void
fake_msr(const char *reg, uint64_t v)
{
	fake_access();
	if (fake_shape.version == PMUVER_NONE ||
	    fake_shape.version == PMUVER_IMPDEF)
		fake_broken("%s: there is no PMUv3", reg);
	write_named(reg, v);
	fake_interrupt_line();
}
