/*
 * Functions that the files of opcost share.  Only those files include this.
 */
#ifndef TESTS_OPCOST_OPCOST_H
#define TESTS_OPCOST_OPCOST_H

#include <libcpc.h>
#include <stdint.h>

/* ARCH/clock.S: read the counter that ticks once for each instruction. */
uint64_t cost_clock(void);

/* The least cost of some runs of fn, without the call. */
int64_t cost_of(void (*fn)(void));
/* Print a line: the operation, the number of the set's requests, the cost. */
void cost_row(const char *what, int n, int64_t cost);
/*
 * From now on, lines show the kind and number of other objects instead of the
 * number of requests.
 */
void cost_others(const char *others, int many);
/*
 * Print the lines of operations on a set of n requests, and of LWPs that have
 * it bound.
 */
void cost_counting(cpc_t *cpc, int n);

/* Print the count of an empty window of <payload_window.h>. */
void cost_window(cpc_t *cpc);

/*
 * Make a set of n requests for instructions of both privileges.  Exits 1 on
 * failure.
 */
cpc_set_t *cost_set(cpc_t *cpc, int n);
/* Bind the set to the LWP.  Exits 1 on failure. */
void cost_bind(cpc_t *cpc, cpc_set_t *set);

/*
 * switch.c: print the cost of a switch between two LWPs, as a line named
 * `what`.  Both LWPs have the set bound, or none if it is NULL.
 */
void cost_switch(const char *what, cpc_t *cpc, cpc_set_t *set, int n);
/*
 * switch.c: print the cost of creating and joining an LWP.  If set is not
 * NULL, also with the set bound, which the new LWP inherits.
 */
void cost_create(cpc_t *cpc, cpc_set_t *set, int n);

/* signal.c: print the costs from a signal's cause to its handler, and back. */
void cost_signals(void);

/*
 * overflow.c: print the costs of an overflow: to the handler of SIGEMT, to the
 * handler and back, and without notification.
 */
void cost_overflows(cpc_t *cpc);

/*
 * flatness.c: print costs that must not depend on the number of other objects.
 * Returns main()'s result.
 */
int cost_flat(void);
/* assign.c: print the cost of the worst assignment.  Returns main()'s result.
 */
int cost_assign(void);

#endif /* TESTS_OPCOST_OPCOST_H */
