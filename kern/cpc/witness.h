/*
 * The witness: a PIC of every CPU that nobody can bind, counts instructions
 * and never stops, to hold the counts of LWPs against.  Included by kern/.
 *
 * docs/design.md, "The witness", says what must add up.
 */
#ifndef KERN_CPC_WITNESS_H
#define KERN_CPC_WITNESS_H

#include <stdbool.h>
#include <stdint.h>

struct barecpc_witness;

/* There is one; without it the functions below do nothing. */
extern bool witness_on;

/*
 * Keep a PIC back that counts at the privileges `flags`, CPC_COUNT_*.  After
 * kcpc_init(), before any set is bound.  False, and said why, where this
 * machine cannot.
 */
bool witness_init(uint32_t flags);
/* Is there one, and does it count at one of these privileges? */
bool witness_counts(uint32_t flags);
/* It runs on this CPU, too; before the CPU's first LWP. */
void witness_cpu_init(void);

/* This CPU has nothing to do from now on; or it has. */
void witness_idle(bool idle);

/* What it and the LWPs counted, as of the last window of each CPU.  ENODEV. */
int witness_stat(struct barecpc_witness *bw);
/* Print the same.  False: the counts of LWPs and the witness's differ. */
bool witness_end(void);

#endif /* KERN_CPC_WITNESS_H */
