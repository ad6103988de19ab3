/*
 * The assignment of requests to PICs.  Included by kern/cpc/, by tests/host,
 * and by payloads/tools/fits.c, which computes it for other CPUs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Requests that together can use fewer PICs than there are requests.  Bit n:
 * request n, PIC n.
 */
struct kcpc_short {
	uint64_t ksh_reqs, ksh_pics;
};

/*
 * Set pic[i] to a PIC out of can[i] for each of n requests, at most
 * PCBE_MAXPIC, no PIC twice.  A request that need not move for another one has
 * its lowest free PIC.  Returns false if there is no such assignment; *why
 * then has requests that cannot be bound together.  `why` may be NULL.
 */
bool kcpc_assign(
    unsigned n, const uint64_t *can, int *pic, struct kcpc_short *why);
