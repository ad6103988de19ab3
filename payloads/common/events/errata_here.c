/* Published errata of this machine's events, by its description. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/machine.h"
#include "payloads/common/events/errata.h"
#include "payloads/common/events/perf_names.h"
#include "payloads/common/report.h"
#include "payloads/common/results/json.h"

/* A number among the machine's members, or 0. */
static unsigned
machine_number(const char *member)
{
	const char *at = strstr(json_machine(), member);

	return at == NULL ? 0
	                  : (unsigned)strtoul(at + strlen(member), NULL, 10);
}

/* The code of an event's name on this machine. */
static bool
find_code(const char *event, int64_t *code)
{
	const struct machine *mc = machine_here();
	char name[160];
	struct cpc_event ce;

	if (*code >= 0 || mc == NULL)
		return *code >= 0;
	snprintf(name, sizeof name, "%s", event);
	for (unsigned n = 0; !machine_name(mc, name, &ce); n++) {
		if (!perf_name_is(event) ||
		    !perf_name_native(event, n, name, sizeof name))
			return false;
	}
	*code = (int64_t)ce.ce_code;
	return true;
}

static struct {
	int64_t code, count;
	char how[96];
} found[2];
static unsigned nfound;

void
errata_found(int64_t code, int64_t count, unsigned want, const char *of)
{
	if (nfound == sizeof found / sizeof found[0])
		return;
	found[nfound].code = code;
	found[nfound].count = count;
	snprintf(found[nfound].how, sizeof found[0].how,
	    "counts %" PRId64 " of %u %s in a loop", count, want, of);
	nfound++;
}

const char *
errata_stuck(int64_t code)
{
	for (unsigned i = 0; i < nfound; i++) {
		if (found[i].code == code && found[i].count == 0)
			return found[i].how;
	}
	return NULL;
}

#define OWN_CHECK 62 /* and on: *n after the last row of the table */

/* An emulator has a CPU's model, but not its errata. */
const char *
errata_here(const char *event, int64_t code, int pic, unsigned *n)
{
	char vendor[16] = "";
	struct errata_cpu cpu = { vendor, machine_number("\"family\":"),
		machine_number("\"model\":") };
	const char *text = NULL;

	if (!find_code(event, &code))
		return NULL;
	if (*n < OWN_CHECK && !report_emulated(NULL) &&
	    report_machine("vendor", vendor, sizeof vendor) != NULL)
		text = errata_next(&cpu, (uint64_t)code, pic, n);
	if (text != NULL)
		return text;
	for (*n = *n < OWN_CHECK ? OWN_CHECK : *n; *n < OWN_CHECK + nfound;) {
		unsigned i = (*n)++ - OWN_CHECK;

		if (found[i].code == code)
			return found[i].how;
	}
	return NULL;
}
