#include "kern/mm/id_pool.h"

unsigned
slots_take(struct slots *sl)
{
	unsigned slot = 0;

	lock_acquire(&sl->sl_lock);
	if (sl->sl_fresh < sl->sl_limit)
		slot = sl->sl_fresh++;
	else if (sl->sl_taken != sl->sl_given)
		slot = sl->sl_back[sl->sl_taken++ % SLOTS_MAX];
	lock_release(&sl->sl_lock);
	return slot;
}

void
slots_give(struct slots *sl, unsigned slot)
{
	lock_acquire(&sl->sl_lock);
	sl->sl_back[sl->sl_given++ % SLOTS_MAX] = (uint16_t)slot;
	lock_release(&sl->sl_lock);
}
