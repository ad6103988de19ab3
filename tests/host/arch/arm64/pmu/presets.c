/* PAPI's presets exist on any PMUv3, and are the tables' events. */
#include "events/machine.h"
#include "tests/lib/host/test.h"

static unsigned
event_number(const struct event_code *ec)
{
	return ec->ec_select & 0xffff;
}

static bool
encode(const struct events *es, const char *name, struct event_code *ec)
{
	struct event_spec sp;

	return events_parse(es, name, EVENT_EITHER_CASE, &sp) == EVENT_OK &&
	       events_encode(es, &sp, ec) == EVENT_OK;
}

/* Does the table have the common event, under any name? */
static bool
has_event(const struct events *es, unsigned common)
{
	struct event_walk ew = { 0 };
	struct event_code ec;
	char name[256];

	while (events_next(es, &ew, ~0ULL, name, sizeof name)) {
		if (encode(es, name, &ec) && event_number(&ec) == common)
			return true;
	}
	return false;
}

/* A64FX has loads and stores of its own, even without the common events. */
static unsigned
check_presets(const struct events *es)
{
	const struct cpc_pmu pm = { .pm_general = 1,
		.pm_events = { ~0ULL, ~0ULL } };
	struct event_code ec;
	unsigned same = 0;

	for (unsigned i = 0; i < machine_arm.mk_n; i++) {
		const char *name =
		    *(const char *const *)((const char *)machine_arm.mk_first +
					   i * machine_arm.mk_bytes);
		struct cpc_event ce = { 0 };

		if (machine_arm.mk_own(&pm, i, &ce) == 0 ||
		    (ce.ce_flags & CPC_EVENT_GENERIC) == 0 ||
		    !has_event(es, (unsigned)ce.ce_code))
			continue;
		if (!encode(es, name, &ec) || event_number(&ec) != ce.ce_code)
			fail_msg("%s: %s is another event", es->es_pmu->ep_name,
			    name);
		same++;
	}
	return same;
}

TEST(common_events_match_the_tables)
{
	struct events es;

	for (unsigned n = 0; (es = events_nth(event_dbs, n)).es_pmu != NULL;
	     n++) {
		if (es.es_pmu->ep_kind == EVENT_ARM)
			assert_in_range(check_presets(&es), 10, 19);
	}
}
