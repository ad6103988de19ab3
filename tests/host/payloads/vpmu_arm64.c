/*
 * vpmu's points about PMUv3's registers pass on registers that are right.  Each
 * point fails on one with a defect.
 * Arm ARM (DDI 0487), "The Performance Monitors Extension".
 */
#include "tests/lib/host/support.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "payloads/vpmu/arm64/common_event.h"
#include "payloads/vpmu/arm64/sysreg.h"
#include "payloads/vpmu/vpmu.h"

#define NEVENT 3

#define PMCR_E   (1ULL << 0)
#define PMCR_P   (1ULL << 1)
#define PMCR_C   (1ULL << 2)
#define PMCR_LP  (1ULL << 7)
#define CYCLES   (1ULL << 31)
#define COUNTERS ((1ULL << NEVENT) - 1)

static enum defect {
	RIGHT,
	WRONG_N,         /* PMCR_EL0.N */
	ENABLES_ABSENT,  /* the bit of an absent counter stays set */
	CUTS_COUNTER,    /* to 16 bits */
	DROPS_EVENT,     /* an event that the PMU lacks reads 0 */
	COUNTS_DISABLED, /* software increments of a disabled counter */
	IGNORES_E,       /* PMCR_EL0.E */
	COUNTS_ALL,      /* software increments of other counters */
	NO_OVERFLOW,     /* the status stays 0 */
	OVERFLOW_STAYS,  /* the status is not cleared */
	IGNORES_LP,      /* overflows at 32 bits only */
	CHAINS_ALWAYS,   /* also if the upper counter is disabled */
	CHAINS_NEVER,
	RESETS_CYCLES, /* by PMCR_EL0.P */
	RESETS_NOTHING,
	IGNORES_FILTER,  /* PMCCFILTR_EL0 */
	CYCLES_DISABLED, /* cycles are counted although disabled */
	CYCLES_STAND,
	CYCLES_NARROW, /* no overflow at 64 bits */
} defect;

static uint64_t control, enabled, interrupts, overflows, selected, filter;
static uint64_t cycles, type[NEVENT], counter[NEVENT];

struct vpmu vpmu;

bool
announced_code(unsigned code)
{
	return code == SW_INCR || code == CHAIN || code == 0x11;
}

static bool
cycles_run(void)
{
	if ((enabled & CYCLES) == 0 && defect != CYCLES_DISABLED)
		return false;
	return (filter >> 31 & 1) == 0 || defect == IGNORES_FILTER;
}

uint64_t
read_reg(const char *name)
{
	uint64_t n = defect == WRONG_N ? NEVENT - 1 : NEVENT;

	if (strcmp(name, "pmcr_el0") == 0)
		return control | n << 11;
	if (strncmp(name, "pmcnten", 7) == 0)
		return enabled;
	if (strncmp(name, "pminten", 7) == 0)
		return interrupts;
	if (strncmp(name, "pmovs", 5) == 0)
		return overflows;
	if (strcmp(name, "pmselr_el0") == 0)
		return selected;
	if (strcmp(name, "pmxevtyper_el0") == 0)
		return type[selected];
	if (strcmp(name, "pmevtyper0_el0") == 0)
		return type[0];
	if (strcmp(name, "pmxevcntr_el0") == 0)
		return counter[selected];
	if (strcmp(name, "pmccntr_el0") == 0)
		return cycles;
	if (strcmp(name, "pmccfiltr_el0") == 0)
		return filter;
	assert_string_equal(name, "CurrentEL");
	return 1 << 2;
}

static bool
runs(unsigned n)
{
	return (enabled >> n & 1) != 0 || defect == COUNTS_DISABLED;
}

static void
increment_counter(unsigned n)
{
	bool at_64 = (control & PMCR_LP) != 0 && defect != IGNORES_LP;

	counter[n]++;
	if (at_64 ? counter[n] != 0 : (uint32_t)counter[n] != 0)
		return;
	if (defect != NO_OVERFLOW)
		overflows |= 1ULL << n;
	if (n % 2 == 0 && n + 1 < NEVENT && type[n + 1] == CHAIN && !at_64 &&
	    defect != CHAINS_NEVER && (runs(n + 1) || defect == CHAINS_ALWAYS))
		increment_counter(n + 1);
}

static void
count_software(uint64_t which)
{
	if ((control & PMCR_E) == 0 && defect != IGNORES_E)
		return;
	for (unsigned n = 0; n < NEVENT; n++) {
		if (((which >> n & 1) != 0 || defect == COUNTS_ALL) &&
		    runs(n) && type[n] == SW_INCR)
			increment_counter(n);
	}
}

static void
write_control(uint64_t v)
{
	if ((v & PMCR_P) != 0 && defect != RESETS_NOTHING)
		memset(counter, 0, sizeof counter);
	if (((v & PMCR_C) != 0 && defect != RESETS_NOTHING) ||
	    ((v & PMCR_P) != 0 && defect == RESETS_CYCLES))
		cycles = 0;
	control = v & 0xf9;
}

