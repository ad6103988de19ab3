/*
 * The rate of the TSC.  CPUID may have it.  Otherwise the TSC is measured
 * against the best other clock, by reading both at two moments.
 */
#include <stddef.h>

#include "arch/x86/cpuid.h"
#include "arch/x86/dev/apic.h"
#include "arch/x86/dev/refclock.h"
#include "arch/x86/dev/timer.h"
#include "arch/x86/insn.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "lib/printf.h"
#include "lib/string.h"

#define RUNS         3
#define READS        3 /* the shortest of them counts */
#define APIC_RUN_DIV 1000
/* A reading is disturbed if it takes more than this fraction of a run. */
#define DISTURBED 1000

/* In QEMU and KVM, one tick of the APIC timer is 1 ns. */
#define VIRTUAL_APIC_HZ 1000000000

struct x86_rates x86_rates;

/* A reading of a clock, and the TSC in the middle of it. */
struct moment {
	uint64_t tsc, ref, width;
};

static struct moment
read_both(const struct refclock *rc)
{
	struct moment best = { .width = ~0ULL };

	for (unsigned i = 0; i < READS; i++) {
		uint64_t before = rdtsc(), ref = rc->read();
		uint64_t width = rdtsc() - before;

		if (width < best.width)
			best =
			    (struct moment){ before + width / 2, ref, width };
	}
	return best;
}

/*
 * TSC ticks a second, measured over `ticks` of the clock.  *sure becomes true
 * if no reading was disturbed and the clock cannot have wrapped unnoticed.
 */
static uint64_t
measure_once(const struct refclock *rc, uint64_t ticks, bool *sure)
{
	struct moment from = read_both(rc), to;

	do {
		arch_relax();
	} while (((rc->read() - from.ref) & rc->mask) < ticks);
	to = read_both(rc);
	*sure = rc->mask > 0xffff &&
	        (from.width + to.width) < (to.tsc - from.tsc) / DISTURBED;
	return muldiv(
	    to.tsc - from.tsc, rc->hz, (to.ref - from.ref) & rc->mask);
}

/*
 * A sure result, or the lowest of several.  A disturbance makes the TSC look
 * faster.
 */
static uint64_t
measure_tsc(const struct refclock *rc)
{
	uint64_t lowest = ~0ULL;
	bool sure = false;

	for (unsigned i = 0; i < RUNS && !sure; i++) {
		uint64_t hz = measure_once(rc, rc->hz / rc->run_div, &sure);

		if (sure || hz < lowest)
			lowest = hz;
	}
	return lowest;
}

/*
 * CPUID.15H: EBX / EAX is the ratio of the TSC to a crystal.  ECX is the rate
 * of the crystal, or 0. Intel SDM vol. 2A, "CPUID".
 */
static bool
rate_by_crystal(void)
{
	struct cpuid_regs r = cpuid(0x15, 0);

	if (r.a == 0 || r.b == 0 || r.c == 0)
		return false;
	x86_rates.tsc_hz = (uint64_t)r.c * r.b / r.a;
	x86_rates.source = "CPUID.15H";
	return true;
}

/*
 * CPUID.16H has the base frequency in MHz, rounded as in the product's name:
 * 2900 for 2904.  The manual warns of other uses, so this is the last resort.
 * Intel SDM vol. 2A, "CPUID".
 */
static bool
rate_by_base_frequency(void)
{
	x86_rates.tsc_hz = FIELD(cpuid(0x16, 0).a, 15, 0) * 1000000;
	x86_rates.source = "CPUID.16H";
	return x86_rates.tsc_hz != 0;
}

/* CPUID.40000010H, a convention of hypervisors, has rates in kHz. */
static bool
rate_by_hypervisor(void)
{
	struct cpuid_regs r = cpuid(0x40000010, 0);

	if (r.a == 0)
		return false;
	x86_rates.tsc_hz = r.a * 1000ULL;
	x86_rates.apic_hz = r.b * 1000ULL;
	x86_rates.source = "CPUID.40000010H";
	return true;
}

/* The APIC's timer as a clock.  It counts down. */
static uint64_t
apic_read(void)
{
	return 0xffffffff - x86_apic_read(APIC_TIMER_NOW);
}

static struct refclock apic_clock = {
	.name = "the APIC timer, known to be virtual",
	.hz = VIRTUAL_APIC_HZ,
	.mask = 0xffffffff,
	.run_div = APIC_RUN_DIV,
	.read = apic_read,
};

static bool
apic_is_virtual(void)
{
	return strcmp(x86_features.hypervisor, "TCGTCGTCGTCG") == 0 ||
	       strcmp(x86_features.hypervisor, "KVMKVMKVM") == 0;
}

static void
find_tsc(void)
{
	const struct refclock *rc;

	if (rate_by_crystal() || rate_by_hypervisor())
		return;
	if ((rc = x86_refclock_find()) == NULL && apic_is_virtual())
		rc = &apic_clock;
	if (rc == NULL && rate_by_base_frequency())
		return;
	if (rc == NULL)
		panic("cpu: the rate of the TSC is unknown: no CPUID leaf, "
		      "HPET, PM timer or PIT: give the machine one of them");
	x86_rates.tsc_hz = measure_tsc(rc);
	x86_rates.source = rc->name;
}

void
x86_rates_init(bool need_apic)
{
	x86_apic_write(APIC_TIMER_INIT, 0xffffffff); /* masked, counting */
	find_tsc();
	/*
	 * The TSC's rate is known now.  Measure the TSC by the APIC's timer, as
	 * if that ran at 1 GHz.  The ratio gives the timer's rate.
	 */
	if (need_apic && x86_rates.apic_hz == 0) {
		uint64_t tsc = measure_tsc(&apic_clock);

		x86_rates.apic_hz =
		    muldiv(x86_rates.tsc_hz, VIRTUAL_APIC_HZ, tsc);
	}
	x86_apic_write(APIC_TIMER_INIT, 0);
}
