/* The events that regions count: those of the environment. */
#include "payloads/region/region.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/usage.h"

/* PAPI's manual has PAPI_TOT_INS, libcpc has PAPI_tot_ins. */
static void
lower_presets(char *list)
{
	for (char *s = list; (s = strstr(s, "PAPI_")) != NULL;)
		for (s += strlen("PAPI_");
		     isalnum((unsigned char)*s) || *s == '_'; s++)
			*s = (char)tolower((unsigned char)*s);
}

void
region_events(struct options *o)
{
	static char *argv[2];
	const char *from = "REGION_EVENTS", *list = getenv(from);
	char *rest, *name; /* the events keep pointers into the list */

	if (list == NULL || *list == '\0')
		list = getenv(from = "PAPI_EVENTS");
	if (list == NULL || *list == '\0')
		list = "PAPI_tot_ins,PAPI_tot_cyc";
	rest = fail_unless_room(strdup(list));
	lower_presets(rest);
	argv[0] = (char *)(uintptr_t)usage_name();
	*o = (struct options){ .o_argc = 1,
		.o_argv = argv,
		.o_titles = true,
		.o_runs = 1,
		.o_turns = 1 };
	while ((name = options_next(&rest)) != NULL) {
		if (o->o_nevent == REGION_MAXEVENT)
			fprintf(stderr,
			    "%s: %s: more than %d events: %s is left out\n",
			    usage_name(), from, REGION_MAXEVENT, name);
		else if (!options_event(&o->o_event[o->o_nevent], name))
			fprintf(stderr,
			    "%s: %s: an event without a name is left out\n",
			    usage_name(), from);
		else
			o->o_nevent++;
	}
}
