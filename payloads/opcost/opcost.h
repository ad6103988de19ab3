/*
 * Functions that the files of opcost share.  Only they include it.
 */
#ifndef PAYLOADS_OPCOST_OPCOST_H
#define PAYLOADS_OPCOST_OPCOST_H

#include <libcpc.h>
#include <stdint.h>

/* ARCH/clock.S: the counter that ticks once an instruction. */
uint64_t bench_clock(void);

/* The cost of fn without the call: the least of some runs. */
int64_t bench_cost(void (*fn)(void));
/* A line of the table: the operation, requests of the set, and its cost. */
void bench_row(const char *what, int n, int64_t cost);
/*
 * From now on lines name the kind and number of other objects instead of the
 * number of requests.
 */
void bench_beside(const char *others, int many);
/*
 * Print the lines of operations on a set of n requests, and of LWPs that have
 * it bound.
 */
void bench_counting(cpc_t *cpc, int n);

/* An empty window of <payload_window.h>. */
void bench_window(cpc_t *cpc);

/* A set of n requests for instructions of both privileges, or the end. */
cpc_set_t *bench_set(cpc_t *cpc, int n);
/* Bind it to the LWP, or end. */
void bench_bind(cpc_t *cpc, cpc_set_t *set);

/*
 * switch.c: switches of LWPs, both with the set (NULL: neither), and
 * what the line calls it.
 */
void bench_switch(const char *what, cpc_t *cpc, cpc_set_t *set, int n);
/*
 * An LWP created and joined by one that has the set bound (NULL: none), which
 * the new one inherits, or not.
 */
void bench_create(cpc_t *cpc, cpc_set_t *set, int n);

/* signal.c: signals, from their cause to the handler, and back. */
void bench_signals(void);

/*
 * overflow.c: overflows of a counter: to the handler of SIGEMT, to the handler
 * and back, and without notification.
 */
void bench_overflows(cpc_t *cpc);

/*
 * flatness.c: costs that must not depend on the number of other objects.
 * Returns main()'s result.
 */
int bench_flat(void);
/* assign.c: the worst assignment of PICs.  Returns main()'s result. */
int bench_assign(void);

#endif /* PAYLOADS_OPCOST_OPCOST_H */
