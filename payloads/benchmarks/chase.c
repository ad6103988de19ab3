/*
 * chase: dependent loads.  Every load yields the address of the next.  So the
 * time of an iteration is the latency of the cache or memory that holds the
 * nodes.
 *
 *	chase [options] [bytes...]
 *
 * The nodes are one cache line each and form one random cycle, which no stride
 * prefetcher can follow.  One iteration is one load; a run goes round the cycle
 * once.  S. Sattolo, "An algorithm to generate a random cyclic permutation",
 * 1986.
 */
#include <bench.h>
#include <errno.h>
#include <payload.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/usage.h"

#define LINE 64 /* bytes; a larger line only makes neighbours cheaper */

struct node {
	struct node *n_next;
	uint64_t n_seen; /* how often is_one_cycle() met the node */
	char n_pad[LINE - sizeof(struct node *) - sizeof(uint64_t)];
};

struct chase {
	struct node *c_nodes;
	size_t c_n;
	struct node *c_end; /* where the last run ended */
};

static void
chase_body(struct chase *c)
{
	struct node *p = c->c_nodes;

	for (size_t i = 0; i < c->c_n; i++)
		p = p->n_next;
	c->c_end = p;
}

/* In a cycle of n nodes, n steps lead to the start.  Checks and resets. */
static bool
chase_verify(void *arg)
{
	struct chase *c = arg;
	bool home = c->c_end == c->c_nodes;

	c->c_end = NULL;
	return home;
}

/*
 * The same sequence on every machine: a 64-bit linear congruential generator
 * with the multiplier and increment of D. E. Knuth's MMIX.
 */
static uint64_t
next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return *state >> 33;
}

static void
make_cycle(struct chase *c)
{
	size_t *order = fail_unless_room(calloc(c->c_n, sizeof *order));
	uint64_t state = 1;
	size_t i, j, t;

	for (i = 0; i < c->c_n; i++)
		order[i] = i;
	for (i = c->c_n - 1; i > 0; i--) {
		j = next_random(&state) %
		    i; /* less than i: one cycle results */
		t = order[i];
		order[i] = order[j];
		order[j] = t;
	}
	for (i = 0; i < c->c_n; i++)
		c->c_nodes[i].n_next = &c->c_nodes[order[i]];
	free(order);
}

/* Are the nodes one cycle?  Every one is met once before the first again. */
static bool
is_one_cycle(struct chase *c)
{
	struct node *p = c->c_nodes;

	for (size_t i = 0; i < c->c_n; i++) {
		if (p->n_seen++ != 0)
			return false;
		p = p->n_next;
	}
	return p == c->c_nodes;
}

BENCH(chase)
{
	struct chase c = { .c_n = (size_t)bench_arg(b, 0) / LINE };

	if ((c.c_nodes = payload_contig(c.c_n * LINE)) == NULL)
		fail(1, "%zu nodes: %s", c.c_n, strerror(errno));
	make_cycle(&c);
	if (!is_one_cycle(&c))
		fail(1, "the permutation is not one cycle");
	bench_verify(b, chase_verify, &c);
	BENCH_LOOP(b)
		chase_body(&c);
	bench_set_items(b, c.c_n);
	payload_contig_free(c.c_nodes, c.c_n * LINE);
}
BENCH_ARG(chase, 4 << 10, 64 << 10, 1 << 20)
BENCH_LIMITS(chase, 0, "bytes", 2 * LINE, 1 << 30)
BENCH_MAIN(chase)
