/*
 * `opcost assign`: the cost of a bind with as many requests as PICs.  Either
 * each request can be on any PIC, or the requests compete for PICs.  No event
 * name has masks like these, but a program may pass any.  So the requests go
 * to the system call directly, not through libcpc.
 *
 * The worst masks are not known.  A search starts from random masks and keeps
 * each of STEPS changes that makes the bind more expensive.
 */
#include "tests/opcost/opcost.h"

#include <stdio.h>
#include <string.h>
#include <sys/cpc.h>

#include "events/machine.h"
#include "payloads/common/usage.h"

#define SET   1 /* the set's number: libcpc has made no set */
#define STEPS 20000

static struct {
	struct cpc_pack head;
	struct cpc_packreq req[CPC_PAGE_REQS];
} pack;
static unsigned nreq;
static uint32_t pics; /* that count instructions */

/* A number less than n, by Marsaglia's xorshift: the same in every run. */
static unsigned
random_below(unsigned n)
{
	static uint64_t seed = 0x9e3779b97f4a7c15;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed % n);
}

/* Make as many requests as PICs count instructions, each on any such PIC. */
static void
make_pack(void)
{
	struct cpc_event ev;
	const struct machine *mc = machine_here();

	if (mc == NULL || !machine_name(mc, "PAPI_tot_ins", &ev))
		fail(1, "PAPI_tot_ins: this machine does not count it");
	pics = ev.ce_pics;
	nreq = (unsigned)__builtin_popcount(pics);
	pack.head.cp_set = SET;
	pack.head.cp_nreqs = nreq;
	for (unsigned i = 0; i < nreq; i++) {
		pack.req[i].cr_event = ev;
		pack.req[i].cr_flags = CPC_COUNT_USER;
		pack.req[i].cr_picnum = -1;
	}
}

/* Draw masks that can be assigned: each has another PIC, and random others. */
static void
draw_masks(void)
{
	uint32_t left = pics;

	for (unsigned i = 0; i < nreq; i++) {
		uint32_t own;

		do
			own = 1U << random_below(32);
		while ((left & own) == 0);
		left &= ~own;
		pack.req[i].cr_event.ce_pics =
		    (own | (random_below(~0U) & random_below(~0U))) & pics;
	}
}

/* The cost of the bind alone, or 0 if it is refused. */
static int64_t
bind_cost(void)
{
	struct cpc_refusal rf;
	intptr_t r;

	int64_t empty = (int64_t)cost_clock();
	empty = (int64_t)cost_clock() - empty;
	int64_t t = (int64_t)cost_clock();
	r = cpc_syscall(CPC_OP_BIND, (uintptr_t)&pack, SET, 0, (uintptr_t)&rf);
	t = (int64_t)cost_clock() - t;
	if (r != 0)
		return 0;
	cpc_syscall(CPC_OP_RELE, SET, 0, 0, 0);
	return t - empty;
}

/* Change masks: swap or copy one, set a run of bits, or flip one bit. */
static void
change_mask(void)
{
	uint32_t *a = &pack.req[random_below(nreq)].cr_event.ce_pics;
	uint32_t *b = &pack.req[random_below(nreq)].cr_event.ce_pics;
	uint32_t was = *a;

	switch (random_below(4)) {
	case 0:
		*a = *b;
		*b = was;
		break;
	case 1:
		*a = *b;
		break;
	case 2:
		*a = (~0U << random_below(32)) & (~0U >> random_below(32)) &
		     pics;
		break;
	default:
		*a ^= 1U << random_below(32) & pics;
		break;
	}
}

/* Search for expensive masks: keep changes that do not make the bind cheaper.
 */
static int64_t
find_worst(void)
{
	struct cpc_packreq were[CPC_PAGE_REQS];
	int64_t worst, cost;

	draw_masks();
	worst = bind_cost();
	for (unsigned step = 0; step < STEPS; step++) {
		memcpy(were, pack.req, sizeof were);
		for (unsigned n = 1 + random_below(3); n > 0; n--)
			change_mask();
		if ((cost = bind_cost()) >= worst)
			worst = cost;
		else
			memcpy(pack.req, were, sizeof were);
	}
	return worst;
}

int
cost_assign(void)
{
	make_pack();
	printf("%-19s %2s %6s\n", "operation", "n", "cost");
	bind_cost(); /* the first bind of a program costs more */
	cost_row("bind, any PIC", (int)nreq, bind_cost());
	cost_row("bind, worst masks", (int)nreq, find_worst());
	return 0;
}
