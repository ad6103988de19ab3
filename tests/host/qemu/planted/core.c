/* The planted machine's caches, ports and places give what closed forms say. */
#include "tests/lib/host/test.h"

#include "qemu/planted/cache.h"

#include <string.h>

enum { WAYS = 4, SETS = 8, LINE = 64, ROUNDS = 2000, MANY = 1000 };

/* Misses of walks over the lines of a set, one after the other */
static unsigned
misses(enum planted_policy policy, const char *qlru, unsigned lines)
{
	struct planted_geometry g = { WAYS * SETS * LINE, WAYS, LINE, 1, policy,
		{ 0 } };
	struct cache c = { 0 };
	unsigned missed = 0;

	for (unsigned i = 0; i < sizeof g.qlru; i++)
		g.qlru[i] = qlru[i] - '0';
	cache_init(&c, &g, 0, 1);
	for (unsigned n = 0; n < ROUNDS * lines; n++)
		missed +=
		    !cache_access(&c, (uint64_t)(n % lines) * SETS * LINE);
	cache_free(&c);
	return missed;
}

/*
 * As many lines as ways miss once each.  One more: LRU and FIFO replace the
 * line that comes next.  The tree replaces 0 and 2, way 1 hits, and then 3, 0,
 * 2 and 1 come in turn.  QLRU with M3 fills ages of 3, so it replaces way 0
 * only: two misses in each walk but the first.  A random victim is one of the
 * next WAYS lines: one access in (WAYS + 1) / 2 misses, and five deviations are
 * allowed.
 */
TEST(walks_over_a_set)
{
	unsigned all = ROUNDS * (WAYS + 1);

	for (unsigned policy = 0; policy < PLANTED_POLICIES; policy++)
		assert_int_equal(misses(policy, "11100", WAYS), WAYS);
	assert_int_equal(misses(PLANTED_LRU, "00000", WAYS + 1), all);
	assert_int_equal(misses(PLANTED_FIFO, "00000", WAYS + 1), all);
	assert_int_equal(misses(PLANTED_PLRU, "00000", WAYS + 1), all - 1);
	assert_int_equal(misses(PLANTED_QLRU, "00310", WAYS + 1),
	    WAYS + 1 + 2 * (ROUNDS - 1));
	assert_in_range(misses(PLANTED_RANDOM, "00000", WAYS + 1),
	    all * 2 / (WAYS + 1) - 150, all * 2 / (WAYS + 1) + 150);
}

/* A machine on which fetching costs nothing */
static struct planted_machine
plain(void)
{
	struct planted_geometry g = { 1 << 20, 4, LINE, 1, PLANTED_LRU, { 0 } };
	struct planted_geometry tlb = { 64, 4, 1, 0, PLANTED_LRU, { 0 } };
	struct planted_machine m = { .name = "plain",
		.mhz = 1000,
		.width = 4,
		.ports = 4,
		.l1d = g,
		.l1i = g,
		.l2 = g,
		.llc = g,
		.dtlb = tlb,
		.itlb = tlb,
		.memory = 1,
		.entries = 64,
		.penalty = 10 };

	for (unsigned i = 0; i < PLANTED_CLASSES; i++)
		m.work[i] = (struct planted_work){ 1, 1, 15, 1 };
	return m;
}

static uint64_t
run(const struct planted_machine *m, const struct planted_form *f, unsigned n)
{
	const char *why;
	struct planted *p = planted_new(m, &why);
	struct planted_step s = { .form = f, .size = 4 };
	uint64_t cycles = 0;

	while (n-- > 0)
		cycles += planted_step(p, 0, &s);
	planted_free(p);
	return cycles;
}

