/*
 * The cost of a name's lookup, in instructions.  A listed name of any CPU
 * costs fewer than BOUND.  A name in full, with all unit masks and modifiers,
 * costs at most an amount in proportion to its length.
 *
 * The tables are those of all vendors that the image has.  The program calls
 * libcpc's code and counts itself.
 */
#include "events/machine.h"
#include "payloads/common/target.h"
#include "tests/lib/image/cpc_test.h"

#include <stdio.h>
#include <string.h>
#include <sys/cpc.h>

TEST_KEEPS(32);

#define TEXT  1024
#define BOUND 2000
/* Also among 7 architectural and some 45 events of an emulator's list. */
#define REQUEST_BOUND (BOUND + 400)

/*
 * The bound for names in full.  A modifier such as `:k=1` has at least 4
 * letters and costs some 40 instructions.  A unit mask that comes next in the
 * list has some 11 letters and costs some 80.  Any other unit mask is searched
 * for, which costs another 250.  At most four unit masks of a name are
 * searched for.
 */
#define ONCE   2600
#define LETTER 12
#define FULL   4000

/* A bound set of one request.  The lookup runs between two samples. */
static struct {
	cpc_t *cpc;
	cpc_set_t *set;
	cpc_buf_t *before, *after;
	uint64_t empty; /* the two samples' own count */
} meter;

static uint64_t
metered_count(void)
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
	/* The first sample asks for the counter page: the second counts. */
	for (int round = 0; round < 2; round++) {
		cpc_set_sample(cpc, meter.set, meter.before);
		cpc_set_sample(cpc, meter.set, meter.after);
	}
	meter.empty = metered_count();
	return true;
}

/* The costs of many lookups, and the most expensive name. */
struct lookup_costs {
	uint64_t max_count, total_count;
	unsigned names;
	unsigned over_bound; /* names that reached their bound */
	char max_name[32 + TEXT];
};

static void
note_cost(
    struct lookup_costs *lc, const char *pmu, const char *name, uint64_t bound)
{
	uint64_t count = metered_count();

	lc->names++;
	lc->over_bound += count >= bound;
	lc->total_count += count;
	if (count > lc->max_count) {
		lc->max_count = count;
		snprintf(
		    lc->max_name, sizeof lc->max_name, "%s::%s", pmu, name);
	}
}

static void
print_costs(const struct lookup_costs *lc, const char *what)
{
	EXPECT(lc->names > 0);
	printf("# %s: %u names, %llu on average, at most %llu: %s\n", what,
	    lc->names, (unsigned long long)(lc->total_count / lc->names),
	    (unsigned long long)lc->max_count, lc->max_name);
}

static bool
look_up(struct lookup_costs *lc, const struct events *es, const char *name,
    uint64_t bound, struct event_spec *sp, struct event_code *ec)
{
	enum event_error err;

	cpc_set_sample(meter.cpc, meter.set, meter.before);
	err = events_parse_padded(es, name, EVENT_EITHER_CASE, sp);
	if (err == EVENT_OK)
		err = events_encode(es, sp, ec);
	cpc_set_sample(meter.cpc, meter.set, meter.after);
	note_cost(lc, es->es_pmu->ep_name, name, bound);
	return err == EVENT_OK;
}

static uint64_t
full_name_bound(const char *name)
{
	uint64_t bound = ONCE + LETTER * strlen(name);

	return bound < FULL ? bound : FULL;
}

/*
 * The bound for a raw code's PICs.  A table has up to 133 rows, of which one or
 * a few have the code's event.  Knights Landing's OFFCORE_RESPONSE has 299 unit
 * masks of two codes, some 50 instructions each.
 */
#define RAW 16000

/* The code of a name, as a raw one; its PICs are among those of all names. */
static void
find_raw_pics(struct lookup_costs *lc, const struct events *es,
    const char *name, const struct event_code *ec)
{
	struct event_code raw = { .ec_select = ec->ec_select,
		.ec_pics = UINT32_MAX };

	cpc_set_sample(meter.cpc, meter.set, meter.before);
	events_raw_pics(es, &raw);
	cpc_set_sample(meter.cpc, meter.set, meter.after);
	note_cost(lc, es->es_pmu->ep_name, name, RAW);
	if (!EXPECT((ec->ec_pics & ~raw.ec_pics) == 0))
		test_note("event: %s", name);
}

