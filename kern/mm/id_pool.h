/*
 * Numbers below a limit, given out and taken back in a few instructions
 * however many are in use.  Included by arch/.
 */
#ifndef KERN_MM_ID_POOL_H
#define KERN_MM_ID_POOL_H

#include <stdint.h>

#include "kern/platform/lock.h"

#define ID_POOL_MAX 4096

/* { .id_fresh = the first to be given out, .id_limit = ID_POOL_MAX or less } */
struct id_pool {
	struct spinlock id_lock;
	unsigned id_fresh; /* this and those behind it never were in use */
	unsigned id_limit;
	unsigned id_taken, id_given;   /* ever, of those that came back */
	uint16_t id_back[ID_POOL_MAX]; /* a ring of these */
};

/* One that is not in use, the longest unused of those that were; 0: none. */
unsigned id_pool_take(struct id_pool *sl);
void id_pool_give(struct id_pool *sl, unsigned slot);

#endif /* KERN_MM_ID_POOL_H */
