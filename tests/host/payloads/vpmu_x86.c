/*
 * vpmu's points about x86 registers pass on registers that are right.  Each
 * point fails on one with a defect.
 * Intel SDM vol. 3B, "Architectural Performance Monitoring"; vol. 4, "IA-32
 * Architectural MSRs".
 */
#include "tests/lib/host/support.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/barecpc.h>
#include <sys/processor.h>

#include "payloads/vpmu/vpmu.h"
#include "payloads/vpmu/x86_64/msr.h"

#define NGENERAL 2
#define NFIXED   3
#define VERSION  4
#define WIDTH    48
#define MASK     ((1ULL << WIDTH) - 1)

#define EVTSEL_INT (1U << 20)
#define EVTSEL_EN  (1U << 22)

static enum defect {
	RIGHT,
	TAKES_RESERVED,    /* no bit faults */
	TAKES_ABSENT,      /* the bits of absent counters do not fault */
	ZERO_EXTENDS,      /* a write to IA32_PMCn */
	TAKES_WIDE,        /* a value above the width */
	RDPMC_SHIFTED,     /* RDPMC reads the next counter */
	RDPMC_ABSENT,      /* RDPMC of an absent fixed counter reads 0 */
	FIXED_READ_ONLY,   /* a write to IA32_FIXED_CTRn is lost */
	NO_STATUS,         /* an overflow does not set the status */
	STATUS_STAYS,      /* a write to the clear register is lost */
	INTERRUPTS_ALWAYS, /* also without EVTSEL_INT */
	STOPS_AT_END,      /* a counter does not wrap */
	SET_LOST,          /* a write to IA32_PERF_GLOBAL_STATUS_SET */
	SHARED_OFFCORE,    /* two CPUs have one MSR_OFFCORE_RSP_0 */
} defect;

static uint64_t select_[NGENERAL], general[NGENERAL], fixed[NFIXED];
static uint64_t fixed_control, control, status, nmis, offcore[2];
static processorid_t on_cpu;

struct vpmu vpmu;

struct cpuid_result
read_cpuid(uint32_t leaf)
{
	struct cpuid_result r = { 0 };

	if (leaf == 1)
		r.c = 1 << 15;
	if (leaf == 0xa) {
		r.a = VERSION | NGENERAL << 8 | WIDTH << 16;
		r.d = NFIXED | WIDTH << 5;
	}
	return r;
}

static uint64_t *
counter_at(uint32_t msr)
{
	if (msr - 0xc1 < NGENERAL)
		return &general[msr - 0xc1];
	if (msr - 0x4c1 < NGENERAL)
		return &general[msr - 0x4c1];
	return msr - 0x309 < NFIXED ? &fixed[msr - 0x309] : NULL;
}

static uint64_t *
register_at(uint32_t msr)
{
	if (msr - 0x186 < NGENERAL)
		return &select_[msr - 0x186];
	return msr == 0x1a6   ? &offcore[defect == SHARED_OFFCORE ? 0 : on_cpu]
	       : msr == 0x38d ? &fixed_control
	       : msr == 0x38e ? &status
	       : msr == 0x38f ? &control
	                      : counter_at(msr);
}

uint64_t
read_msr(uint32_t msr)
{
	if (msr == 0x345)
		return 1 << 13; /* full-width writes */
	assert_non_null(register_at(msr));
	return *register_at(msr);
}

/* The bits that a write may set. */
static uint64_t
writable(uint32_t msr)
{
	const uint64_t counters =
	    ((1ULL << NFIXED) - 1) << 32 | ((1ULL << NGENERAL) - 1);
	uint64_t absent = 0;

	if (defect == TAKES_ABSENT)
		absent = msr == 0x38f ? 1 << NGENERAL : 0xf << 4 * NFIXED;
	if (defect == TAKES_RESERVED)
		absent = 1ULL << 63;
	if (msr - 0x186 < NGENERAL)
		return 0xffffffff | absent;
	if (msr == 0x38d)
		return ((1ULL << 4 * NFIXED) - 1) | absent;
	if (msr == 0x38f)
		return counters | absent;
	if (msr - 0x4c1 < NGENERAL)
		return defect == TAKES_WIDE ? ~0ULL : MASK;
	return ~0ULL;
}

bool
write_works(uint32_t msr, uint64_t v)
{
	if ((v & ~writable(msr)) != 0)
		return false;
	if (msr == 0x390)
		status &= defect == STATUS_STAYS ? ~0ULL : ~v;
	else if (msr == 0x391)
		status |= defect == SET_LOST ? 0 : v;
	else if (msr - 0xc1 < NGENERAL && defect == ZERO_EXTENDS)
		general[msr - 0xc1] = (uint32_t)v;
	else if (msr - 0xc1 < NGENERAL)
		general[msr - 0xc1] = (uint64_t)(int64_t)(int32_t)v & MASK;
	else if (msr - 0x309 >= NFIXED || defect != FIXED_READ_ONLY)
		*register_at(msr) = counter_at(msr) != NULL ? v & MASK : v;
	return true;
}

void
write_msr(uint32_t msr, uint64_t v)
{
	assert_true(write_works(msr, v));
}

