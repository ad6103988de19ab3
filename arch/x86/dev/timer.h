/* The clock and each CPU's one-shot timer.  Included by arch/x86/. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cpu;

/* The rates of the clocks.  tsc.c. */
struct x86_rates {
	uint64_t tsc_hz, apic_hz; /* apic_hz 0: not needed */
	const char *source;       /* where tsc_hz comes from */
	uint64_t error_ppm;       /* at most; 0: not measured */
	const char *witness;      /* who else knows the rate; NULL: no one */
	uint64_t doubt_hz;        /* its rate, if it differs; else 0 */
};
extern struct x86_rates x86_rates;

/*
 * tsc_sync.c.  The TSC of each CPU, compared with that of the boot CPU when it
 * starts.  If they differ, IA32_TSC_ADJUST makes them equal where it exists.
 */
extern struct x86_tsc {
	bool adjustable; /* IA32_TSC_ADJUST exists */
	int64_t adjust;  /* its value on the boot CPU, as firmware left it */
	bool unequal;    /* a TSC differs */
	bool unknown;    /* a CPU did not answer */
	uint64_t error;  /* in ticks: they differ by no more */
} x86_tsc;
void x86_tsc_init(void);
/* Name the CPU that x86_tsc_compare() will ask.  Call before it starts. */
void x86_tsc_expect(const struct cpu *c);
void x86_tsc_compare(struct cpu *c, bool arrived);
/* The part of the CPU that starts. */
void x86_tsc_answer(const struct cpu *self);

/* Find the rates, or panic.  need_apic: that of the APIC's timer, too. */
void x86_rates_init(bool need_apic);

/* Call once, on the boot CPU, after x86_apic_init(). */
void x86_timer_init(void);
/* Call on every other CPU. */
void x86_timer_init_cpu(void);
