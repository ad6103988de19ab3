/*
 * The state of a CPU that moves its clock rate: what the registers say, what
 * moved, and how it is held still.  Included by arch/x86/.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct barecpc_interrupts; /* include/sys/barecpc.h */
struct text;               /* lib/text.h */

/* The registers that records have: state.c lists them. */
#define POWER_NREG  28
#define POWER_SAVED 8 /* registers that quiet= changes, at most */

struct x86_power {
	uint32_t xw_has;              /* bit i: register i exists */
	uint64_t xw_boot[POWER_NREG]; /* after quiet= */
	uint64_t xw_last[POWER_NREG]; /* settings, as last looked at */
	/* There are a thermal status, one of the package, APERF and MPERF. */
	bool xw_thermal, xw_package, xw_rate;
	uint64_t xw_changes;   /* of settings, found so far */
	uint64_t xw_throttles; /* logged by the thermal status */
	uint64_t xw_errors;    /* logged by machine-check banks */
	/* Registers that quiet= changed, with their values before. */
	unsigned xw_nsaved;
	struct {
		uint32_t msr;
		uint64_t bits, value;
	} xw_saved[POWER_SAVED];
};

/* state.c.  They act on the calling CPU, whose data pw is. */
/* Find out which registers exist, and note their values. */
void x86_power_init(struct x86_power *pw);
/* Note the settings again, after quiet= has changed them. */
void x86_power_settle(struct x86_power *pw);
/* Look for settings that something else changed. */
void x86_power_look(struct x86_power *pw);
/*
 * Append the members "power" and "mitigations", each if a register of it
 * exists, and a comma before it.
 */
void x86_power_describe(const struct x86_power *pw, struct text *t);
/*
 * The bits of MSR_MISC_FEATURE_CONTROL that turn this CPU's prefetchers off, or
 * 0 if its model is not known to have that register.
 */
uint64_t x86_power_prefetch_bits(void);
/* Does the CPU have MSR_PLATFORM_INFO and MSR_POWER_CTL? */
bool x86_power_has_ratios(void);
bool x86_power_is(const char *vendor);
bool x86_power_has_speedstep(void);
bool x86_power_has_pstates(void);
bool x86_power_has_prefetch_control(void);
/* Is the rate set by levels, of Intel's HWP or of AMD's CPPC? */
bool x86_power_uses_hwp(void);
bool x86_power_uses_cppc(void);
/* Does the model have AMD_INTERRUPT_PENDING's C1E, or AMD_CSTATE_CONFIG? */
bool x86_power_has_c1e(void);
bool x86_power_has_cc6(void);

/* strain.c.  Find out what can be watched, from now on. */
void x86_power_watch(struct x86_power *pw);
/* Fill in what the kernel does not know. */
void x86_power_strain(struct x86_power *pw, struct barecpc_interrupts *by);

/* quiet.c: arch_quiet() and arch_quiet_end() of kern/arch.h. */
bool x86_quiet(struct x86_power *pw, unsigned item, const char **said);
void x86_quiet_end(struct x86_power *pw);
