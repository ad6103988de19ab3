/*
 * Compares the TSC of each CPU with that of the boot CPU, when it starts.
 *
 * The boot CPU reads its TSC, asks, and reads it again after the answer, which
 * is the other CPU's TSC.  That was read in between, so the difference to the
 * middle is known within half of that time.  The shortest of a few turns
 * counts.
 *
 * Intel SDM vol. 3B, "Time-Stamp Counter", "Time-Stamp Counter Adjustment".
 */
#include <stddef.h>

#include "arch/x86/cpuid.h"
#include "arch/x86/dev/timer.h"
#include "arch/x86/insn.h"
#include "arch/x86/msr.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"

#define TURNS          8
#define MOVES          3 /* a CPU that is paused is moved to a wrong place */
#define PATIENCE_PER_S 5 /* a turn takes at most 1/5 s */

struct x86_tsc x86_tsc;

/* The CPU that is asked has one writer for each member. */
static struct {
	const struct cpu *cpu;    /* who is asked; NULL: no CPU */
	uint64_t asked, answered; /* the number of the last question */
	int64_t shift;            /* move the TSC by it, then answer */
	uint64_t tsc;
	int64_t adjust;
} talk;

struct difference {
	int64_t ahead;  /* ticks of the other CPU */
	uint64_t width; /* between the two readings */
};

/* Not before the instructions that come before it: LFENCE waits for them. */
static uint64_t
tsc_now(void)
{
	lfence();
	return rdtsc();
}

void
x86_tsc_init(void)
{
	uint64_t v = 0;

	/* A hypervisor may announce the register and lack it. */
	x86_tsc.adjustable = FIELD(cpuid(7, 0).b, 1, 1) != 0 &&
	                     x86_rdmsr_safe(IA32_TSC_ADJUST, &v) == 0;
	x86_tsc.adjust = (int64_t)v;
	if (x86_tsc.adjust != 0)
		printf("cpu: IA32_TSC_ADJUST is %ld: firmware moved the TSC\n",
		    (long)x86_tsc.adjust);
}

void
x86_tsc_expect(const struct cpu *c)
{
	talk.shift = 0;
	__atomic_store_n(&talk.cpu, c, __ATOMIC_RELEASE);
}

/* The shortest turn counts.  False if the other CPU does not answer. */
static bool
ask(unsigned turns, int64_t shift, struct difference *best)
{
	best->width = ~0ULL;
	while (turns-- > 0) {
		uint64_t n = talk.asked + 1, from, width;

		talk.shift = shift;
		from = tsc_now();
		__atomic_store_n(&talk.asked, n, __ATOMIC_RELEASE);
		while (__atomic_load_n(&talk.answered, __ATOMIC_ACQUIRE) != n) {
			if (rdtsc() - from > arch_tick_hz() / PATIENCE_PER_S)
				return false;
			arch_relax();
		}
		width = tsc_now() - from;
		if (width < best->width)
			*best = (struct difference){
				(int64_t)(talk.tsc - from - width / 2), width
			};
	}
	return true;
}

static uint64_t
distance(const struct difference *d)
{
	return (uint64_t)(d->ahead < 0 ? -d->ahead : d->ahead);
}

static bool
is_ahead(const struct difference *d)
{
	return distance(d) > d->width / 2 + 1;
}

static void
report(const struct cpu *c, const struct difference *d, const char *fate)
{
	printf("cpu: the TSC of CPU %u is %ld ticks ahead, within %lu: %s\n",
	    c->c_id, (long)d->ahead, (unsigned long)(d->width / 2 + 1), fate);
}

static void
compare(struct cpu *c)
{
	struct difference d = { 0 };
	bool heard = ask(TURNS, 0, &d);

	if (heard && x86_tsc.adjustable && talk.adjust != x86_tsc.adjust)
		printf("cpu: IA32_TSC_ADJUST of CPU %u is %ld, not as on the "
		       "boot CPU\n",
		    c->c_id, (long)talk.adjust);
	for (unsigned i = 0;
	     i < MOVES && heard && is_ahead(&d) && x86_tsc.adjustable; i++) {
		report(c, &d, "IA32_TSC_ADJUST moves it");
		heard = ask(1, -d.ahead, &d) && ask(TURNS, 0, &d);
	}
	if (!heard)
		printf("cpu: the TSC of CPU %u is not compared: the CPU does "
		       "not answer\n",
		    c->c_id);
	else if (is_ahead(&d))
		report(c, &d, "do not let LWPs move between CPUs");
	c->c_skewed = !heard || (is_ahead(&d) && d.ahead > 0);
	x86_tsc.unknown |= !heard;
	x86_tsc.unequal |= heard && is_ahead(&d);
	if (heard && distance(&d) + d.width / 2 + 1 > x86_tsc.error)
		x86_tsc.error = distance(&d) + d.width / 2 + 1;
}

void
x86_tsc_compare(struct cpu *c, bool arrived)
{
	if (arrived)
		compare(c);
	x86_tsc_expect(NULL);
	if (c->c_id == ncpu - 1 && x86_tsc.error != 0 && !x86_tsc.unequal &&
	    !x86_tsc.unknown)
		printf("cpu: the TSCs are equal within %lu ticks\n",
		    (unsigned long)x86_tsc.error);
}

void
x86_tsc_answer(const struct cpu *self)
{
	uint64_t since = rdtsc(), seen = talk.answered, number, v = 0;

	if (x86_tsc.adjustable && x86_rdmsr_safe(IA32_TSC_ADJUST, &v) == 0)
		talk.adjust = (int64_t)v;
	while (__atomic_load_n(&talk.cpu, __ATOMIC_ACQUIRE) == self &&
	       rdtsc() - since < arch_tick_hz() / PATIENCE_PER_S) {
		number = __atomic_load_n(&talk.asked, __ATOMIC_ACQUIRE);
		if (number == seen) {
			/* arch_relax() would ask an unequal TSC for the run's
			 * deadline. */
			__builtin_ia32_pause();
			continue;
		}
		if (talk.shift != 0 && x86_rdmsr_safe(IA32_TSC_ADJUST, &v) == 0)
			x86_wrmsr_safe(
			    IA32_TSC_ADJUST, v + (uint64_t)talk.shift);
		talk.tsc = tsc_now();
		__atomic_store_n(
		    &talk.answered, seen = number, __ATOMIC_RELEASE);
		since = rdtsc();
	}
}
