/*
 * vpmu --events: does each event count what it must?  Five loops bring known
 * numbers of events.  A rule has the bounds of an event in each loop.
 *
 * An emulator's kernel refuses the events that the emulator does not model, so
 * that these points skip.  An event that counts 0 in a loop that brings some is
 * stuck.
 */
#include "payloads/vpmu/vpmu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/cpc_error.h"
#include "payloads/common/usage.h"

#define BRIEF 1000 /* iterations */
#define LONG  41000
#define TURNS (LONG - BRIEF)

/* ARCH/loops.S */
void load_loop(uint64_t iterations);
void store_loop(uint64_t iterations);
void random_loop(uint64_t iterations);
void chase_loop(uint64_t iterations);
extern void *chase_place;

/*
 * Each iteration ends with a conditional branch that only the last one does not
 * take, and counts down by one instruction.  Before them
 * - spin has nothing,
 * - load and store have one load or store, always of the same place,
 * - random has no access to memory, and a branch that a random bit decides,
 * - chase loads the address of its next load.
 */
enum { SPIN, LOAD, STORE, RANDOM, CHASE, NLOOP };
static const struct {
	const char *name;
	void (*body)(uint64_t iterations);
} loops[NLOOP] = {
	{ "spin", spin_loop },
	{ "load", load_loop },
	{ "store", store_loop },
	{ "random", random_loop },
	{ "chase", chase_loop },
};

/*
 * Bounds, in sixteenths of an event for each iteration.  A few events around
 * a loop that do not repeat stay below one sixteenth.
 */
#define PART                16
#define ANY                 255
#define BOUNDS(least, most) ((least) | (most) << 8)
#define IS(n)               BOUNDS(PART *(n), PART *(n))
#define FROM(least)         BOUNDS(least, ANY)
#define NONE                BOUNDS(0, 0)
#define FEW                 BOUNDS(0, 1)
#define FREE                BOUNDS(0, ANY)

/*
 * Retired instructions, branches, loads and stores are architectural: the
 * bounds are exact.  The random loop retires one instruction more or less with
 * each outcome of its branch.
 *
 * No core retires more than 16 instructions in a cycle.
 *
 * No predictor knows a random bit.  Half of 40,000 branches are wrong, with a
 * standard deviation of 100; a fourth is beyond 100 deviations.  Two branches
 * of an iteration cannot be wrong more than twice.  The other loops are
 * predicted, but for their ends.
 *
 * The chase goes through CHASE_BYTES in an order that no prefetcher foresees.
 * An L1 cache has at most 192 KiB, so a step misses with a probability of 95 %.
 * Each step looks into the cache.  The other loops stay in one line.
 */
static const struct rule {
	const char *names; /* separated by blanks */
	uint16_t bounds[NLOOP];
} rules[] = {
	{ "PAPI_tot_ins inst_retired RETIRED_INSTRUCTIONS",
	    { IS(2), IS(3), IS(3), FREE, IS(3) } },
	{ "PAPI_tot_cyc cpu_cycles",
	    { FROM(2), FROM(3), FROM(3), FROM(6), FROM(3) } },
	{ "inst_spec", { FROM(2 * PART), FROM(3 * PART), FROM(3 * PART),
			   FROM(6 * PART), FROM(3 * PART) } },
	{ "PAPI_br_ins PAPI_br_cn br_retired RETIRED_BRANCH_INSTRUCTIONS "
	  "RETIRED_CONDITIONAL_BRANCH_INSTRUCTIONS BR_INST_RETIRED:COND",
	    { IS(1), IS(1), IS(1), IS(2), IS(1) } },
	{ "PAPI_br_tkn BR_INST_RETIRED:NEAR_TAKEN "
	  "RETIRED_TAKEN_BRANCH_INSTRUCTIONS",
	    { IS(1), IS(1), IS(1), BOUNDS(PART, 2 * PART), IS(1) } },
	{ "PAPI_br_msp br_mis_pred_retired BR_MISP_RETIRED:COND "
	  "RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED",
	    { FEW, FEW, FEW, BOUNDS(PART / 4, 2 * PART), FEW } },
	{ "PAPI_ld_ins ld_retired MEM_INST_RETIRED:ALL_LOADS "
	  "MEM_UOPS_RETIRED:ALL_LOADS",
	    { NONE, IS(1), NONE, NONE, IS(1) } },
	{ "PAPI_sr_ins st_retired MEM_INST_RETIRED:ALL_STORES "
	  "MEM_UOPS_RETIRED:ALL_STORES",
	    { NONE, NONE, IS(1), NONE, NONE } },
	{ "PAPI_lst_ins MEM_INST_RETIRED:ANY",
	    { NONE, IS(1), IS(1), NONE, IS(1) } },
	{ "mem_access", { FEW, FROM(PART), FROM(PART), FEW, FROM(PART) } },
	{ "PAPI_l1_dca l1d_cache", { FEW, FREE, FREE, FEW, FROM(PART) } },
	{ "PAPI_l1_dcm PAPI_l1_ldm l1d_cache_refill "
	  "MEM_LOAD_RETIRED:L1_MISS MEM_LOAD_UOPS_RETIRED:L1_MISS",
	    { FEW, FEW, FEW, FEW, FROM(PART / 2) } },
};
#define NRULE (sizeof rules / sizeof rules[0])

