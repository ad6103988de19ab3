/*
 * A complete bipartite matching, so that what can be bound is bound.
 *
 * Each request in turn takes its lowest free PIC, or, where all it could use
 * are taken, the holder of one moves, by the shortest chain of moves there is
 * (an augmenting path, found breadth first).  A search looks once at each PIC
 * that is taken, and at the PICs of its holder all at once, as a mask: at
 * most 0 + 1 + ... + 31 looks for 32 requests, and one a request in the
 * ordinary case.
 */
#include "kern/cpc/assign.h"

#include <stddef.h>

#include "kern/cpc/pcbe.h"

#define ALL_PICS ((1ULL << PCBE_MAXPIC) - 1)

struct matching {
	const uint64_t *m_can;
	int *m_pic;                   /* of each request that has one */
	uint8_t m_owner[PCBE_MAXPIC]; /* request of each PIC that is taken */
	uint8_t m_via[PCBE_MAXPIC];   /* in a search: who would take the PIC */
	uint64_t m_free;
	uint64_t m_met; /* PICs met by the search that failed */
};

/* A request moves to a free PIC, and who led to it moves where it was. */
static void
shift(struct matching *m, unsigned first, unsigned req, unsigned pic)
{
	unsigned was;

	m->m_free &= ~(1ULL << pic);
	while (req != first) {
		was = (unsigned)m->m_pic[req];
		m->m_owner[pic] = (uint8_t)req;
		m->m_pic[req] = (int)pic;
		pic = was;
		req = m->m_via[pic];
	}
	m->m_owner[pic] = (uint8_t)req;
	m->m_pic[req] = (int)pic;
}

/*
 * Find the first in line of a chain of holders that has a free PIC to move
 * to.  This is what a bind costs at worst: 15 instructions a PIC (gcc 12).
 */
static bool
place(struct matching *m, unsigned first)
{
	uint64_t met = 0, todo = 0, new;
	const uint64_t free = m->m_free;
	unsigned req = first;

	while ((m->m_can[req] & free) == 0) {
		new = m->m_can[req] & ~met;
		met |= new;
		todo |= new;
		for (; new != 0; new &= new - 1)
			m->m_via[__builtin_ctzll(new)] = (uint8_t)req;
		if (todo == 0) {
			m->m_met = met;
			return false;
		}
		req = m->m_owner[__builtin_ctzll(todo)];
		todo &= todo - 1;
	}
	shift(m, first, req, (unsigned)__builtin_ctzll(m->m_can[req] & free));
	return true;
}

/*
 * Each takes its lowest free PIC.  Those that found none, bit n: the nth: of
 * most sets no one, and there is nothing else to be done.
 */
static uint64_t
take_free(unsigned n, const uint64_t *can, int *pic, uint64_t *freep)
{
	uint64_t free = ALL_PICS, left = 0;
	unsigned i;

	for (i = 0; i < n; i++) {
		uint64_t may = can[i] & free;

		if (may == 0) {
			left |= 1ULL << i;
			continue;
		}
		pic[i] = __builtin_ctzll(may);
		free ^= may & -may;
	}
	*freep = free;
	return left;
}

static void
note_owners(struct matching *m, unsigned n, uint64_t left)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		if ((left >> i & 1) == 0)
			m->m_owner[m->m_pic[i]] = (uint8_t)i;
	}
}

/* Whom a search that failed has met: they have those PICs and no others. */
static void
explain(const struct matching *m, unsigned req, struct kcpc_short *why)
{
	uint64_t pics;

	why->ks_pics = m->m_met;
	why->ks_reqs = 1ULL << req;
	for (pics = m->m_met; pics != 0; pics &= pics - 1)
		why->ks_reqs |= 1ULL << m->m_owner[__builtin_ctzll(pics)];
}

bool
kcpc_assign(unsigned n, const uint64_t *can, int *pic, struct kcpc_short *why)
{
	struct matching m;
	uint64_t left;

	if ((left = take_free(n, can, pic, &m.m_free)) == 0)
		return true;
	m.m_can = can;
	m.m_pic = pic;
	note_owners(&m, n, left);
	for (; left != 0; left &= left - 1) {
		unsigned req = (unsigned)__builtin_ctzll(left);

		if (!place(&m, req)) {
			if (why != NULL)
				explain(&m, req, why);
			return false;
		}
	}
	return true;
}
