/*
 * Which PIC counts which request.  Included by kern/kcpc*.c, by tests/host,
 * and by payloads/tools/fits.c, which asks for CPUs it is not on.
 */
#ifndef KERN_CPC_ASSIGN_H
#define KERN_CPC_ASSIGN_H

#include <stdbool.h>
#include <stdint.h>

/* Requests that have fewer PICs between them than they are, bit n: the nth. */
struct kcpc_short {
	uint64_t ks_reqs, ks_pics;
};

/*
 * Give each of n requests, up to PCBE_MAXPIC, a PIC of its own out of can[i],
 * the lowest where there is a choice for it alone.  False where it cannot be,
 * and *why, unless that is NULL, are requests that cannot be bound together.
 */
bool kcpc_assign(
    unsigned n, const uint64_t *can, int *pic, struct kcpc_short *why);

#endif /* KERN_CPC_ASSIGN_H */
