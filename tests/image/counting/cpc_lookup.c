/*
 * What it takes to look a name up, in instructions: no name that a list of
 * any CPU's events has takes as many as 2,000, and one that says more, as all
 * its unit masks and modifiers, takes no more than its letters are many.
 *
 * The tables are those of all vendors the image has; the code is libcpc's,
 * called by the program, which counts itself.
 */
#include "events/machine.h"
#include "payloads/common/event_table.h"
#include "tests/lib/image/cpc_test.h"

#include <stdio.h>
#include <string.h>
#include <sys/cpc.h>

TEST_KEEPS(32);

#define TEXT  1024
#define BOUND 2000

/*
 * Of names in full, which go on: a modifier is 4 letters, as `:k=1`, of some
 * 40 instructions; a unit mask that the list has next is some 11 letters, and
 * compared, noted and summed up in some 80.  One that the list has not next is
 * searched, too, another 250, and there are four at most, for those that are
 * listed are mostly next to each other.
 */
#define ONCE   2300
#define LETTER 12
#define FULL   3600

/* A bound set of one request, between two samples of which names are found. */
static struct {
	cpc_t *cpc;
	cpc_set_t *set;
	cpc_buf_t *before, *after;
	uint64_t empty; /* what the samples count of themselves */
} meter;

static uint64_t
elapsed(void)
{
	uint64_t before = 0, after = 0;

	EXPECT_EQ(cpc_buf_get(meter.cpc, meter.before, 0, &before), 0);
	EXPECT_EQ(cpc_buf_get(meter.cpc, meter.after, 0, &after), 0);
	return after - before - meter.empty;
}

static bool
meter_start(cpc_t *cpc, uint_t flags)
{
	meter.cpc = cpc;
	meter.set = cpc_set_create(cpc);
	add_flags(cpc, meter.set, INS_EVENT, flags);
	meter.before = cpc_buf_create(cpc, meter.set);
	meter.after = cpc_buf_create(cpc, meter.set);
	meter.empty = 0;
	if (!EXPECT_EQ(cpc_bind_curlwp(cpc, meter.set, 0), 0))
		return false;
	/* The first of them looks at the page for the first time. */
	for (int round = 0; round < 2; round++) {
		cpc_set_sample(cpc, meter.set, meter.before);
		cpc_set_sample(cpc, meter.set, meter.after);
	}
	meter.empty = elapsed();
	return true;
}

/* The dearest of many lookups. */
struct dearest {
	uint64_t dear_count, dear_total;
	unsigned dear_names;
	unsigned dear_over; /* took more than they may */
	char dear_name[TEXT];
};

static void
note(struct dearest *d, const char *pmu, const char *name, uint64_t bound)
{
	uint64_t count = elapsed();

	d->dear_names++;
	d->dear_over += count >= bound;
	d->dear_total += count;
	if (count > d->dear_count) {
		d->dear_count = count;
		snprintf(
		    d->dear_name, sizeof d->dear_name, "%s::%s", pmu, name);
	}
}

static void
print(const struct dearest *d, const char *what)
{
	EXPECT(d->dear_names > 0);
	printf("# %s: %u names, %llu on average, at most %llu: %s\n", what,
	    d->dear_names, (unsigned long long)(d->dear_total / d->dear_names),
	    (unsigned long long)d->dear_count, d->dear_name);
}

static bool
look_up(struct dearest *d, const struct events *es, const char *name,
    uint64_t bound, struct event_spec *sp, struct event_code *ec)
{
	enum event_error err;

	cpc_set_sample(meter.cpc, meter.set, meter.before);
	err = events_parse_padded(es, name, EVENT_EITHER_CASE, sp);
	if (err == EVENT_OK)
		err = events_encode(es, sp, ec);
	cpc_set_sample(meter.cpc, meter.set, meter.after);
	note(d, es->es_pmu->ep_name, name, bound);
	return err == EVENT_OK;
}

static uint64_t
in_full_bound(const char *name)
{
	uint64_t bound = ONCE + LETTER * strlen(name);

	return bound < FULL ? bound : FULL;
}

