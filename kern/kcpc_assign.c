/*
 * Which PIC counts which request: a complete bipartite matching, so that
 * what can be bound is bound.
 *
 * Each request in turn takes its lowest free PIC, or, where all it could use
 * are taken, makes the holder of one move (Kuhn's augmenting paths).  At most
 * 32 requests of 32 PICs: the cost is that of a few thousand bit tests at
 * worst, and of one test a request in the ordinary case.
 */
#include "kern/kcpc_impl.h"

struct matching {
	const uint64_t *m_can;
	int m_owner[PCBE_MAXPIC]; /* request that has the PIC, or -1 */
	uint64_t m_free;          /* PICs without an owner */
	uint64_t m_seen;          /* PICs on the present path */
};

static bool
place(struct matching *m, int req)
{
	uint64_t can = m->m_can[req] & m->m_free;
	int pic;

	if (can != 0) {
		pic = __builtin_ctzll(can);
		m->m_free &= ~(1ULL << pic);
		m->m_owner[pic] = req;
		return true;
	}
	while ((can = m->m_can[req] & ~m->m_seen) != 0) {
		pic = __builtin_ctzll(can);
		m->m_seen |= 1ULL << pic;
		if (place(m, m->m_owner[pic])) {
			m->m_owner[pic] = req;
			return true;
		}
	}
	return false;
}

/* The ordinary case: nobody has to move.  False: somebody has. */
static bool
take_free(unsigned n, const uint64_t *can, int *pic)
{
	uint64_t free = (1ULL << PCBE_MAXPIC) - 1;
	unsigned i;

	for (i = 0; i < n; i++) {
		uint64_t may = can[i] & free;

		if (may == 0)
			return false;
		pic[i] = __builtin_ctzll(may);
		free &= ~(may & -may);
	}
	return true;
}

bool
kcpc_assign(unsigned n, const uint64_t *can, int *pic)
{
	struct matching m;
	unsigned i;

	if (take_free(n, can, pic))
		return true;
	m.m_can = can;
	m.m_free = (1ULL << PCBE_MAXPIC) - 1;
	for (i = 0; i < PCBE_MAXPIC; i++)
		m.m_owner[i] = -1;
	for (i = 0; i < n; i++) {
		m.m_seen = 0;
		if (!place(&m, (int)i))
			return false;
	}
	for (i = 0; i < PCBE_MAXPIC; i++) {
		if (m.m_owner[i] >= 0)
			pic[m.m_owner[i]] = (int)i;
	}
	return true;
}
