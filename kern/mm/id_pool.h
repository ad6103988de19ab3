/*
 * A pool of small numbers, such as address space ids.  Taking and giving back
 * cost a few instructions, however many are in use.  Included by arch/.
 */
#ifndef KERN_MM_ID_POOL_H
#define KERN_MM_ID_POOL_H

#include <stdint.h>

#include "kern/platform/lock.h"

#define ID_POOL_MAX 4096

/* Initialize .id_fresh to the first number, .id_limit to ID_POOL_MAX or less.
 */
struct id_pool {
	struct spinlock id_lock;
	unsigned id_fresh; /* this number and all above were never in use */
	unsigned id_limit;
	unsigned id_taken, id_given;   /* positions in id_back, ever growing */
	uint16_t id_back[ID_POOL_MAX]; /* ring of numbers given back */
};

/*
 * Returns a number that was never in use, or else the one that was given back
 * first.  Returns 0 if all are in use.
 */
unsigned id_pool_take(struct id_pool *sl);
void id_pool_give(struct id_pool *sl, unsigned slot);

#endif /* KERN_MM_ID_POOL_H */