TEST(ports_and_width)
{
	struct planted_machine m = plain();
	struct planted_form alu = { .work = PLANTED_ALU };
	struct planted_form nop = { .no_work = true };
	struct planted_form chain = {
		.work = PLANTED_MUL, .reads = 1, .writes = 1
	};
	struct planted_cost own = { "own", { 7, 1, 1, 3 } };

	assert_int_equal(run(&m, &alu, MANY), MANY / 4);
	/* The first retire in cycle 0. */
	assert_int_equal(run(&m, &nop, MANY), MANY / 4 - 1);
	m.work[PLANTED_ALU].ports = 6;
	assert_int_equal(run(&m, &alu, MANY), MANY / 2);
	m.work[PLANTED_ALU] = (struct planted_work){ 20, 6, 8, 1 };
	assert_int_equal(run(&m, &alu, MANY), (MANY - 1) * 6 + 20);
	m.work[PLANTED_MUL].latency = 5;
	assert_int_equal(run(&m, &chain, MANY), MANY * 5);
	/* Three micro-ops on one port, the last of which takes 7 */
	m.costs = &own;
	m.cost_count = 1;
	alu.work = PLANTED_CLASSES;
	assert_int_equal(run(&m, &alu, MANY), (3 * MANY - 1) + 7);
	/* Eliminated: no port */
	own.work = (struct planted_work){ 0, 1, 0, 1 };
	assert_int_equal(run(&m, &alu, MANY), MANY / 4 - 1);
}

/* A table of as many lines would not end. */
TEST(too_many_lines)
{
	struct planted_machine m = plain();
	const char *why;

	m.dtlb.size = 1ULL << 31;
	assert_null(planted_new(&m, &why));
	assert_non_null(strstr(why, "2^26 lines"));
}

static uint64_t
total(struct planted *p, enum planted_event e)
{
	return *planted_total(p, 0, e);
}

/* Loads of each line in turn: the prefetcher brings each second one. */
TEST(next_line)
{
	struct planted_machine m = plain();
	struct planted_form load = { .moves_only = true };
	struct planted_step s = { .form = &load,
		.size = 4,
		.accesses = 1,
		.access = { { 0, 8, false } } };
	const char *why;

	m.next_line = true;
	for (unsigned on = 0; on < 2; on++) {
		struct planted *p = planted_new(&m, &why);

		planted_prefetch(p, 0, on);
		for (unsigned n = 0; n < MANY; n++) {
			s.access[0].address = n * LINE;
			planted_step(p, 0, &s);
		}
		assert_int_equal(
		    total(p, PLANTED_L1D_MISS), on ? MANY / 2 : MANY);
		planted_free(p);
	}
}

/* Each place of each cycle is a micro-op's, or a cause left it empty. */
TEST(places)
{
	struct planted_machine m = plain();
	struct planted_form form[] = { { .work = PLANTED_ALU },
		{ .work = PLANTED_BRANCH, .conditional = true },
		{ .moves_only = true, .writes = 1 },
		{ .work = PLANTED_DIV, .reads = 1, .writes = 1 },
		{ .work = PLANTED_ALU, .waits = true } };
	uint64_t random = 1;
	const char *why;

	m.memory = 90;
	m.itlb.latency = 13;
	m.work[PLANTED_DIV].latency = 25;
	struct planted *p = planted_new(&m, &why);

	for (unsigned n = 0; n < 100 * MANY; n++) {
		struct planted_step s = { .size = 4 };

		random = random * 6364136223846793005 + 1442695040888963407;
		s.form = &form[random >> 40 & 3];
		if (n % MANY == MANY - 1)
			s.form = &form[4];
		s.fetch = s.pc = random >> 44 & 0x7fffff;
		s.taken = random >> 63;
		s.accesses = s.form == &form[2];
		s.access[0] = (struct planted_access){ random >> 44, 8, n & 1 };
		planted_step(p, 0, &s);
		if (s.form->waits) {
			assert_int_equal(total(p, PLANTED_UOPS) +
					     total(p, PLANTED_SLOTS_BAD) +
					     total(p, PLANTED_SLOTS_FRONTEND) +
					     total(p, PLANTED_SLOTS_BACKEND),
			    m.width * total(p, PLANTED_CYCLES));
		}
	}
	planted_free(p);
}
