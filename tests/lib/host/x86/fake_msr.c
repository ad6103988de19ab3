/* The registers of an x86 PMU in software, and their accessors. */

#include "tests/lib/host/x86/fake_msr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/x86/pmu/regs.h"
#include "kern/arch.h"
#include "kern/cpc/pcbe.h"
#include "kern/platform/errno.h"
#include "kern/sched/cpu.h"

struct cpu cpus[MAXCPU];
unsigned ncpu = 2;
struct x86_features x86_features;
struct fake_cpu fake_cpu[FAKE_NCPU];
unsigned fake_self;
const struct cpc_model *pcbe_models;
unsigned pcbe_nmodels;

static uint64_t tsc;

void
fake_reset(const struct fake_cpu *shape)
{
	for (unsigned i = 0; i < FAKE_NCPU; i++) {
		fake_cpu[i] = *shape;
		/* After reset a register may hold any value. */
		memset(fake_cpu[i].sel, 0, sizeof fake_cpu[i].sel);
		fake_cpu[i].ctrl = (1U << shape->ngp) - 1;
		fake_cpu[i].sel[0] = EVTSEL_EN | EVTSEL_OS | 0xc0;
		fake_cpu[i].gp[0] = 12345;
		fake_cpu[i].status |= shape->version >= 2;
		fake_cpu[i].reads_open = true;
		cpus[i].c_id = i;
	}
	fake_self = 0;
}

struct cpu *
arch_curcpu(void)
{
	return &cpus[fake_self];
}

uint64_t
arch_tick(void)
{
	fake_run(10, false);
	return tsc;
}

uint64_t
arch_tick_hz(void)
{
	return 1000000;
}

static struct cpuid_regs
cache_leaf(const struct fake_cpu *c, uint32_t n)
{
	struct cpuid_regs r = { 0 };

	if (n < c->caches)
		r.a = (n + 1) << 5 | 3; /* unified */
	return r;
}

/* The APIC ID of a CPU is its number. */
static struct cpuid_regs
first_leaf(const struct fake_cpu *c)
{
	struct cpuid_regs r = c->leaf1;

	r.b |= fake_self << 24;
	return r;
}

static struct cpuid_regs
topology_leaf(const struct fake_cpu *c, uint32_t n)
{
	struct cpuid_regs r = { .d = fake_self };

	if (c->threads != 0 && n == 0) {
		r.a = (uint32_t)__builtin_ctz(c->threads);
		r.b = c->threads;
		r.c = 1 << 8; /* hardware threads */
	}
	return r;
}

/* "TCGPMUEvents" */
static struct cpuid_regs
models_leaf(const struct fake_cpu *c)
{
	return c->models == NULL ? (struct cpuid_regs){ 0 }
	                         : (struct cpuid_regs){ 0x40000101, 0x50474354,
					   0x7645554d, 0x73746e65 };
}

struct cpuid_regs
cpuid(uint32_t leaf, uint32_t subleaf)
{
	const struct fake_cpu *c = &fake_cpu[fake_self];

	switch (leaf) {
	case 1:
		return first_leaf(c);
	case 4:
		return cache_leaf(c, subleaf);
	case 7:
		return (struct cpuid_regs){ .b = c->rtm ? 1U << 11 : 0,
			.d = c->core_type != 0 ? 1U << 15 : 0 };
	case 0x1a:
		return (struct cpuid_regs){ .a = c->core_type << 24 };
	case 0xa:
		return c->leaf_a;
	case 0x23:
		return subleaf < 2 ? c->leaf_23[subleaf]
		                   : (struct cpuid_regs){ 0 };
	case 0xb:
		return topology_leaf(c, subleaf);
	case 0x40000100:
		return models_leaf(c);
	case 0x40000101:
		return c->models[subleaf];
	case 0x80000001:
		return c->leaf_80000001;
	case 0x80000022:
		return c->leaf_80000022;
	default:
		return (struct cpuid_regs){ 0 };
	}
}

/* A register: its storage, its writable bits, the effect of a write. */
struct reg {
	uint64_t *at;
	uint64_t writable; /* writing another bit raises #GP */
	enum {
		STORES,
		EXTENDS, /* takes 32 bits and extends their sign */
		CLEARS,  /* clears the bits of *at that are set in the value */
		CONST,   /* a write raises #GP */
	} how;
};

static uint64_t
bits(unsigned n)
{
	return n < 64 ? (1ULL << n) - 1 : ~0ULL;
}

static uint64_t
all_counters(const struct fake_cpu *c)
{
	return bits(c->ngp) | (uint64_t)c->fixed << 32;
}

