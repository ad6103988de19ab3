/*
 * How fast does the TSC run?  The CPU may say; else it is measured against
 * the first clock there is, by reading both at two moments.
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
#define READS        3 /* of which the least disturbed counts */
#define APIC_RUN_DIV 1000
/* A reading may take this part of a run and still not be held up. */
#define HELD_UP 1000

/* What QEMU and KVM both emulate: one APIC timer tick is 1 ns. */
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
 * TSC ticks a second, by one run of `ticks` of the clock.  *sure: no reading
 * was held up, and the clock cannot have wrapped unseen.
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
	        (from.width + to.width) < (to.tsc - from.tsc) / HELD_UP;
	return muldiv(
	    to.tsc - from.tsc, rc->hz, (to.ref - from.ref) & rc->mask);
}

/* Else the lowest of several: what goes wrong makes the TSC look faster. */
static uint64_t
measure(const struct refclock *rc)
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
 * CPUID.15H: EAX and EBX relate the TSC to a crystal, ECX is the crystal's
 * rate or 0.
 * Intel SDM vol. 2A, "CPUID".
 */
static bool
told_by_cpu(void)
{
	struct cpuid_regs r = cpuid(0x15, 0);

	if (r.a == 0 || r.b == 0 || r.c == 0)
		return false;
	x86_rates.tsc_hz = (uint64_t)r.c * r.b / r.a;
	x86_rates.source = "CPUID.15H";
	return true;
}

/*
 * CPUID.16H's base frequency is the TSC's as it is printed on the box, in
 * MHz, and the manual warns of any other use: of 2904 MHz it tells 2900.
 * Intel SDM vol. 2A, "CPUID".
 */
static bool
told_by_the_box(void)
{
	x86_rates.tsc_hz = FIELD(cpuid(0x16, 0).a, 15, 0) * 1000000;
	x86_rates.source = "CPUID.16H";
	return x86_rates.tsc_hz != 0;
}

/* CPUID.40000010H, a convention of hypervisors: rates in kHz. */
static bool
told_by_hypervisor(void)
{
	struct cpuid_regs r = cpuid(0x40000010, 0);

	if (r.a == 0)
		return false;
	x86_rates.tsc_hz = r.a * 1000ULL;
	x86_rates.apic_hz = r.b * 1000ULL;
	x86_rates.source = "CPUID.40000010H";
	return true;
}

/*
 * The APIC's timer, running down, as a clock.
 */
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

	if (told_by_cpu() || told_by_hypervisor())
		return;
	if ((rc = x86_refclock_find()) == NULL && apic_is_virtual())
		rc = &apic_clock;
	if (rc == NULL && told_by_the_box())
		return;
	if (rc == NULL)
		panic("cpu: nothing tells the rate of the TSC: no CPUID leaf, "
		      "HPET, PM timer or PIT");
	x86_rates.tsc_hz = measure(rc);
	x86_rates.source = rc->name;
}

void
x86_rates_init(bool need_apic)
{
	x86_apic_write(APIC_TIMER_INIT, 0xffffffff); /* masked, counting */
	find_tsc();
	/* The same measurement tells a rate of the APIC's instead. */
	if (need_apic && x86_rates.apic_hz == 0) {
		uint64_t tsc = measure(&apic_clock); /* if it ran at 1 GHz */

		x86_rates.apic_hz =
		    muldiv(x86_rates.tsc_hz, VIRTUAL_APIC_HZ, tsc);
	}
	x86_apic_write(APIC_TIMER_INIT, 0);
}