/* Each name as listed, and in full, with all unit masks and modifiers. */
CPC_TEST(no_name_takes_long)
{
	static struct lookup_costs listed, full, raw;
	struct event_spec sp;
	struct event_code ec;
	struct events es;
	char name[TEXT], *in_full;

	if (!meter_start(cpc, own_privilege()))
		return;
	for (unsigned n = 0;
	     (es = events_nth(target_tables(), n)).es_pmu != NULL; n++) {
		struct event_walk ew = { 0 };

		while (events_next(&es, &ew, ~0ULL, name, sizeof name)) {
			if (!EXPECT(
				look_up(&listed, &es, name, BOUND, &sp, &ec)))
				test_note("event: %s", name);
			if (es.es_pmu->ep_kind == EVENT_INTEL)
				find_raw_pics(&raw, &es, name, &ec);
			events_canonical(&es, &sp, &ec, name, sizeof name);
			in_full = strstr(name, "::") + 2;
			look_up(&full, &es, in_full, full_name_bound(in_full),
			    &sp, &ec);
		}
	}
	print_costs(&listed, "as listed");
	print_costs(&full, "in full");
	EXPECT_EQ(listed.over_bound, 0);
	EXPECT_EQ(full.over_bound, 0);
	if (raw.names > 0)
		print_costs(&raw, "raw");
	EXPECT_EQ(raw.over_bound, 0);
}

CPC_TEST(no_preset_takes_long)
{
	static struct lookup_costs presets;
	struct event_spec sp;
	struct event_code ec;
	struct events es;
	char name[TEXT];

	if (!meter_start(cpc, own_privilege()))
		return;
	for (unsigned n = 0;
	     (es = events_nth(target_tables(), n)).es_pmu != NULL; n++) {
		unsigned at = 0;

		while (events_next_preset(&es, &at, name, sizeof name)) {
			if (!EXPECT(
				look_up(&presets, &es, name, BOUND, &sp, &ec)))
				test_note("event: %s", name);
		}
	}
	print_costs(&presets, "presets");
	EXPECT_EQ(presets.over_bound, 0);
}

static struct lookup_costs requests;

/* Look up a name as a request does.  This machine may lack the event. */
static void
cost_request(void *arg, const char *name)
{
	const struct machine *mc = machine_here();
	char padded[TEXT + EVENT_WORD] = "";
	struct cpc_event ev;
	cpc_t *cpc = arg;

	strcpy(padded, name);
	cpc_set_sample(cpc, meter.set, meter.before);
	machine_event(mc, padded, false, 0, &ev);
	cpc_set_sample(cpc, meter.set, meter.after);
	note_cost(&requests,
	    mc->mc_table.es_pmu != NULL ? target_cpu() : "none", name,
	    REQUEST_BOUND);
}

/*
 * The whole cost of a request's name.  In addition to the table's lookup it
 * includes the machine's own names, and whether a PIC of this PMU can count
 * the event.  The table's names that this machine lacks are looked up, too.
 */
CPC_TEST(no_request_takes_long)
{
	struct event_walk ew = { 0 };
	char name[TEXT];

	if (software_pmu)
		SKIP("a software PMU does not see the kernel");
	if (!meter_start(cpc, CPC_COUNT_USER | CPC_COUNT_SYSTEM))
		return;
	cpc_walk_events_all(cpc, cpc, cost_request);
	cpc_walk_generic_events_all(cpc, cpc, cost_request);
	if (target_cpu() == NULL)
		return;
	struct events es = events_find(target_tables(), target_cpu());
	while (events_next(&es, &ew, ~0ULL, name, sizeof name))
		cost_request(cpc, name);
	print_costs(&requests, "request");
	EXPECT_EQ(requests.over_bound, 0);
}

#define SUGGESTED 8 /* a suggestion takes 11 million instructions */

static struct lookup_costs refused, suggested;

/* Append a letter that no name ends in. */
static void
cost_misspelt(void *arg, const char *name)
{
	const struct machine *mc = machine_here();
	char wrong[TEXT + 1 + EVENT_WORD] = "", why[TEXT] = "";
	struct cpc_event ev;
	cpc_t *cpc = arg;

	snprintf(wrong, TEXT + 1, "%sQ", name);
	cpc_set_sample(cpc, meter.set, meter.before);
	bool known = machine_event(mc, wrong, false, 0, &ev);
	cpc_set_sample(cpc, meter.set, meter.after);
	EXPECT(!known);
	note_cost(&refused, target_cpu(), name, UINT64_MAX);
	if (refused.names % SUGGESTED != 1)
		return;
	cpc_set_sample(cpc, meter.set, meter.before);
	machine_why(mc, wrong, why, sizeof why);
	cpc_set_sample(cpc, meter.set, meter.after);
	note_cost(&suggested, target_cpu(), name, UINT64_MAX);
}

/*
 * Each listed name, misspelt, is refused.  The costs are printed for
 * information.  A refusal tries everything that the name may be.  A suggestion
 * compares all names, and its only reader is a person, so only some are made.
 */
CPC_TEST(misspelt_names_are_refused)
{
	if (software_pmu)
		SKIP("a software PMU does not see the kernel");
	if (!meter_start(cpc, CPC_COUNT_USER | CPC_COUNT_SYSTEM))
		return;
	cpc_walk_events_all(cpc, cpc, cost_misspelt);
	print_costs(&refused, "refused");
	print_costs(&suggested, "suggested");
}
