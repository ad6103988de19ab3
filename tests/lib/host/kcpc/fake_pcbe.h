/* A PMU in software, of any shape, and its backend.  For tests/host. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kern/cpc/pcbe.h"

struct fake_shape {
	unsigned npic;
	unsigned width;  /* of every counter */
	uint32_t caps;   /* CPC_CAP_* */
	uint32_t broken; /* PICs whose proof fails */
	bool asymmetric; /* most events are on some PICs only, see below */
	bool imprecise;  /* an overflow does not say which PIC */
	bool one_filter; /* all PICs share one privilege filter */
	bool no_raw;     /* raw codes cannot be encoded */
	bool no_hv;      /* CPC_COUNT_HV is refused */
	bool mute;       /* only a notify request interrupts at overflow */
	bool helpers;    /* a notify request takes a helper PIC */
	bool keeps;      /* the backend can keep PICs */
	/* a stop loses an event of every PIC that is not kept */
	bool forgets;
	bool staggered; /* a start takes one instruction per PIC */
	bool leaks;     /* CPU 0 counts what other CPUs retire, too */
	bool shared;    /* CPUs 1 and 2 are siblings and share their PICs */
	/*
	 * CPU 2 has another PMU with so many PICs: core type soft_atom.  It
	 * counts "cycles" on PIC 0 only.  CPUs 0 and 1 are soft_core, and do
	 * not count "branches".
	 */
	unsigned npic2;
};

/* A test changes this before fake_boot(). */
extern struct fake_shape fake_shape;

/* The result of read_index() for PIC 0. */
#define FAKE_READ_INDEX 0x100
extern const struct fake_shape fake_ordinary;
extern const struct pcbe_ops *fake_ops;

/*
 * Events.  One step is one instruction at one privilege.  A step adds 1 to
 * "instructions" and 3 to "cycles".  Four steps add 1 to "branches", so tests
 * run multiples of four.
 *
 * An asymmetric PMU counts "branches" on PIC 0 only, and "cycles" on PICs 0
 * and 1.  PAPI_tot_ins and PAPI_tot_cyc are instructions and cycles.  Raw code
 * n, at most 255, adds n.
 */
void fake_user(uint64_t steps);
void fake_system(uint64_t steps);

/* Power the PMUs up: every PIC is stopped and holds an arbitrary value. */
void fake_pmu_reset(void);
/* The PICs of this CPU that run, without those that are kept. */
uint32_t fake_pmu_running(void);
/* Does any CPU have a PIC that runs and is not kept? */
bool fake_pmu_any(void);
uint32_t fake_pmu_readable(void);
uint64_t fake_pmu_raw(unsigned pic);
