/*
 * What the files of the PMUv3 backend share; included by them alone.
 */
#ifndef ARCH_ARM64_PMU_PMUV3_IMPL_H
#define ARCH_ARM64_PMU_PMUV3_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "kern/cpc/pcbe.h"

/* How the overflow of an event counter interrupts. */
enum pmuv3_overflow {
	PMUV3_MUTE,  /* not at all */
	PMUV3_PLAIN, /* as the architecture says */
	/*
	 * Only while a helper, a second counter of the same event and filter,
	 * runs one count behind and was started by the same write: QEMU 7.2
	 * looks for the overflow one count early and never again, but looks
	 * at all counters when it does.
	 */
	PMUV3_PAIRED,
};

/* The shape of the PMU: what all CPUs have. */
struct pmuv3 {
	unsigned pv_version; /* ID_AA64DFR0_EL1.PMUVer; 0: no PMUv3 */
	unsigned pv_implementer, pv_part; /* MIDR_EL1's, of the boot CPU */
	bool pv_unlike;         /* CPUs differ so much that none is offered */
	unsigned pv_nevent;     /* event counters: the PICs */
	unsigned pv_width;      /* bits of one: 32 or 64 */
	bool pv_owns_el2;       /* EL2 is ours: its events may be counted */
	bool pv_announced_only; /* an emulator: PMCEID lists what it models */
	enum pmuv3_overflow pv_overflow;
	uint64_t pv_pics;    /* bit n: PIC n exists */
	uint64_t pv_ceid[2]; /* PMCEID0_EL0, PMCEID1_EL0 */
};
extern struct pmuv3 pmuv3;

extern struct pcbe_ops pmuv3_pcbe_ops;

/* What an event counter holds of a 64-bit value. */
static inline uint64_t
pmuv3_in_width(uint64_t v)
{
	return pmuv3.pv_width == 64 ? v : v & 0xffffffff;
}

/*
 * Learn the shape and silence this CPU's PMU; only PMCCNTR_EL0 runs then.
 * Once per CPU, interrupts off, the boot CPU first.
 */
void pmuv3_pcbe_init(bool owns_el2);
/* Offer overflow interrupts as they were found to come; on the boot CPU. */
void pmuv3_pcbe_overflow(enum pmuv3_overflow how);
bool pmuv3_has_event(unsigned number);

/* pmuv3_prove.c */
const char *pmuv3_pcbe_prove(unsigned pic);
/*
 * How does the overflow of PIC 0 raise its interrupt?  `pending` tells
 * whether an interrupt waits; the controller lets the PMU's through.
 */
enum pmuv3_overflow pmuv3_prove_overflow(bool (*pending)(void));
/* For the log: what prove() counts, and what prove_overflow() found. */
const char *pmuv3_proof(void);
const char *pmuv3_overflow_proof(void);

/*
 * pmuv3_spin.S.  Start the PICs of a PMCNTENSET_EL0 mask, run a loop, look at
 * ISR_EL1, stop them.  Exactly PMUV3_SPIN_INSNS(n) instructions retire
 * between start and look.  Returns whether an interrupt was pending.
 */
bool pmuv3_spin(uint64_t pics, uint64_t n);
#define PMUV3_LOOP_INSNS    2 /* of one iteration */
#define PMUV3_SPIN_INSNS(n) (1 + PMUV3_LOOP_INSNS * (uint64_t)(n))

/*
 * pmuv3_pics.S, for sets of one request and more.  Load their PICs, which are
 * stopped, then start these.
 */
void pmuv3_start(struct pcbe_set *set, uint64_t pics);
/* Bring the counts up to what the stopped PICs hold; none overflowed.  0. */
uint64_t pmuv3_fold(const struct pcbe_set *set);
/* The same where these overflowed.  They are acknowledged; the set's of them.
 */
uint64_t pmuv3_fold_told(const struct pcbe_set *set, uint64_t told);
/* sample() of kern/cpc/pcbe.h, behind an ISB. */
bool pmuv3_sample(const struct pcbe_set *set, struct cpc_sample *s);

#endif /* ARCH_ARM64_PMU_PMUV3_IMPL_H */