static void
write_type(unsigned n, uint64_t v)
{
	type[n] = defect == DROPS_EVENT && !announced_code((unsigned)v) ? 0 : v;
}

void
write_reg(const char *name, uint64_t v)
{
	uint64_t all =
	    COUNTERS | CYCLES | (defect == ENABLES_ABSENT ? 1ULL << NEVENT : 0);

	if (strcmp(name, "pmcr_el0") == 0)
		write_control(v);
	else if (strcmp(name, "pmcntenset_el0") == 0)
		enabled |= v & all;
	else if (strcmp(name, "pmcntenclr_el0") == 0)
		enabled &= ~v;
	else if (strcmp(name, "pmintenset_el1") == 0)
		interrupts |= v & all;
	else if (strcmp(name, "pmintenclr_el1") == 0)
		interrupts &= ~v;
	else if (strcmp(name, "pmovsset_el0") == 0)
		overflows |= v & all;
	else if (strcmp(name, "pmovsclr_el0") == 0)
		overflows &= defect == OVERFLOW_STAYS ? ~0ULL : ~v;
	else if (strcmp(name, "pmselr_el0") == 0)
		selected = v;
	else if (strcmp(name, "pmxevtyper_el0") == 0)
		write_type((unsigned)selected, v);
	else if (strcmp(name, "pmevtyper0_el0") == 0)
		write_type(0, v);
	else if (strcmp(name, "pmxevcntr_el0") == 0)
		counter[selected] = defect == CUTS_COUNTER ? v & 0xffff : v;
	else if (strcmp(name, "pmswinc_el0") == 0)
		count_software(v);
	else if (strcmp(name, "pmccntr_el0") == 0)
		cycles = v;
	else if (strcmp(name, "pmccfiltr_el0") == 0)
		filter = v;
	else
		fail_msg("no register %s", name);
}

void
spin_loop(uint64_t iterations)
{
	uint64_t before = cycles;

	if (!cycles_run() || defect == CYCLES_STAND)
		return;
	cycles += 2 * iterations;
	if (cycles < before && defect != CYCLES_NARROW)
		overflows |= CYCLES;
}

/* The points.  The first failure is kept. */
static char failure[200], failed[200];

void
point_note(const char *fmt, ...)
{
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

void
point_equal(const char *what, int64_t got, int64_t want)
{
	if (got != want)
		point_fail("%s", what);
}

/* The names of the points that fail. */
static const char *
fails_with(enum defect d)
{
	failed[0] = '\0';
	defect = d;
	for (const struct vpmu_property *pr = register_properties;
	     pr->vpr_name != NULL; pr++) {
		failure[0] = '\0';
		control = PMCR_E | PMCR_LP;
		enabled = CYCLES;
		interrupts = overflows = selected = filter = 0;
		memset(type, 0, sizeof type);
		memset(counter, 0, sizeof counter);
		cycles = 1000000;
		pr->vpr_judge(0);
		if (failure[0] != '\0') {
			strcat(failed, failed[0] == '\0' ? "" : " ");
			strcat(failed, pr->vpr_name);
		} else if (d == RIGHT) {
			assert_int_equal(enabled, CYCLES);
			assert_int_equal(control, PMCR_E | PMCR_LP);
			assert_int_equal(filter, 0);
		}
	}
	return failed;
}

TEST(each_point_can_fail)
{
	vpmu.v_runs = 3;
	vpmu.v_npic = NEVENT;
	for (unsigned n = 0; n < NEVENT; n++)
		vpmu.v_pic[n] = (struct vpmu_pic){ .vp_width = 64 };
	assert_string_equal(fails_with(RIGHT), "");
	assert_string_equal(fails_with(WRONG_N), "counters reserved_bits");
	assert_string_equal(fails_with(ENABLES_ABSENT), "reserved_bits");
	assert_string_equal(
	    fails_with(CUTS_COUNTER), "counter_write status chain");
	assert_string_equal(fails_with(DROPS_EVENT), "event_write");
	assert_string_equal(fails_with(COUNTS_DISABLED), "sw_incr chain");
	assert_string_equal(fails_with(IGNORES_E), "sw_incr");
	assert_string_equal(fails_with(COUNTS_ALL), "sw_incr");
	assert_string_equal(fails_with(NO_OVERFLOW), "status chain");
	assert_string_equal(fails_with(OVERFLOW_STAYS),
	    "reserved_bits status chain cycle_counter");
	assert_string_equal(fails_with(IGNORES_LP), "status");
	assert_string_equal(fails_with(CHAINS_ALWAYS), "chain");
	assert_string_equal(fails_with(CHAINS_NEVER), "chain");
	assert_string_equal(fails_with(RESETS_CYCLES), "reset");
	assert_string_equal(fails_with(RESETS_NOTHING), "reset");
	assert_string_equal(fails_with(IGNORES_FILTER), "cycle_counter");
	assert_string_equal(fails_with(CYCLES_DISABLED), "cycle_counter");
	assert_string_equal(fails_with(CYCLES_STAND), "cycle_counter");
	assert_string_equal(fails_with(CYCLES_NARROW), "cycle_counter");
}
