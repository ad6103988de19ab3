/*
 * The witness: on every CPU, one PIC that cannot be bound counts instructions
 * and never stops, to check the counts of sets.  Included by kern/.
 *
 * docs/design.md, "The witness", says which counts must add up.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct barecpc_witness;

/* Is there a witness?  Without one, the functions below do nothing. */
extern bool witness_on;

/*
 * Keep back a PIC that counts at the privileges `flags`, CPC_COUNT_*.  Call
 * after kcpc_init(), before any set is bound.  If the machine cannot do it,
 * prints the reason and returns false.
 */
bool witness_init(uint32_t flags);
/* Is there a witness that counts at one of these privileges? */
bool witness_counts(uint32_t flags);
/* Start the witness on this CPU.  Call before the CPU's first LWP. */
void witness_cpu_init(void);

/* This CPU begins (true) or ends (false) to idle. */
void witness_idle(bool idle);

/*
 * Fill in the counts of the witness and of LWPs, as of each CPU's last window.
 * 0, or ENODEV without a witness.
 */
int witness_stat(struct barecpc_witness *bw);
/* Print these counts.  False: the counts of LWPs and the witness's differ. */
bool witness_end(void);
