/*
 * The clock and each CPU's one-shot timer.  Included by arch/x86/.
 */
#ifndef ARCH_X86_DEV_TIMER_H
#define ARCH_X86_DEV_TIMER_H

#include <stdbool.h>
#include <stdint.h>

/* The rates of the clocks.  tsc.c. */
struct x86_rates {
	uint64_t tsc_hz, apic_hz; /* apic_hz 0: not needed */
	const char *source;       /* where tsc_hz comes from */
	uint64_t error_ppm;       /* at most; 0: not measured */
};
extern struct x86_rates x86_rates;

/*
 * Find the rates, or panic.  With need_apic, also find the rate of the APIC's
 * timer.
 */
void x86_rates_init(bool need_apic);

/* Call once, on the boot CPU, after x86_apic_init(). */
void x86_timer_init(void);
/* Call on every other CPU. */
void x86_timer_init_cpu(void);

#endif /* ARCH_X86_DEV_TIMER_H */
