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

#define RUNS  3
#define READS 3 /* the shortest of them counts */
/* A run ends when its error is at most a part of it: 50 ppm. */
#define EXACT 20000

/* In QEMU and KVM, one tick of the APIC timer is 1 ns. */
#define VIRTUAL_APIC_HZ 1000000000

struct x86_rates x86_rates;

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
	.run_div = 1000,
	.read = apic_read,
};

/* A reading of two clocks, and the TSC in the middle of it. */
struct moment {
	uint64_t tsc, ref, apic, width;
};

static struct moment
read_all(const struct refclock *rc)
{
	struct moment best = { .width = ~0ULL };

	for (unsigned i = 0; i < READS; i++) {
		uint64_t before = rdtsc(), ref = rc->read();
		uint64_t apic = apic_read(), width = rdtsc() - before;

		if (width < best.width)
			best = (struct moment){ before + width / 2, ref, apic,
				width };
	}
	return best;
}

/* Ticks of each clock from one moment to another, and the error in `tsc`. */
struct run {
	uint64_t tsc, ref, apic, error;
};

/*
 * Run until the error is small, at most a second / run_div.  The error is what
 * the readings took, and one tick of the clock.
 */
static struct run
run_once(const struct refclock *rc)
{
	struct moment from = read_all(rc), to;
	struct run r;

	do {
		arch_relax();
		to = read_all(rc);
		r.tsc = to.tsc - from.tsc;
		r.ref = (to.ref - from.ref) & rc->mask;
		r.apic = (to.apic - from.apic) & apic_clock.mask;
		r.error = from.width + to.width + r.tsc / (r.ref + 1);
	} while (r.ref < rc->hz / rc->run_div && r.error > r.tsc / EXACT);
	return r;
}

/*
 * Measure the TSC by the clock, and the APIC's timer by the TSC.  Several runs
 * are made if the error of one is large, or if the clock may have wrapped
 * unnoticed.  The lowest rate counts: a disturbance makes the TSC look faster.
 */
static struct run
measure(const struct refclock *rc)
{
	struct run best = { .ref = 0 };

	for (unsigned i = 0; i < RUNS; i++) {
		struct run r = run_once(rc);

		if (best.ref == 0 || muldiv(r.tsc, rc->hz, r.ref) <
					 muldiv(best.tsc, rc->hz, best.ref))
			best = r;
		if (rc->mask > 0xffff && r.error < r.tsc / 1000)
			return r;
	}
	return best;
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

static bool
apic_is_virtual(void)
{
	return strcmp(x86_features.hypervisor, "TCGTCGTCGTCG") == 0 ||
	       strcmp(x86_features.hypervisor, "KVMKVMKVM") == 0;
}

void
x86_rates_init(bool need_apic)
{
	const struct refclock *rc = NULL;
	bool known = rate_by_crystal() || rate_by_hypervisor();
	struct run r;

	x86_apic_write(APIC_TIMER_INIT, 0xffffffff); /* masked, counting */
	if (!known && (rc = x86_refclock_find()) == NULL && apic_is_virtual())
		rc = &apic_clock;
	if (!known && rc == NULL && !(known = rate_by_base_frequency()))
		panic("cpu: the rate of the TSC is unknown: no CPUID leaf, "
		      "HPET, PM timer or PIT: give the machine one of them");
	need_apic = need_apic && x86_rates.apic_hz == 0;
	/* If only the APIC's timer is unknown, its ticks pace the run. */
	if (!known || need_apic) {
		r = measure(known ? &apic_clock : rc);
		if (!known) {
			x86_rates.tsc_hz = muldiv(r.tsc, rc->hz, r.ref);
			x86_rates.source = rc->name;
			x86_rates.error_ppm = r.error * 1000000 / r.tsc + 1;
		}
		if (need_apic)
			x86_rates.apic_hz =
			    muldiv(r.apic, x86_rates.tsc_hz, r.tsc);
	}
	x86_apic_write(APIC_TIMER_INIT, 0);
}
