/*
 * A pool of small numbers, such as address space ids.  The free ones are in a
 * ring, because a search would slow down the creation of an LWP among many.
 */
#include "kern/mm/id_pool.h"

unsigned
id_pool_take(struct id_pool *sl)
{
	unsigned slot = 0;

	lock_acquire(&sl->id_lock);
	if (sl->id_fresh < sl->id_limit)
		slot = sl->id_fresh++;
	else if (sl->id_taken != sl->id_given)
		slot = sl->id_back[sl->id_taken++ % ID_POOL_MAX];
	lock_release(&sl->id_lock);
	return slot;
}

void
id_pool_give(struct id_pool *sl, unsigned slot)
{
	lock_acquire(&sl->id_lock);
	sl->id_back[sl->id_given++ % ID_POOL_MAX] = (uint16_t)slot;
	lock_release(&sl->id_lock);
}
