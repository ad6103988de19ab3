/*
 * The clock and each CPU's one-shot timer.  Included by arch/x86/.
 */
#ifndef ARCH_X86_DEV_TIMER_H
#define ARCH_X86_DEV_TIMER_H

#include <stdbool.h>
#include <stdint.h>

/* How fast the TSC is, and by what that is known.  tsc.c. */
struct x86_rates {
	uint64_t tsc_hz, apic_hz; /* apic_hz 0: not asked */
	const char *source;       /* of tsc_hz */
};
extern struct x86_rates x86_rates;

/*
 * Find the rates; panics where nothing tells them.  need_apic: the APIC's
 * timer is the one that will be used.
 */
void x86_rates_init(bool need_apic);

/* Once, on the boot CPU, after x86_apic_init(); then on every CPU. */
void x86_timer_init(void);
void x86_timer_init_cpu(void);

#endif /* ARCH_X86_DEV_TIMER_H */