bool
read_works(uint32_t index, uint64_t *value)
{
	unsigned n = index & 0xff, shift = defect == RDPMC_SHIFTED;

	if ((index >> 30) == 1 && n < NFIXED)
		*value = fixed[(n + shift) % NFIXED];
	else if ((index >> 30) == 0 && n < NGENERAL)
		*value = general[(n + shift) % NGENERAL];
	else if (defect == RDPMC_ABSENT)
		*value = 0;
	else
		return false;
	return true;
}

static void
count(uint64_t *counter, uint64_t n, uint64_t bit, bool interrupt)
{
	*counter += n;
	if (*counter <= MASK)
		return;
	*counter = defect == STOPS_AT_END ? MASK : *counter & MASK;
	if (defect != NO_STATUS)
		status |= bit;
	nmis += interrupt || defect == INTERRUPTS_ALWAYS;
}

void
spin_loop(uint64_t iterations)
{
	uint64_t n = SPIN_INSNS * iterations;

	for (unsigned i = 0; i < NGENERAL; i++) {
		if ((control >> i & 1) != 0 && (select_[i] & EVTSEL_EN) != 0)
			count(&general[i], n, 1ULL << i,
			    (select_[i] & EVTSEL_INT) != 0);
	}
	for (unsigned i = 0; i < NFIXED; i++) {
		if ((control >> (32 + i) & 1) != 0 &&
		    (fixed_control >> 4 * i & 3) != 0)
			count(&fixed[i], n, 1ULL << (32 + i),
			    (fixed_control >> 4 * i & 8) != 0);
	}
}

/* payload_interrupts() */
long __wrap_syscall(long number, struct barecpc_interrupts *by);
long
__wrap_syscall(long number, struct barecpc_interrupts *by)
{
	by->by_nmis = nmis;
	return 0;
}

/* Two CPUs, 1 and 3 */
int
processor_bind(idtype_t, id_t, processorid_t cpu, processorid_t *)
{
	on_cpu = cpu / 2;
	return cpu == 1 || cpu == 3 ? 0 : -1;
}

void
cpc_walk_attrs(cpc_t *, void *arg, void (*see)(void *, const char *))
{
	see(arg, "msr_offcore");
}

/* The points.  The first failure is kept, and how many CPUs share. */
static char failure[200], failed[200];
static unsigned sharing;

void
point_note(const char *fmt, ...)
{
	sharing += strstr(fmt, "shares") != NULL;
}

void
point_skip(const char *fmt, ...)
{
	fail_msg("a point is skipped: %s", fmt);
}

void
point_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (failure[0] == '\0')
		vsnprintf(failure, sizeof failure, fmt, ap);
	va_end(ap);
}

/* The names of the points that fail. */
static const char *
fails_with(enum defect d)
{
	failed[0] = '\0';
	defect = d;
	for (const struct vpmu_property *pr = register_properties;
	     pr->vpr_name != NULL; pr++) {
		status = nmis = 0;
		failure[0] = '\0';
		pr->vpr_judge(0);
		if (failure[0] == '\0')
			continue;
		strcat(failed, failed[0] == '\0' ? "" : " ");
		strcat(failed, pr->vpr_name);
	}
	return failed;
}

TEST(each_point_can_fail)
{
	vpmu.v_runs = 3;
	vpmu.v_npic = NGENERAL + NFIXED;
	vpmu.v_pmu.pm_kind = CPC_PMU_INTEL;
	for (unsigned n = 0; n < NFIXED; n++)
		vpmu.v_pmu.pm_own[n] = 1U << (NGENERAL + n);
	for (unsigned n = 0; n < NGENERAL + NFIXED; n++)
		vpmu.v_pic[n] = (struct vpmu_pic){ .vp_width = WIDTH,
			.vp_fixed = n >= NGENERAL };
	assert_string_equal(fails_with(RIGHT), "");
	assert_int_equal(control, 0);
	assert_string_equal(fails_with(TAKES_RESERVED), "reserved_bits");
	assert_string_equal(
	    fails_with(TAKES_ABSENT), "reserved_bits fixed_registers");
	assert_string_equal(fails_with(ZERO_EXTENDS), "counter_write status");
	assert_string_equal(fails_with(TAKES_WIDE), "counter_write");
	assert_string_equal(
	    fails_with(RDPMC_SHIFTED), "counter_write fixed_registers");
	assert_string_equal(fails_with(RDPMC_ABSENT), "fixed_registers");
	assert_string_equal(
	    fails_with(FIXED_READ_ONLY), "fixed_registers status");
	assert_string_equal(fails_with(NO_STATUS), "status");
	assert_string_equal(fails_with(STATUS_STAYS), "status status_set");
	assert_string_equal(fails_with(INTERRUPTS_ALWAYS), "status");
	assert_string_equal(fails_with(STOPS_AT_END), "status");
	assert_string_equal(fails_with(SET_LOST), "status_set");
	assert_int_equal(sharing, 0);
	offcore[0] = offcore[1] = 5;
	assert_string_equal(fails_with(SHARED_OFFCORE), "");
	assert_int_equal(sharing, 1);
	assert_int_equal(offcore[0], 5);
}
