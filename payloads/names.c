#include "payloads/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
print_known(void)
{
	struct events es;

	if (events_nth(names_tables(), 0).es_pmu == NULL) {
		fputs("none is known: this image was made with EVENTS=\n",
		    stderr);
		return;
	}
	fputs("known are:", stderr);
	for (unsigned n = 0;
	     (es = events_nth(names_tables(), n)).es_pmu != NULL; n++)
		fprintf(stderr, " %s", es.es_pmu->ep_name);
	fputc('\n', stderr);
}

struct events
names_choose(int *argc, char **argv, const char *usage)
{
	const char *cpu = names_cpu();
	struct events es;

	if (*argc >= 2 && strcmp(argv[1], "--cpu") == 0) {
		if (*argc < 3) {
			fprintf(stderr, "usage: %s\n", usage);
			exit(2);
		}
		cpu = argv[2];
		*argc -= 2;
		memmove(&argv[1], &argv[3], (size_t)*argc * sizeof *argv);
	}
	if (cpu == NULL) {
		fputs("no table of this CPU's events; say which: --cpu NAME; ",
		    stderr);
		print_known();
		exit(2);
	}
	es = events_find(names_tables(), cpu);
	if (es.es_pmu == NULL) {
		fprintf(stderr, "%s: no such CPU; ", cpu);
		print_known();
		exit(2);
	}
	if (es.es_pmu->ep_kind == EVENT_NETBURST)
		fprintf(stderr,
		    "%s: names and codes only: barecpc does not count by "
		    "NetBurst's ESCRs and CCCRs\n",
		    es.es_pmu->ep_name);
	return es;
}

void
names_refuse(const struct events *es, const char *program, const char *name,
    enum event_error err)
{
	char text[1024];

	fprintf(stderr, "%s: %s: ", program, name);
	if (err == EVENT_NO_PRESET) {
		events_preset_why(es, name, text, sizeof text);
		fputs(text, stderr);
	} else {
		fputs(event_strerror(err), stderr);
	}
	if ((err == EVENT_UNKNOWN || err == EVENT_BAD_PART) &&
	    events_suggest(es, name, text, sizeof text))
		fprintf(stderr, "; did you mean %s?", text);
	fputc('\n', stderr);
}

const char *const names_beside[] = {
	[EXTRA_OFFCORE0] = "MSR_OFFCORE_RSP_0",
	[EXTRA_OFFCORE1] = "MSR_OFFCORE_RSP_1",
	[EXTRA_LDLAT] = "MSR_PEBS_LD_LAT",
	[EXTRA_FRONTEND] = "MSR_PEBS_FRONTEND",
	[EXTRA_CCCR] = "CCCR",
};
