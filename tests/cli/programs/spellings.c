/*
 * spellings: compare libpfm4's names with ours, by the library that this is
 * linked with.  Print the names that have another code here, then how many are
 * equal, and how many are not in our tables.
 *
 * A CPU without a vendor's file has libpfm4's table.  Its names get modifiers
 * and a second unit mask, too.  libpfm4 and we then refuse the same names, and
 * print the others alike.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfmon/pfmlib.h>

#include "events/events.h"

/* The first is a name alone. */
static const char *const more[] = { "", ":u", ":k", ":u:k=0", ":c=2", ":c=3:i",
	":e:c=1", ":i", ":e", ":t", ":c=256", ":c=1:c=2", ":h", ":hv",
	":ldlat=9", ":intx", ":u=2", ":0x41", ":no_such", ":thr=7:cmpl" };
#define NMORE (sizeof more / sizeof more[0])

static unsigned equal, absent;

/* own: our table is libpfm4's. */
static void
compare(const struct events *es, const char *name, bool own)
{
	uint64_t *codes = NULL, code = 0, extra = 0;
	char text[512], *full = NULL;
	struct event_spec sp;
	struct event_code ec;
	bool theirs, ours;
	int n = 0;

	snprintf(text, sizeof text, "%s::%s", es->es_pmu->ep_name, name);
	theirs = pfm_get_event_encoding(text, PFM_PLM0 | PFM_PLM3, &full, NULL,
		     &codes, &n) == PFM_SUCCESS;
	if (theirs) {
		code = codes[0];
		extra = n > 1 ? codes[1] : 0;
	}
	free(codes);
	ours = events_parse(es, name, EVENT_ANY_CASE, &sp) == EVENT_OK &&
	       events_encode(es, &sp, &ec) == EVENT_OK;
	if (ours && own)
		events_canonical(es, &sp, &ec, text, sizeof text);
	if ((theirs || own) && ours != theirs && (own || ours))
		printf("%s %s %s\n", es->es_pmu->ep_name, name,
		    ours ? "accepted" : "refused");
	else if (!ours || !theirs)
		absent += theirs;
	else if (((ec.ec_select ^ code) &
		     (es->es_pmu->ep_kind == EVENT_ARM ? 0xffff : ~0ULL)) !=
		     0 ||
		 ec.ec_extra_value != extra || (own && strcmp(full, text) != 0))
		printf("%s %s %#llx\n", es->es_pmu->ep_name, name,
		    (unsigned long long)code);
	else
		equal++;
	free(full);
}

static void
compare_event(const struct events *es, int event, bool own)
{
	pfm_event_info_t info = { .size = sizeof info };
	char name[400], last[128] = "";

	pfm_get_event_info(event, PFM_OS_NONE, &info);
	for (int n = -1; n < info.nattrs; n++) {
		pfm_event_attr_info_t attr = { .size = sizeof attr };

		if (n >= 0 && (pfm_get_event_attr_info(event, n, PFM_OS_NONE,
				   &attr) != PFM_SUCCESS ||
				  attr.type != PFM_ATTR_UMASK))
			continue;
		for (size_t m = 0; m < (own ? NMORE : 1); m++) {
			snprintf(name, sizeof name, "%s%s%s%s", info.name,
			    n >= 0 ? ":" : "", n >= 0 ? attr.name : "",
			    more[m]);
			compare(es, name, own);
		}
		snprintf(name, sizeof name, "%s:%s:%s", info.name, last,
		    n >= 0 ? attr.name : "");
		if (own && *last != '\0')
			compare(es, name, own);
		snprintf(last, sizeof last, "%s", n >= 0 ? attr.name : "");
	}
}

int
main(void)
{
	struct events es;

	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (pfm_initialize() != PFM_SUCCESS)
		return 1;
	for (pfm_pmu_t pmu = 0; pmu < PFM_PMU_MAX; pmu++) {
		pfm_pmu_info_t info = { .size = sizeof info };

		if (pfm_get_pmu_info(pmu, &info) != PFM_SUCCESS ||
		    info.type != PFM_PMU_TYPE_CORE)
			continue;
		es = events_find(event_dbs, info.name);
		for (int event = info.first_event;
		     es.es_pmu != NULL && event != -1;
		     event = pfm_get_event_next(event))
			compare_event(&es, event,
			    strncmp(es.es_pmu->ep_source, "libpfm4", 7) == 0);
	}
	printf("%u equal, %u absent\n", equal, absent);
	return 0;
}
