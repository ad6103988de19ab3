/*
 * Models of CPUs for the software PMU, with the limits that the manual pages
 * describe.
 *
 * Pentium 4: a PIC counts an event through an ESCR that belongs to the event
 * and serves the PIC.  Intel SDM vol. 3B, "Performance Monitoring (Processors
 * Based on Intel NetBurst Microarchitecture)", the tables of counters and of
 * events.
 *
 * UltraSPARC: two PICs of 32 bits with one privilege filter.  An overflow does
 * not say which PIC it was.  UltraSPARC I & II User's Manual (802-7220),
 * "Performance Instrumentation".
 */
#include "events/pmu.h"
#include "kern/cpc/soft/soft_shape.h"

enum {
	NO_ESCR,
	CRU_ESCR0,
	CRU_ESCR1,
	CRU_ESCR2,
	CRU_ESCR3,
	FSB_ESCR0,
	FSB_ESCR1,
};

/* Counters 12, 13 and 16, and counters 14, 15 and 17. */
#define IQ_FIRST  (1U << 12 | 1U << 13 | 1U << 16)
#define IQ_SECOND (1U << 14 | 1U << 15 | 1U << 17)
/* Counters 0 and 1, and counters 2 and 3. */
#define BPU_FIRST  (1U << 0 | 1U << 1)
#define BPU_SECOND (1U << 2 | 1U << 3)

const struct soft_shape soft_model_shapes[] = {
	[SOFT_P4] = {
		.ns_model = SOFT_P4,
		.ns_pics = 18,
		.ns_width = 40,
		.ns_ovf = SOFT_OVF_PRECISE,
		.ns_shared = SOFT_SHARED_SIBLINGS,
		.ns_hv = true,
	},
	[SOFT_ULTRA] = {
		.ns_model = SOFT_ULTRA,
		.ns_pics = 2,
		.ns_width = 32,
		.ns_ovf = SOFT_OVF_IMPRECISE,
		.ns_shared = SOFT_SHARED_FILTER,
	},
};

/*
 * Instructions are not bogus (NBOGUSNTAG).  Branches are predicted and taken
 * (MMTP).  The CPU is always running.
 */
static const struct soft_model_event events[][SOFT_NALL] = {
	[SOFT_P4] = {
		[SOFT_INSTRUCTIONS] = { { IQ_FIRST, IQ_SECOND },
		    { CRU_ESCR0, CRU_ESCR1 }, 0xf, 0x1 },
		[SOFT_CYCLES] = { { BPU_FIRST, BPU_SECOND },
		    { FSB_ESCR0, FSB_ESCR1 }, 0x1, 0x1 },
		[SOFT_BRANCHES] = { { IQ_FIRST, IQ_SECOND },
		    { CRU_ESCR2, CRU_ESCR3 }, 0xf, 0x4 },
	},
	[SOFT_ULTRA] = {
		[SOFT_INSTRUCTIONS] = { { 0x3 }, { NO_ESCR }, 0, 0 },
		[SOFT_CYCLES] = { { 0x3 }, { NO_ESCR }, 0, 0 },
		[SOFT_EC_REF] = { { 0x1 }, { NO_ESCR }, 0, 0 },
		[SOFT_EC_HIT] = { { 0x2 }, { NO_ESCR }, 0, 0 },
	},
};

const struct soft_model_event *
soft_model_event(unsigned model, unsigned event)
{
	return &events[model][event];
}
