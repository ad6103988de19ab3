/*
 * Assigns PICs to requests by a bipartite matching: if an assignment exists,
 * it is found.
 *
 * Each request in turn takes its lowest free PIC.  If all PICs it can use are
 * taken, the holder of one moves, by the shortest chain of moves (an augmenting
 * path, found breadth first).  A search visits each taken PIC once and handles
 * the PICs of its holder as one mask.  So 32 requests need at most
 * 0 + 1 + ... + 31 visits, and none in the ordinary case.
 */
#include "kern/cpc/assign.h"

#include <stddef.h>

#include "kern/cpc/pcbe.h"

#define ALL_PICS ((1ULL << PCBE_MAXPIC) - 1)

struct matching {
	const uint64_t *m_can;
	int *m_pic;                   /* of each request that has one */
	uint8_t m_owner[PCBE_MAXPIC]; /* request of each PIC that is taken */
	uint8_t m_via[PCBE_MAXPIC];   /* in a search: the request to take it */
	uint64_t m_free;
	uint64_t m_met; /* PICs met by the search that failed */
};

/*
 * Request `req` moves to the free PIC.  The request that the search reached it
 * from moves to the PIC it leaves, and so on up to `first`.
 */
static void
move_holders(struct matching *m, unsigned first, unsigned req, unsigned pic)
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
 * Place request `first`: find the nearest holder that has a free PIC to move
 * to.  False if no holder has one.  At worst 15 instructions a PIC (gcc 12).
 */
static bool
place_request(struct matching *m, unsigned first)
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
	move_holders(
	    m, first, req, (unsigned)__builtin_ctzll(m->m_can[req] & free));
	return true;
}

/*
 * Each request takes its lowest free PIC.  Returns the requests that found
 * none (bit n: request n); for most sets that is 0, and the work is done.
 */
static uint64_t
take_free(unsigned n, const uint64_t *can, int *pic, uint64_t *freep)
{
	uint64_t free = ALL_PICS, left = 0;

	for (unsigned i = 0; i < n; i++) {
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

/*
 * The PICs that a failed search met, and the requests that hold them: these
 * requests can use these PICs and no others.
 */
static void
explain_failure(const struct matching *m, unsigned req, struct kcpc_short *why)
{
	why->ksh_pics = m->m_met;
	why->ksh_reqs = 1ULL << req;
	for (uint64_t pics = m->m_met; pics != 0; pics &= pics - 1)
		why->ksh_reqs |= 1ULL << m->m_owner[__builtin_ctzll(pics)];
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
	for (unsigned i = 0; i < n; i++) {
		if ((left >> i & 1) == 0)
			m.m_owner[pic[i]] = (uint8_t)i;
	}
	for (; left != 0; left &= left - 1) {
		unsigned req = (unsigned)__builtin_ctzll(left);

		if (!place_request(&m, req)) {
			if (why != NULL)
				explain_failure(&m, req, why);
			return false;
		}
	}
	return true;
}
