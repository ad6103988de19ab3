/*
 * Numbers below a limit, given out and taken back in a few instructions
 * however many are in use.  Included by arch/.
 */
#ifndef KERN_MM_ID_POOL_H
#define KERN_MM_ID_POOL_H

#include <stdint.h>

#include "kern/platform/lock.h"

#define SLOTS_MAX 4096

/* { .sl_fresh = the first to be given out, .sl_limit = SLOTS_MAX or less } */
struct slots {
	struct spinlock sl_lock;
	unsigned sl_fresh; /* this and those behind it never were in use */
	unsigned sl_limit;
	unsigned sl_taken, sl_given; /* ever, of those that came back */
	uint16_t sl_back[SLOTS_MAX]; /* a ring of these */
};

/* One that is not in use, the longest unused of those that were; 0: none. */
unsigned slots_take(struct slots *sl);
void slots_give(struct slots *sl, unsigned slot);

#endif /* KERN_MM_ID_POOL_H */
