/* Chooses the table of event names that `--cpu` asks for. */
#include "payloads/common/events/event_table.h"

#include <stdio.h>
#include <stdlib.h>

#include "payloads/common/target.h"
#include "payloads/common/usage.h"

#define CPU  256
#define CPUS 257

/* Print what is wrong (`z80: no such CPU`) and the known CPUs, and end. */
static _Noreturn void
refuse_cpu(const char *what)
{
	struct events es;

	fprintf(stderr, "%s: %s; ", usage_name(), what);
	if (events_nth(target_tables(), 0).es_pmu == NULL) {
		fputs("none is known: this image was made with EVENTS=\n",
		    stderr);
		exit(2);
	}
	fputs("known are:", stderr);
	for (unsigned n = 0;
	     (es = events_nth(target_tables(), n)).es_pmu != NULL; n++)
		fprintf(stderr, " %s", es.es_pmu->ep_name);
	fputc('\n', stderr);
	exit(2);
}

const char *
event_table_option(int argc, char **argv, const char *arguments, bool *cpus)
{
	static const struct option more[] = {
		{ "cpu", required_argument, NULL, CPU },
		{ "cpus", no_argument, NULL, CPUS },
		{ NULL, 0, NULL, 0 },
	};
	int c;
	const char *cpu = NULL;

	usage_is(arguments,
	    "  --cpu NAME  another CPU than this: libpfm4's name of it, or its "
	    "usual\n"
	    "              name: skl, neoverse_n1\n");
	while ((c = usage_option(argc, argv, "+:", more)) != -1) {
		if (c == CPU)
			cpu = optarg;
		else if (cpus != NULL)
			*cpus = true;
		else
			usage_mistake("--cpus: only list has this option");
	}
	return cpu;
}

void
event_table_check(const struct events *es)
{
	const char *why = events_file_lacks(es);

	if (why != NULL)
		fail(1, "%s: %s: make the image again", es->es_pmu->ep_name,
		    why);
}

struct events
event_table_choose(const char *cpu)
{
	const char *name = cpu != NULL ? cpu : target_cpu();
	char text[160];

	if (name == NULL)
		refuse_cpu("no table of this CPU's events: choose one with "
			   "--cpu NAME");
	struct events es = events_find(target_tables(), name);
	if (es.es_pmu == NULL) {
		snprintf(text, sizeof text, "%s: no such CPU", name);
		refuse_cpu(text);
	}
	event_table_check(&es);
	if (es.es_pmu->ep_kind == EVENT_NETBURST)
		fprintf(stderr,
		    "%s: %s: names and codes only: barecpc does not count with "
		    "NetBurst's ESCRs and CCCRs\n",
		    usage_name(), es.es_pmu->ep_name);
	return es;
}

void
event_table_refuse(
    const struct events *es, const char *name, enum event_error err)
{
	char text[1024];

	fprintf(stderr, "%s: %s: ", usage_name(), name);
	if (err == EVENT_NO_PRESET) {
		events_preset_why(es, name, text, sizeof text);
		fputs(text, stderr);
	} else {
		fputs(event_strerror(err), stderr);
	}
	if ((err == EVENT_UNKNOWN || err == EVENT_BAD_PART) &&
	    events_suggest(es, name, text, sizeof text))
		fprintf(stderr, "; did you mean %s?", text);
	else if (err == EVENT_UNKNOWN)
		fprintf(stderr, "; 'list --cpu %s' prints all names",
		    es->es_pmu->ep_name);
	fputc('\n', stderr);
}

const char *const event_table_extra_msr[] = {
	[EXTRA_OFFCORE0] = "MSR_OFFCORE_RSP_0",
	[EXTRA_OFFCORE1] = "MSR_OFFCORE_RSP_1",
	[EXTRA_LDLAT] = "MSR_PEBS_LD_LAT",
	[EXTRA_FRONTEND] = "MSR_PEBS_FRONTEND",
	[EXTRA_CCCR] = "CCCR",
};