/* As lists have it, and in full: all its unit masks, each modifier's value. */
CPC_TEST(no_name_takes_long)
{
	static struct dearest listed, full;
	struct event_spec sp;
	struct event_code ec;
	struct events es;
	char name[TEXT], *in_full;

	if (!meter_start(cpc, own_privilege()))
		return;
	for (unsigned n = 0;
	     (es = events_nth(names_tables(), n)).es_pmu != NULL; n++) {
		struct event_walk ew = { 0 };

		while (events_next(&es, &ew, ~0ULL, name, sizeof name)) {
			if (!EXPECT(
				look_up(&listed, &es, name, BOUND, &sp, &ec)))
				test_note("that was %s", name);
			events_canonical(&es, &sp, &ec, name, sizeof name);
			in_full = strstr(name, "::") + 2;
			look_up(&full, &es, in_full, in_full_bound(in_full),
			    &sp, &ec);
		}
	}
	print(&listed, "as listed");
	print(&full, "in full");
	EXPECT_EQ(listed.dear_over, 0);
	EXPECT_EQ(full.dear_over, 0);
}

CPC_TEST(no_preset_takes_long)
{
	static struct dearest presets;
	struct event_spec sp;
	struct event_code ec;
	struct events es;
	char name[TEXT];

	if (!meter_start(cpc, own_privilege()))
		return;
	for (unsigned n = 0;
	     (es = events_nth(names_tables(), n)).es_pmu != NULL; n++) {
		unsigned at = 0;

		while (events_next_preset(&es, &at, name, sizeof name)) {
			if (!EXPECT(
				look_up(&presets, &es, name, BOUND, &sp, &ec)))
				test_note("that was %s", name);
		}
	}
	print(&presets, "presets");
	EXPECT_EQ(presets.dear_over, 0);
}

static struct dearest requests;

/* A name of the table that this machine cannot count is refused. */
static void
ask(void *arg, const char *name)
{
	const struct machine *mc = machine_here();
	char padded[TEXT + EVENT_WORD] = "";
	struct cpc_event ev;
	cpc_t *cpc = arg;

	strcpy(padded, name);
	cpc_set_sample(cpc, meter.set, meter.before);
	machine_event(mc, padded, false, 0, &ev);
	cpc_set_sample(cpc, meter.set, meter.after);
	note(&requests, mc->mc_table.es_pmu != NULL ? names_cpu() : "none",
	    name, BOUND);
}

/*
 * What a request's name costs all in all: the machine's own names, and what
 * the PMU at hand makes of an event, come on top.  All names of this CPU's
 * table are asked for, those too that registers are lacking for here.
 */
CPC_TEST(the_library_finds_what_it_lists)
{
	struct event_walk ew = { 0 };
	struct events es;
	char name[TEXT];

	if (software_pmu)
		SKIP("a software PMU does not see the kernel");
	if (!meter_start(cpc, CPC_COUNT_USER | CPC_COUNT_SYSTEM))
		return;
	cpc_walk_events_all(cpc, cpc, ask);
	cpc_walk_generic_events_all(cpc, cpc, ask);
	if (names_cpu() == NULL)
		return;
	es = events_find(names_tables(), names_cpu());
	while (events_next(&es, &ew, ~0ULL, name, sizeof name))
		ask(cpc, name);
	print(&requests, "request");
	EXPECT_EQ(requests.dear_over, 0);
}

static struct dearest refused, suggested;

/* The name with a letter more, which no name ends in. */
static void
misspell(void *arg, const char *name)
{
	const struct machine *mc = machine_here();
	char wrong[TEXT + 1 + EVENT_WORD] = "", why[TEXT] = "";
	struct cpc_event ev;
	cpc_t *cpc = arg;
	bool known;

	snprintf(wrong, TEXT + 1, "%sQ", name);
	cpc_set_sample(cpc, meter.set, meter.before);
	known = machine_event(mc, wrong, false, 0, &ev);
	cpc_set_sample(cpc, meter.set, meter.after);
	EXPECT(!known);
	note(&refused, names_cpu(), name, UINT64_MAX);
	cpc_set_sample(cpc, meter.set, meter.before);
	machine_why(mc, wrong, why, sizeof why);
	cpc_set_sample(cpc, meter.set, meter.after);
	note(&suggested, names_cpu(), name, UINT64_MAX);
}

/*
 * To refuse a name is to have tried all that it may be.  What was meant is told
 * to who asks: each name there is is held against it, for people to read.
 */
CPC_TEST(a_name_that_is_none)
{
	if (software_pmu)
		SKIP("a software PMU does not see the kernel");
	if (!meter_start(cpc, CPC_COUNT_USER | CPC_COUNT_SYSTEM))
		return;
	cpc_walk_events_all(cpc, cpc, misspell);
	print(&refused, "refused");
	print(&suggested, "what was meant");
}
