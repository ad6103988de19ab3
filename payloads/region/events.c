/*
 * The events that regions count: those of the environment.
 */
#include "payloads/region/region.h"

#include <ctype.h>
#include <errno.h>
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
	const char *list = getenv("REGION_EVENTS");
	char *copy;

	if (list == NULL || *list == '\0')
		list = getenv("PAPI_EVENTS");
	if (list == NULL || *list == '\0')
		list = "PAPI_tot_ins,PAPI_tot_cyc";
	copy = fail_unless_room(strdup(list));
	lower_presets(copy);
	argv[0] = (char *)(uintptr_t)usage_name();
	*o = (struct options){ .o_argc = 1,
		.o_argv = argv,
		.o_titles = true,
		.o_runs = 1,
		.o_turns = 1 };
	options_add_events(o, copy);
	free(copy);
}