static uint64_t
fixed_ctrl_bits(const struct fake_cpu *c)
{
	uint64_t allowed = 0, call_each_hook = c->anythread ? 0xf : 0xb;

	for (unsigned n = 0; n < FAKE_NFIX; n++) {
		if ((c->fixed >> n & 1) != 0)
			allowed |= call_each_hook << (4 * n);
	}
	return allowed;
}

/* Intel SDM vol. 4, "IA-32 Architectural MSRs". */
static bool
intel_global(struct fake_cpu *c, uint32_t msr, struct reg *r)
{
	uint64_t clear = all_counters(c) | 3ULL << 62;

	if (c->version < 2)
		return false;
	if (c->version >= 3)
		clear |= 1ULL << 61;
	if (c->version >= 4)
		clear |= 7ULL << 58 | 1ULL << 55;
	switch (msr) {
	case IA32_FIXED_CTR_CTRL:
		*r = (struct reg){ &c->fixed_ctrl, fixed_ctrl_bits(c), STORES };
		return true;
	case IA32_PERF_GLOBAL_STATUS:
		*r = (struct reg){ &c->status, 0, CONST };
		return true;
	case IA32_PERF_GLOBAL_CTRL:
		*r = (struct reg){ &c->ctrl, all_counters(c), STORES };
		return true;
	default:
		*r = (struct reg){ &c->status, clear, CLEARS };
		return true;
	}
}

/* SDM vol. 4: MSR_OFFCORE_RSP_x, _PEBS_LD_LAT, _PEBS_FRONTEND of Skylake. */
static bool
intel_extra_msr(struct fake_cpu *c, uint32_t msr, struct reg *r)
{
	switch (c->extra_msrs ? msr : 0) {
	case 0x1a6:
	case 0x1a7:
		*r = (struct reg){ &c->offcore[msr - 0x1a6],
			c->wide_offcore ? bits(48) : bits(38), STORES };
		return true;
	case 0x3f6:
		*r = (struct reg){ &c->ldlat, bits(16), STORES };
		return true;
	case 0x3f7:
		*r = (struct reg){ &c->frontend, bits(23), STORES };
		return true;
	default:
		return false;
	}
}

/* IA32_PMC_GPn_CTR and IA32_PMC_GPn_CFG_A, from version 6 on. */
static bool
intel_v6(struct fake_cpu *c, uint32_t msr, uint64_t sel, struct reg *r)
{
	unsigned n = (msr - IA32_PMC_GP_CTR(0)) / 4;

	if (c->version < 6 || msr < IA32_PMC_GP_CTR(0) || n >= c->ngp)
		return false;
	if (msr == IA32_PMC_GP_CTR(n))
		*r = (struct reg){ &c->gp[n], bits(c->width), STORES };
	else if (msr == IA32_PMC_GP_CFG_A(n))
		*r = (struct reg){ &c->sel[n], sel, STORES };
	else
		return false;
	return true;
}

static bool
intel_reg(struct fake_cpu *c, uint32_t msr, struct reg *r)
{
	unsigned old_gp = c->ngp < INTEL_OLD_GP ? c->ngp : INTEL_OLD_GP;
	static uint64_t capabilities = PERF_CAP_FW_WRITE;
	uint64_t sel = c->anythread ? bits(32) : bits(32) & ~EVTSEL_ANY;

	/* From Sandy Bridge on, pin control is reserved (vol. 3B). */
	if (c->version >= 4)
		sel &= ~EVTSEL_PC;
	if (c->rtm)
		sel |= EVTSEL_IN_TX;
	if (c->rtm && msr == IA32_PERFEVTSEL(IN_TXCP_PIC))
		sel |= EVTSEL_IN_TXCP;
	sel |= (c->leaf_23[0].b & 1) != 0 ? EVTSEL_UMASK2 : 0;
	sel |= (c->leaf_23[0].b & 2) != 0 ? EVTSEL_EQ : 0;
	if (intel_extra_msr(c, msr, r) || intel_v6(c, msr, sel, r))
		return true;
	if (msr - IA32_PERFEVTSEL(0) < old_gp)
		*r = (struct reg){ &c->sel[msr - IA32_PERFEVTSEL(0)], sel,
			STORES };
	else if (msr - IA32_PMC(0) < old_gp)
		*r = (struct reg){ &c->gp[msr - IA32_PMC(0)], bits(64),
			EXTENDS };
	else if (msr - IA32_A_PMC(0) < old_gp && c->full_width)
		*r = (struct reg){ &c->gp[msr - IA32_A_PMC(0)], bits(c->width),
			STORES };
	else if (msr - IA32_FIXED_CTR(0) < FAKE_NFIX &&
		 (c->fixed >> (msr - IA32_FIXED_CTR(0)) & 1) != 0)
		*r = (struct reg){ &c->fix[msr - IA32_FIXED_CTR(0)],
			bits(c->width), STORES };
	else if (msr >= IA32_FIXED_CTR_CTRL && msr <= IA32_PERF_GLOBAL_OVF_CTRL)
		return intel_global(c, msr, r);
	else if (msr == IA32_PERF_CAPABILITIES && c->full_width)
		*r = (struct reg){ &capabilities, 0, CONST };
	else if (msr == IA32_DEBUGCTL)
		*r = (struct reg){ &c->debugctl, bits(16), STORES };
	else
		return false;
	return true;
}

