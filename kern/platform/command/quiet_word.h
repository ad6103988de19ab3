/* The word quiet= of the command line.  Included by kern/. */
#pragma once

/* Its items. */
enum {
	QUIET_FREQ,     /* fix the clock rate */
	QUIET_TURBO,    /* no rate above the base rate */
	QUIET_CSTATES,  /* no deeper sleep than HLT, and no lower rate in it */
	QUIET_PREFETCH, /* no prefetchers */
	QUIET_SMM,      /* counters stand still in SMM */
	QUIET_N
};
extern const char *const quiet_names[QUIET_N];

#define QUIET_ALL  ((1U << QUIET_N) - 1)
#define QUIET_NONE (1U << QUIET_N) /* asked for: no default */
