/*
 * Declarations that the files of the PMUv3 backend share.  Included by those
 * files only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kern/cpc/pcbe.h"

/* How the overflow of an event counter interrupts. */
enum pmuv3_overflow {
	PMUV3_NO_INTR, /* not at all */
	PMUV3_PLAIN,   /* as the architecture says */
	/*
	 * With a helper PIC only.  QEMU 7.2 checks for an overflow once, one
	 * count too early, but then checks all counters.  The helper counts
	 * the same event, starts with the same write, and is one count lower.
	 * So its check finds the overflow of the PIC it serves.
	 */
	PMUV3_PAIRED,
};

/*
 * The shape of the PMU: the PICs and events that all CPUs have, or those of one
 * core type have.
 */
struct pmuv3 {
	unsigned pv_version; /* ID_AA64DFR0_EL1.PMUVer; 0: no PMUv3 */
	unsigned pv_implementer, pv_part; /* MIDR_EL1's, of the boot CPU */
	bool pv_widths_differ; /* among CPUs: then no PIC is offered */
	bool pv_trapped;       /* an access is undefined, on some CPU */
	unsigned pv_nevent;    /* event counters: the PICs */
	unsigned pv_width;     /* bits of one: 32 or 64 */
	bool pv_owns_el2;      /* started at EL2: may count events there */
	enum pmuv3_overflow pv_overflow;
	uint64_t pv_pics;      /* bit n: PIC n exists, on some CPU */
	uint64_t pv_ceid[2];   /* PMCEID0_EL0, PMCEID1_EL0 */
	unsigned pv_threshold; /* bits of TH; 0: no PMUv3_TH */
	bool pv_edge;          /* PMUv3_EDGE */
	bool pv_freezes;       /* PMCR_EL0.FZO */
};
extern struct pmuv3 pmuv3;
/*
 * The events that an emulator counts, as bits of PMCEID0_EL0 and PMCEID1_EL0,
 * or NULL.  It may announce others, whose count stays 0.
 */
extern const uint64_t *pmuv3_counts;
/* core_type.c: the core types; of no use if pcbe_ntypes is 0. */
extern struct pmuv3 pmuv3_types[PCBE_MAXTYPE];

/* The shape that a set of this ps_type uses. */
static inline const struct pmuv3 *
pmuv3_shape(unsigned type)
{
	return type == 0 ? &pmuv3 : &pmuv3_types[type - 1];
}

extern struct pcbe_ops pmuv3_pcbe_ops;

/* Cut a value to the width of an event counter. */
static inline uint64_t
pmuv3_in_width(uint64_t v)
{
	return pmuv3.pv_width == 64 ? v : v & 0xffffffff;
}

/*
 * Read the shape of this CPU's PMU, then stop all but PMCCNTR_EL0.  Each CPU
 * calls this once, the boot CPU first, with interrupts off.
 */
void pmuv3_pcbe_init(bool owns_el2, uint64_t midr);
/* Remove from *all everything that this CPU lacks. */
void pmuv3_merge(struct pmuv3 *all, const struct pmuv3 *mine);
/* Bit n: requests may have attribute n. */
uint32_t pmuv3_attrs(const struct pmuv3 *pv);
/* core_type.c: this CPU, of this shape, is of the core type of its MIDR_EL1. */
void pmuv3_type_join(struct pmuv3 *mine, uint64_t midr);
/* Set how overflows interrupt, as the proof found.  On the boot CPU. */
void pmuv3_pcbe_overflow(enum pmuv3_overflow how);
/* Does PMCEID announce this event? */
bool pmuv3_has_event(unsigned number);

/*
 * proof.c: find out how the overflow of PIC 0 interrupts.  pending() returns
 * whether an interrupt is pending.  The controller must have the PMU's
 * interrupt enabled.  In emulation no interrupt comes late, so the wait for one
 * is short.
 */
void pmuv3_prove_overflow(bool (*pending)(void), bool emulated);
/* For the log: the count that is proved. */
const char *pmuv3_proof(void);

/*
 * pmuv3_spin.S.  Start the PICs of a PMCNTENSET_EL0 mask, run a loop, read
 * ISR_EL1, stop the PICs.  Exactly PMUV3_SPIN_INSNS(n) instructions retire
 * between the start and the read.  Returns whether an interrupt was pending.
 */
bool pmuv3_spin(uint64_t pics, uint64_t n);
#define PMUV3_SPIN_INSNS(n) (1 + PCBE_SPIN_INSNS * (uint64_t)(n))

/*
 * pmuv3_pics.S.  A set has at least one request.  Load the set's PICs, which
 * must be stopped, then start `pics`.
 */
void pmuv3_start(struct pcbe_set *set, uint64_t pics);
/* Fold the set's stopped PICs, none of which overflowed.  Returns 0. */
uint64_t pmuv3_fold(const struct pcbe_set *set);
/*
 * Fold the set's stopped PICs, and acknowledge the overflows of `pics`.
 * Returns those of `pics` that are requests' PICs.
 */
uint64_t pmuv3_fold_overflowed(const struct pcbe_set *set, uint64_t pics);
/* The operation sample() of kern/cpc/pcbe.h. */
bool pmuv3_sample(const struct pcbe_set *set, struct cpc_sample *s);