/* AMD APM vol. 2, "Performance Monitoring Counters". */
static bool
amd_reg(struct fake_cpu *c, uint32_t msr, struct reg *r)
{
	/* Bits 63:42, 39:36 and 21 of a select are reserved. */
	uint64_t sel = c->short_event ? bits(32) : bits(36) | 3ULL << 40;
	uint32_t n;

	sel &= ~(1ULL << 21 | c->reserved_sel);
	if ((n = msr - AMD_PERF_LEGACY_CTL(0)) < AMD_PERF_LEGACY_N)
		*r = (struct reg){ &c->sel[n], sel, STORES };
	else if ((n = msr - AMD_PERF_LEGACY_CTR(0)) < AMD_PERF_LEGACY_N)
		*r = (struct reg){ &c->gp[n], bits(48), STORES };
	else if (c->core && (n = msr - AMD_PERF_CTL(0)) < 2 * c->ngp)
		*r = n % 2 == 0
		         ? (struct reg){ &c->sel[n / 2], sel, STORES }
		         : (struct reg){ &c->gp[n / 2], bits(48), STORES };
	else if (msr == AMD_DE_CFG && !c->short_event)
		*r = (struct reg){ &c->de_cfg, bits(64), STORES };
	else if (msr == IA32_DEBUGCTL)
		*r = (struct reg){ &c->debugctl, bits(13), STORES };
	else if (c->version < 2)
		return false;
	else if (msr == AMD_PERF_CNTR_GLOBAL_STATUS)
		*r = (struct reg){ &c->status, 0, CONST };
	else if (msr == AMD_PERF_CNTR_GLOBAL_CTL)
		*r = (struct reg){ &c->ctrl, bits(c->ngp), STORES };
	else if (msr == AMD_PERF_CNTR_GLOBAL_STATUS_CLR)
		*r = (struct reg){ &c->status, bits(c->ngp) | 3ULL << 58,
			CLEARS };
	else
		return false;
	return true;
}

static bool
find(uint32_t msr, struct reg *r)
{
	struct fake_cpu *c = &fake_cpu[fake_self];

	c->touched++;
	return c->kind == FAKE_INTEL ? intel_reg(c, msr, r)
	                             : amd_reg(c, msr, r);
}

int
pmu_rdmsr_safe(uint32_t msr, uint64_t *v)
{
	struct reg r;

	if (fake_cpu[fake_self].kind == FAKE_SWALLOWS) {
		*v = 0;
		return 0;
	}
	if (!find(msr, &r))
		return EIO;
	*v = r.how == CLEARS ? 0 : *r.at;
	return 0;
}

int
pmu_wrmsr_safe(uint32_t msr, uint64_t v)
{
	const struct fake_cpu *c = &fake_cpu[fake_self];
	struct reg r;

	if (c->kind == FAKE_SWALLOWS)
		return 0;
	if (!find(msr, &r) || r.how == CONST || (v & ~r.writable) != 0)
		return EIO;
	if (r.at == &c->offcore[0] && c->offcore_excludes != 0 &&
	    (v & c->offcore_excludes) == c->offcore_excludes)
		return EIO;
	if (r.how == EXTENDS)
		*r.at = (uint64_t)(int32_t)v & bits(c->width);
	else if (r.how == CLEARS)
		*r.at &= ~v;
	else
		*r.at = v;
	return 0;
}

/* An access on which the kernel would die. */
static _Noreturn void
fault(const char *insn, uint32_t number, uint64_t v)
{
	fprintf(stderr, "#GP: %s %#x, %#llx\n", insn, number,
	    (unsigned long long)v);
	abort();
}

void (*fake_each)(void);

static void
call_each_hook(void)
{
	if (fake_each != NULL)
		fake_each();
}

uint64_t
pmu_rdmsr(uint32_t msr)
{
	uint64_t v;

	call_each_hook();
	if (pmu_rdmsr_safe(msr, &v) != 0)
		fault("rdmsr", msr, 0);
	return v;
}

