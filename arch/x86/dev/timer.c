/* Each CPU's timer: the APIC's one-shot timer, or the TSC deadline. */
#include "arch/x86/dev/timer.h"

#include "arch/x86/cpuid.h"
#include "arch/x86/dev/apic.h"
#include "arch/x86/insn.h"
#include "arch/x86/msr.h"
#include "kern/arch.h"
#include "lib/printf.h"

/* APIC timer ticks for one TSC tick, with 32 fraction bits. */
static uint64_t apic_per_tsc;

/*
 * The longest wait that the timer takes.  For a longer wait it interrupts
 * early, and kern/sched/timer.c sets it again.
 */
#define WAIT_MAX 0xffffffffULL

void
x86_timer_init(void)
{
	bool deadline = x86_features.tsc_deadline;

	x86_rates_init(!deadline);
	if (!deadline)
		apic_per_tsc =
		    muldiv(x86_rates.apic_hz, 1ULL << 32, x86_rates.tsc_hz);
	printf("cpu: TSC %lu Hz by %s", x86_rates.tsc_hz, x86_rates.source);
	if (x86_rates.error_ppm != 0)
		printf(", within %lu ppm", x86_rates.error_ppm);
	printf("%s, ",
	    x86_features.invariant_tsc ? "" : " (not marked invariant)");
	if (x86_rates.witness == NULL)
		printf("not checked by another clock, ");
	else
		printf("%s %s, ", x86_rates.witness,
		    x86_rates.doubt_hz != 0 ? "differs" : "agrees");
	printf("timer by %s\n", deadline ? "TSC deadline" : "APIC one-shot");
	if (x86_rates.doubt_hz != 0)
		printf("cpu: the TSC's rate is in doubt: %s says %lu Hz: "
		       "correct the firmware\n",
		    x86_rates.witness, x86_rates.doubt_hz);
	x86_tsc_init();
	x86_timer_init_cpu();
}

/*
 * In xAPIC mode the store to the LVT must complete before the deadline is
 * written, so MFENCE comes between them.  A WRMSR that does not serialize also
 * needs LFENCE to wait for the store.
 * Intel SDM vol. 3A, "TSC-Deadline Mode", "MSR Access in x2APIC Mode".
 */
void
x86_timer_init_cpu(void)
{
	if (x86_features.tsc_deadline) {
		x86_apic_write(APIC_LVT_TIMER, APIC_TIMER_TSC | VEC_TIMER);
		__asm__ volatile("mfence; lfence" : : : "memory");
	} else {
		x86_apic_write(APIC_LVT_TIMER, VEC_TIMER);
	}
	arch_timer_set(~0ULL);
}

uint64_t
arch_tick_hz(void)
{
	return x86_rates.tsc_hz;
}

/* APIC timer ticks until `tick`, rounded up, at least one. */
static uint32_t
apic_ticks(uint64_t tick)
{
	uint64_t now = rdtsc(), wait, n;

	if (tick <= now)
		return 1;
	wait = tick - now;
	if (wait > WAIT_MAX)
		wait = WAIT_MAX;
	n = (uint64_t)(((unsigned __int128)wait * apic_per_tsc) >> 32) + 1;
	return n < WAIT_MAX ? (uint32_t)n : (uint32_t)WAIT_MAX;
}

void
arch_timer_set(uint64_t tick)
{
	bool never = tick == ~0ULL;

	/* A deadline of 0 disarms the timer; 1 is as far in the past. */
	if (x86_features.tsc_deadline)
		wrmsr(IA32_TSC_DEADLINE, never ? 0 : tick != 0 ? tick : 1);
	else
		x86_apic_write(APIC_TIMER_INIT, never ? 0 : apic_ticks(tick));
}
