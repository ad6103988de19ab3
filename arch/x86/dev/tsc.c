/*
 * The rate of the TSC.  CPUID or a hypervisor may state it.  Otherwise the TSC
 * is measured against the best other clock, by reading both at two moments.
 * One more clock must agree.
 */
#include "arch/x86/cpuid.h"
#include "arch/x86/dev/apic.h"
#include "arch/x86/dev/refclock.h"
#include "arch/x86/dev/timer.h"
#include "arch/x86/insn.h"
#include "arch/x86/msr.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "lib/printf.h"
#include "lib/string.h"

#define RUNS  3
#define READS 3 /* the shortest of them counts */
/* Turns of a loop between readings: an emulator takes long for a reading. */
#define BETWEEN 2000
/* A run ends when its error is at most a part of it: 50 ppm. */
#define EXACT 20000
/* A run for a check: 0.5 %.  Clocks that differ by 1 % are not both right. */
#define ROUGH   200
#define IN_STEP 100

/* In QEMU and KVM one tick of the APIC timer is 1 ns, but for TDX. */
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
run_once(const struct refclock *rc, unsigned exact)
{
	struct moment from = read_all(rc), to;
	struct run r;

	do {
		for (unsigned i = 0; i < BETWEEN; i++)
			__asm__ volatile("");
		to = read_all(rc);
		r.tsc = to.tsc - from.tsc;
		r.ref = (to.ref - from.ref) & rc->mask;
		r.apic = (to.apic - from.apic) & apic_clock.mask;
		r.error = from.width + to.width + r.tsc / (r.ref + 1);
	} while (r.ref < rc->hz / rc->run_div && r.error > r.tsc / exact);
	return r;
}

/*
 * Measure the TSC by the clock, and the APIC's timer by the TSC.  Several runs
 * are made if the error of one is large, or if the clock may have wrapped
 * unnoticed.  The lowest rate counts: a disturbance makes the TSC look faster.
 */
static struct run
measure(const struct refclock *rc, unsigned exact)
{
	struct run best = { .ref = 0 };

	for (unsigned i = 0; i < RUNS; i++) {
		struct run r = run_once(rc, exact);

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

/*
 * Hyper-V and what imitates it.  Microsoft, Hypervisor Top Level Functional
 * Specification, "Feature and Interface Discovery" (CPUID 40000001H,
 * 40000003H), "Partition Privilege Flags", "Timers".
 */
#define HV_INTERFACE       0x31237648 /* "Hv#1" */
#define HV_FREQUENCY_RIGHT (1U << 11) /* 40000003H:EAX */
#define HV_FREQUENCY_MSRS  (1U << 8)  /* 40000003H:EDX */

static bool
rate_by_hyperv(void)
{
	struct cpuid_regs r = cpuid(0x40000003, 0);
	uint64_t tsc, apic;

	if (cpuid(0x40000001, 0).a != HV_INTERFACE ||
	    (r.a & HV_FREQUENCY_RIGHT) == 0 || (r.d & HV_FREQUENCY_MSRS) == 0 ||
	    x86_rdmsr_safe(HV_X64_MSR_TSC_FREQUENCY, &tsc) != 0 || tsc == 0)
		return false;
	x86_rates.tsc_hz = tsc;
	if (x86_rdmsr_safe(HV_X64_MSR_APIC_FREQUENCY, &apic) == 0)
		x86_rates.apic_hz = apic;
	x86_rates.source = "MSR 40000022H";
	return true;
}

/* Intel TDX Module Base Architecture Specification, "CPUID Leaf 0x21". */
static bool
apic_is_virtual(void)
{
	bool tdx = cpuid(0x21, 0).b == 0x65746e49; /* "IntelTDX    " */

	return strcmp(x86_features.hypervisor, "TCGTCGTCGTCG") == 0 ||
	       (strcmp(x86_features.hypervisor, "KVMKVMKVM") == 0 && !tdx);
}

static void
take_rate(const struct refclock *rc, const struct run *r)
{
	x86_rates.tsc_hz = muldiv(r->tsc, rc->hz, r->ref);
	x86_rates.source = rc->name;
	x86_rates.error_ppm = r->error * 1000000 / r->tsc + 1;
}

/* Whether the rate that this run measured is not the present one. */
static bool
is_disputed(const struct refclock *rc, const struct run *r)
{
	uint64_t hz = muldiv(r->tsc, rc->hz, r->ref), is = x86_rates.tsc_hz;
	uint64_t off = hz > is ? hz - is : is - hz;

	return off > is / IN_STEP + muldiv(hz, r->error, r->tsc) +
	                 is / 1000000 * x86_rates.error_ppm;
}

/*
 * Check a rate that CPUID or a hypervisor states.  If a clock contradicts it,
 * the clock is believed: it ran next to this TSC.
 */
static void
check_stated(const struct refclock *rc)
{
	struct run r = measure(rc, ROUGH);

	x86_rates.witness = rc->name;
	if (!is_disputed(rc, &r))
		return;
	x86_rates.doubt_hz = x86_rates.tsc_hz;
	x86_rates.witness = x86_rates.source;
	r = measure(rc, EXACT);
	take_rate(rc, &r);
}

/* Measure by the first clock, and check by the second, of n. */
static struct run
rate_by_clock(const struct refclock *rc, unsigned n)
{
	struct moment from = read_all(&rc[n - 1]), to;
	struct run r = measure(rc, EXACT), second;

	take_rate(rc, &r);
	if (n == 1)
		return r;
	to = read_all(&rc[1]);
	second.tsc = to.tsc - from.tsc;
	second.ref = (to.ref - from.ref) & rc[1].mask;
	second.error = from.width + to.width + second.tsc / (second.ref + 1);
	/* The PIT wraps after 55 ms: a hypervisor may pause us so long. */
	if (second.ref == 0 ||
	    muldiv(second.tsc, rc[1].hz, x86_rates.tsc_hz) > rc[1].mask)
		return r;
	x86_rates.witness = rc[1].name;
	if (is_disputed(&rc[1], &second))
		x86_rates.doubt_hz = muldiv(second.tsc, rc[1].hz, second.ref);
	return r;
}

void
x86_rates_init(bool need_apic)
{
	struct refclock rc[REFCLOCKS];
	bool stated =
	    rate_by_crystal() || rate_by_hypervisor() || rate_by_hyperv();
	struct run r = { 0 };
	unsigned n;

	x86_apic_write(APIC_TIMER_INIT, 0xffffffff); /* masked, counting */
	if ((n = x86_refclock_find(rc)) == 0 && apic_is_virtual())
		rc[n++] = apic_clock;
	if (n == 0 && !stated && !rate_by_base_frequency())
		panic("cpu: the rate of the TSC is unknown: no CPUID leaf, "
		      "HPET, PM timer or PIT: give the machine one of them");
	if (n != 0 && stated)
		check_stated(&rc[0]);
	else if (n != 0)
		r = rate_by_clock(rc, n);
	/* If only the APIC's timer is unknown, its ticks pace the run. */
	if (need_apic && x86_rates.apic_hz == 0) {
		if (r.tsc == 0)
			r = measure(&apic_clock, EXACT);
		x86_rates.apic_hz = muldiv(r.apic, x86_rates.tsc_hz, r.tsc);
	}
	x86_apic_write(APIC_TIMER_INIT, 0);
}