void
pmu_wrmsr(uint32_t msr, uint64_t v)
{
	call_each_hook();
	if (pmu_wrmsr_safe(msr, v) != 0)
		fault("wrmsr", msr, v);
}

uint64_t
pmu_rdpmc(uint32_t index)
{
	const struct fake_cpu *c = &fake_cpu[fake_self];
	uint32_t n = index - RDPMC_FIXED;

	call_each_hook();
	if (c->kind != FAKE_SWALLOWS && index < c->ngp)
		return c->gp[index];
	if (c->kind != FAKE_INTEL || n >= FAKE_NFIX || (c->fixed >> n & 1) == 0)
		fault("rdpmc", index, 0);
	return c->fix[n];
}

void
pmu_fence(void)
{
	call_each_hook();
}

void
pmu_open_reads(void)
{
	fake_cpu[fake_self].reads_open = true;
}

void
pmu_close_reads(void)
{
	fake_cpu[fake_self].reads_open = false;
}

uint64_t
pmu_rdtsc(void)
{
	call_each_hook();
	return tsc;
}

void
pmu_spin(uint64_t n)
{
	fake_run(PCBE_SPIN_INSNS * n, false);
}

void
pmu_deliver(bool nmi)
{
	call_each_hook();
	fake_cpu[fake_self].nmi = nmi;
	fake_cpu[fake_self].masked = false;
}

void
kcpc_pmi_late(void)
{
	fake_cpu[fake_self].late++;
}

void
pmu_hand_over(void)
{
	call_each_hook();
	fake_cpu[fake_self].handed++;
}

/* The events that this CPU counts.  Any other unit mask is another event. */
static uint64_t
events(const struct fake_cpu *c, uint64_t sel, uint64_t n)
{
	unsigned event = sel & 0xffff;

	if (c->kind == FAKE_AMD)
		return sel >> 32 != 0  ? 0
		       : event == 0xc0 ? n
		       : event == 0x76 ? n * FAKE_CPI
		                       : 0;
	return event == 0xc0     ? n
	       : event == 0x3c   ? n * FAKE_CPI
	       : event == 0x13c  ? n
	       : event == 0x01a4 ? n * FAKE_SLOTS
	                         : 0;
}

static void
advance(struct fake_cpu *c, uint64_t *counter, uint64_t by, uint64_t bit,
    bool interrupts)
{
	uint64_t was = *counter;

	*counter = (was + by) & bits(c->narrow != 0 ? c->narrow : c->width);
	if (*counter >= was)
		return;
	if (c->version >= 2)
		c->status |= bit;
	if (interrupts && (c->debugctl & DEBUGCTL_FREEZE_COUNTERS) != 0)
		c->status |= PERF_GLOBAL_STATUS_CTR_FRZ;
	c->overflows += interrupts;
	if (interrupts && c->loses != 0 && c->overflows % c->loses == 0)
		return;
	c->pmis += interrupts;
	c->raised = interrupts ? tsc + c->lags : c->raised;
	if (!interrupts || !c->nmi || c->masked)
		return;
	c->nmi_pending = true;
	c->masked = c->kind == FAKE_INTEL;
}

static bool
runs(const struct fake_cpu *c, uint64_t bit)
{
	return c->version < 2 ||
	       ((c->ctrl & bit) != 0 &&
		   (c->status & PERF_GLOBAL_STATUS_CTR_FRZ) == 0);
}

void
fake_run(uint64_t n, bool user)
{
	static const unsigned rate[FAKE_NFIX] = { 1, FAKE_CPI, 1, FAKE_SLOTS };
	struct fake_cpu *c = &fake_cpu[fake_self];
	bool any = user || c->no_filter;
	uint64_t level = (user ? 0 : EVTSEL_OS) | (any ? EVTSEL_USR : 0);
	uint64_t fixed =
	    (user ? 0 : FIXED_CTRL_OS) | (any ? FIXED_CTRL_USR : 0);

	tsc += n;
	for (unsigned i = 0; i < c->ngp; i++) {
		if ((c->sel[i] & EVTSEL_EN) != 0 && (c->sel[i] & level) != 0 &&
		    runs(c, 1ULL << i))
			advance(c, &c->gp[i], events(c, c->sel[i], n),
			    1ULL << i, (c->sel[i] & EVTSEL_INT) != 0);
	}
	for (unsigned i = 0; i < FAKE_NFIX && !c->stuck_fixed; i++) {
		uint64_t ctrl = c->fixed_ctrl >> (4 * i);

		if ((ctrl & fixed) != 0 && runs(c, PERF_GLOBAL_FIXED(i)))
			advance(c, &c->fix[i], n * rate[i],
			    PERF_GLOBAL_FIXED(i), (ctrl & FIXED_CTRL_PMI) != 0);
	}
}
