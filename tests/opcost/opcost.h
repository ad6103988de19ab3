/* Functions that the files of opcost, which include this, share. */
#pragma once

#include <libcpc.h>
#include <stdint.h>

/* ARCH/clock.S: read the counter that ticks once for each instruction. */
uint64_t cost_clock(void);

/* The least cost of some runs of fn, without the call. */
int64_t cost_of(void (*fn)(void));
/* Print a line: the operation, the number of the set's requests, the cost. */
void cost_row(const char *what, int n, int64_t cost);
/* From now on, lines show kind and number of other objects. */
void cost_others(const char *others, int many);
/* Print the lines of a set of n requests, and of LWPs that have it. */
void cost_counting(cpc_t *cpc, int n);

/* Print the count of an empty window of <payload_window.h>. */
void cost_window(cpc_t *cpc);

/* A set of n requests for instructions of both privileges, or exit 1. */
cpc_set_t *cost_set(cpc_t *cpc, int n);
/* Bind the set to the LWP.  Exits 1 on failure. */
void cost_bind(cpc_t *cpc, cpc_set_t *set);

/* switch.c: print what a switch costs, as `what`, with the set or none. */
void cost_switch(const char *what, cpc_t *cpc, cpc_set_t *set, int n);
/* switch.c: print an LWP's creation and join, also with a set to inherit. */
void cost_create(cpc_t *cpc, cpc_set_t *set, int n);

/* signal.c: print the costs from a signal's cause to its handler, and back. */
void cost_signals(void);

/* overflow.c: print an overflow's costs: to, through, without a handler. */
void cost_overflows(cpc_t *cpc);

/* flatness.c: print costs that do not depend on others: main()'s result. */
int cost_flat(void);
/* assign.c: print the cost of the worst assignment.  Returns main()'s result.
 */
int cost_assign(void);
