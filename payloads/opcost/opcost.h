/*
 * What the files of opcost share; included by them alone.
 */
#ifndef PAYLOADS_OPCOST_OPCOST_H
#define PAYLOADS_OPCOST_OPCOST_H

#include <libcpc.h>
#include <stdint.h>

/* payloads/ARCH/bench_clock.S: the counter that ticks once an instruction. */
uint64_t bench_clock(void);

/* What fn costs, a call of it not included: the least of some runs. */
int64_t bench_cost(void (*fn)(void));
/* A line of the table: the operation, requests of the set, and its cost. */
void bench_row(const char *what, int n, int64_t cost);
/*
 * From now on a line is of an operation beside so many of those, and does not
 * tell of requests.
 */
void bench_beside(const char *others, int many);
/*
 * What is done with a set of n requests, and by LWPs that have it bound: the
 * lines of that.
 */
void bench_counting(cpc_t *cpc, int n);

/* An empty window of <payload_window.h>. */
void bench_window(cpc_t *cpc);

/* A set of n requests for instructions of both privileges, or the end. */
cpc_set_t *bench_set(cpc_t *cpc, int n);
/* Bind it to the LWP, or end. */
void bench_bind(cpc_t *cpc, cpc_set_t *set);

/*
 * bench_switch.c: switches of LWPs, both with the set (NULL: neither), and
 * what the line calls it.
 */
void bench_switch(const char *what, cpc_t *cpc, cpc_set_t *set, int n);
/*
 * An LWP created and joined by one that has the set bound (NULL: none), which
 * the new one inherits, or not.
 */
void bench_create(cpc_t *cpc, cpc_set_t *set, int n);

/* bench_signal.c: signals, from their cause to the handler, and back. */
void bench_signals(void);

/*
 * bench_overflow.c: overflows of a counter, to the handler of SIGEMT, and
 * there and back, and those that nobody asked to hear of.
 */
void bench_overflows(cpc_t *cpc);

/*
 * bench_flat.c: what does not depend on how much else there is.  main()'s
 * result.
 */
int bench_flat(void);
/* bench_assign.c: which PIC counts which request, at worst.  The same. */
int bench_assign(void);

#endif /* PAYLOADS_OPCOST_OPCOST_H */