#define CHASE_BYTES (4 << 20)
#define LINE_BYTES  64
#define PLACES      (CHASE_BYTES / LINE_BYTES)

void *chase_place;

/*
 * Make one cycle of all places, in random order.
 * S. Sattolo, "An algorithm to generate a random cyclic permutation", 1986.
 */
static void
lay_out_chase(void)
{
	static const uint64_t seed = 0x2545f4914f6cdd1d;
	char(*place)[LINE_BYTES] =
	    fail_unless_room(aligned_alloc(LINE_BYTES, CHASE_BYTES));
	unsigned *next = fail_unless_room(calloc(PLACES, sizeof *next));
	uint64_t random = seed;

	for (unsigned i = 0; i < PLACES; i++)
		next[i] = i;
	for (unsigned i = PLACES - 1; i > 0; i--) {
		unsigned other, kept = next[i];

		random = random * 6364136223846793005 + 1442695040888963407;
		other = (unsigned)(random >> 32) % i;
		next[i] = next[other];
		next[other] = kept;
	}
	for (unsigned i = 0; i < PLACES; i++)
		*(void **)(void *)place[i] = place[next[i]];
	free(next);
	chase_place = place[0];
}

/* The count of the longer loop less that of the brief one: what repeats. */
static void
judge_loop(struct measure *m, unsigned loop, uint16_t bounds)
{
	const char *name = loops[loop].name;
	bool limited = bounds >> 8 != ANY;
	long long d = measure_least(m, loops[loop].body, LONG);
	long long least = (long long)TURNS * (bounds & 0xff) / PART;
	long long most = (long long)TURNS * (bounds >> 8) / PART;

	d -= measure_least(m, loops[loop].body, BRIEF);
	if (d == 0 && least > 0)
		point_fail("stuck: it counts 0 in %d iterations of %s, at "
			   "least %lld must come",
		    TURNS, name, least);
	else if (least > 0 ? d < least : limited && d < -most)
		point_fail("it counts %lld in %d iterations of %s, at least "
			   "%lld must come",
		    d, TURNS, name, least);
	else if (limited && d > most)
		point_fail("it counts %lld in %d iterations of %s, at most "
			   "%lld can come",
		    d, TURNS, name, most);
	else
		point_note("%s: %lld", name, d);
}

static void
judge_name(const char *name, const struct rule *ru)
{
	struct measure m;
	bool opened = measure_open_code(&m, ANY_PIC, name, 0, 0);

	if (!opened && cpc_error_subcode() == CPC_INVALID_EVENT)
		return; /* a name of other CPUs */
	report_begin("event", name);
	if (!opened) {
		point_skip("%s", measure_refusal());
	} else {
		for (unsigned loop = 0; loop < NLOOP; loop++)
			judge_loop(&m, loop, ru->bounds[loop]);
		measure_close(&m);
	}
	report_end();
}

/* The next of the names, or false. */
static bool
next_name(const char **names, char *name, size_t size)
{
	int n = (int)strcspn(*names, " ");

	snprintf(name, size, "%.*s", n, *names);
	*names += n + ((*names)[n] == ' ');
	return n > 0;
}

static bool
has_rule(const char *event)
{
	char name[64];

	for (size_t i = 0; i < NRULE; i++) {
		const char *names = rules[i].names;

		while (next_name(&names, name, sizeof name)) {
			if (strcmp(name, event) == 0)
				return true;
		}
	}
	return false;
}

/*
 * How many of the other events must come is not known.  But the loops take
 * less than 2^32 cycles here, and no event comes more than 2^12 times in one.
 */
#define MOST_OTHER (1LL << 44)

static struct {
	unsigned moved, still, refused;
} others;

static void
judge_other(void *, const char *event)
{
	struct measure m;

	if (has_rule(event))
		return;
	if (!measure_open_code(&m, ANY_PIC, event, 0, 0)) {
		others.refused++;
		return;
	}
	int64_t count = -(int64_t)measure_sample(&m, 0);
	for (unsigned loop = 0; loop < NLOOP; loop++)
		loops[loop].body(BRIEF);
	count += (int64_t)measure_sample(&m, 0);
	measure_close(&m);
	if (count < 0 || count > MOST_OTHER)
		point_fail("%s counts %lld in %d iterations of each loop",
		    event, (long long)count, BRIEF);
	else if (count == 0)
		others.still++;
	else
		others.moved++;
}

void
judge_offered(void)
{
	char name[64];

	lay_out_chase();
	for (size_t i = 0; i < NRULE; i++) {
		const char *names = rules[i].names;

		while (next_name(&names, name, sizeof name))
			judge_name(name, &rules[i]);
	}
	report_begin("event", "others");
	cpc_walk_events_all(vpmu.v_cpc, NULL, judge_other);
	point_note("%u events without a rule count something, %u nothing, %u "
		   "are refused",
	    others.moved, others.still, others.refused);
	report_end();
}
