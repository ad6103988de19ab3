/*
 * What the files of the PMUv3 backend share; included by them alone.
 */
#ifndef ARCH_ARM64_PMUV3_IMPL_H
#define ARCH_ARM64_PMUV3_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "kern/pcbe.h"

/* The shape of the PMU, alike on all CPUs. */
struct pmuv3 {
	unsigned pv_version; /* ID_AA64DFR0_EL1.PMUVer; 0: no PMUv3 */
	unsigned pv_nevent;  /* event counters: the PICs */
	unsigned pv_width;   /* bits of one: 32 or 64 */
	bool pv_owns_el2;    /* EL2 is ours: its events may be counted */
	uint64_t pv_pics;    /* bit n: PIC n exists */
	uint64_t pv_ceid[2]; /* PMCEID0_EL0, PMCEID1_EL0 */
};
extern struct pmuv3 pmuv3;

extern struct pcbe_ops pmuv3_pcbe_ops;

/*
 * Learn the shape and silence this CPU's PMU; only PMCCNTR_EL0 runs then.
 * Once per CPU, interrupts off.
 */
void pmuv3_pcbe_init(bool owns_el2);
bool pmuv3_has_event(unsigned number);

/* pmuv3_prove.c */
const char *pmuv3_pcbe_prove(unsigned pic);
/*
 * Does the overflow of PIC 0 raise its interrupt at once?  `pending` tells
 * whether an interrupt waits; the controller lets the PMU's through.
 */
bool pmuv3_prove_overflow(bool (*pending)(void));
/* What prove() counts, for the log: "inst_retired, exactly". */
const char *pmuv3_proof(void);

#endif /* ARCH_ARM64_PMUV3_IMPL_H */
