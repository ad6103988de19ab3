/*
 * The shape of the software PMU, from the command line's `pmu=software,...`.
 * Included by kern/ and tests/host.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "events/pmu.h"

enum soft_ovf {
	SOFT_OVF_NONE,      /* no overflow interrupts */
	SOFT_OVF_IMPRECISE, /* the PMU does not say which PIC it was */
	SOFT_OVF_PRECISE,
};

/* How often the PMI of an overflow comes. */
enum soft_pmi {
	SOFT_PMI_ONCE,
	SOFT_PMI_TWICE,
	SOFT_PMI_NEVER,
};

enum soft_shared {
	SOFT_SHARED_NO,
	SOFT_SHARED_FILTER,   /* all PICs share one privilege filter */
	SOFT_SHARED_SIBLINGS, /* CPUs 2n and 2n + 1 share one PMU */
};

/* Fields of one type, which one table parses.  In a mask, bit n is PIC n. */
struct soft_shape {
	unsigned ns_model; /* enum soft_model */
	unsigned ns_pics;
	unsigned ns_fixed; /* how many of these are fixed; the last */
	unsigned ns_width; /* bits of every counter */
	unsigned ns_ovf;   /* enum soft_ovf */
	unsigned ns_skid;  /* instructions from an overflow to its interrupt */
	/* the same, and nothing takes back the interrupt: it may be too late */
	unsigned ns_late;
	unsigned ns_pmi;     /* enum soft_pmi */
	unsigned ns_nmi;     /* bool: an overflow of ps_nmi_pics stops all */
	unsigned ns_mute;    /* PICs that interrupt for notify requests only */
	unsigned ns_helpers; /* bool: a notify request needs a helper PIC */
	unsigned ns_broken;  /* PICs that do not count */
	unsigned ns_shared;  /* enum soft_shared */
	unsigned ns_keeps;   /* bool: a PIC can be kept back, for witness= */
	unsigned ns_forgets; /* bool: a stop loses an event of each PIC */
	unsigned ns_staggered; /* bool: a start takes an instruction per PIC */
	unsigned ns_papi;      /* bool: PAPI_ names for what it counts */
	unsigned ns_raw;       /* bool: codes 0 to 255 */
	unsigned ns_hv;        /* bool: CPC_COUNT_HV is taken */
	/* the PICs that can count instructions, cycles, branches */
	unsigned ns_event[SOFT_NEVENT];
	/*
	 * The PICs of the upper half of the CPUs, and their masks of events.
	 * The halves are core types then.  0: all CPUs are alike.
	 */
	unsigned ns_pics2, ns_event2[SOFT_NEVENT];
};

extern const struct soft_shape soft_shape_default;

/*
 * An event of a model.  It has up to two registers that select it (ESCRs), of
 * which each serves some PICs.  The event counts if its mask (the attribute
 * emask) has one of the bits fv_counted.
 */
struct soft_model_event {
	uint32_t fv_pics[2];
	uint8_t fv_escr[2]; /* 0: the event needs none */
	uint32_t fv_emask;  /* the bits that its mask may have */
	uint32_t fv_counted;
};

/* soft_model.c: the shapes of models, and one of their events. */
extern const struct soft_shape soft_model_shapes[];
const struct soft_model_event *soft_model_event(unsigned model, unsigned event);

/* Set *ns from `software[,KEY=VALUE]...`, or return what is wrong with it. */
const char *soft_shape_parse(const char *word, struct soft_shape *ns);
