/*
 * A PMU in software, of any shape a test asks for, and its backend.
 * Included by tests/host.
 */
#ifndef TESTS_LIB_HOST_FAKE_PCBE_H
#define TESTS_LIB_HOST_FAKE_PCBE_H

#include <stdbool.h>
#include <stdint.h>

#include "kern/cpc/pcbe.h"

struct fake_shape {
	unsigned npic;
	unsigned width;  /* bits of every counter */
	uint32_t caps;   /* PCBE_CAP_* */
	uint32_t broken; /* PICs whose proof fails */
	bool asymmetric; /* most events on some PICs only, see the table */
	bool imprecise;  /* an overflow does not tell which PIC */
	bool one_filter; /* all PICs share one privilege filter */
	bool no_raw;     /* raw codes cannot be encoded */
	bool no_hv;      /* CPC_COUNT_HV is refused */
	bool mute;       /* an overflow interrupts for notify only */
	bool helpers;    /* a notify request takes a spare PIC besides */
	bool keeps;      /* can keep PICs back */
	bool forgets;    /* a stop loses an event of every PIC but those */
	bool staggered;  /* a start takes an instruction for each PIC */
	bool shared;     /* by CPUs 1 and 2, which are siblings */
};

/* What a test changes before fake_boot(). */
extern struct fake_shape fake_shape;

/* What read_index() says of PIC 0. */
#define FAKE_READ_INDEX 0x100
extern const struct fake_shape fake_ordinary;
extern const struct pcbe_ops *fake_ops;

/*
 * Events.  One step is one instruction at one privilege: "instructions"
 * counts 1, "cycles" 3, "branches" 1 of every 4 (steps come in multiples).
 * On an asymmetric PMU "branches" is on PIC 0 alone, "cycles" on 0 and 1.
 * PAPI_tot_ins, PAPI_tot_cyc are instructions and cycles; raw code n <= 255
 * counts n.
 */
void fake_user(uint64_t steps);
void fake_system(uint64_t steps);

/* Power the PMUs up: every PIC stopped, with rubbish in it. */
void fake_pmu_reset(void);
/*
 * Of this CPU: PICs that run, the kept excepted, those programs could read,
 * what PIC n holds.
 */
uint32_t fake_pmu_running(void);
/* Does a PIC of any CPU run, the kept excepted? */
bool fake_pmu_any(void);
uint32_t fake_pmu_readable(void);
uint64_t fake_pmu_raw(unsigned pic);
/* How often configure() and free() succeeded; equal when nothing is bound. */
extern unsigned fake_configured, fake_freed;

#endif /* TESTS_LIB_HOST_FAKE_PCBE_H */
