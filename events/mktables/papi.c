/*
 * Read PAPI's table of presets, papi_events.csv, as PAPI does:
 *
 *	CPU,PMU
 *	PRESET,NAME,NOT_DERIVED,EVENT
 *	PRESET,NAME,DERIVED_ADD,EVENT,EVENT...
 *	PRESET,NAME,DERIVED_POSTFIX,FORMULA,EVENT,EVENT...,NOTE,"text"
 *
 * A PMU has the presets after its name, up to the next group of CPU lines.
 * Its name may occur several times; a later line about a preset replaces an
 * earlier one.
 */
#include "events/mktables/tables.h"

#include <err.h>
#include <errno.h>

#include "events/names/preset.h"

/* Filters of perf for virtual machines.  They do not change the event. */
#define PERF_FILTERS ":mg=1:mh=1"

/* The next field of the line, trimmed; NULL past the last. */
static char *
next_field(char **line)
{
	char *s = strtok_r(NULL, ",", line), *end;

	if (s == NULL)
		return NULL;
	s += strspn(s, " \t\n");
	end = s + strlen(s);
	while (end > s && strchr(" \t\n", end[-1]) != NULL)
		end--;
	*end = '\0';
	return *s != '\0' ? s : NULL;
}

static bool
is_formula(const char *how)
{
	return strcmp(how, "DERIVED_POSTFIX") == 0 ||
	       strcmp(how, "DERIVED_INFIX") == 0;
}

static bool
is_note(const char *s)
{
	return strcasecmp(s, "NOTE") == 0 || strcasecmp(s, "LDESC") == 0 ||
	       strcasecmp(s, "SDESC") == 0;
}

static char *
event_name(const char *s)
{
	const char *end = strstr(s, PERF_FILTERS);

	return end != NULL ? strndup(s, (size_t)(end - s)) : strdup(s);
}

static void
read_preset(char *line, struct papi_preset *presets)
{
	const char *name = next_field(&line), *how = next_field(&line);
	struct papi_preset *pp;
	char *event;
	int n;

	if (name == NULL || how == NULL)
		return;
	/* PAPI has presets that are not in our list. */
	n = events_is_preset(name) ? event_preset_number(name, EVENT_ANY_CASE)
	                           : -1;
	if (n < 0)
		return;
	pp = &presets[n];
	pp->pap_nevent = 0;
	if (is_formula(how))
		next_field(&line);
	while ((event = next_field(&line)) != NULL && !is_note(event)) {
		if (pp->pap_nevent == LENGTH(pp->pap_event))
			errx(1, "%s: too many events", name);
		pp->pap_event[pp->pap_nevent++] = event_name(event);
	}
}

void
papi_read(const char *papi_events, const char *pmu, struct papi_preset *presets)
{
	FILE *f = fopen(papi_events, "r");
	bool here = false, had = false;
	char text[1024], *line, *word;

	if (f == NULL)
		err(1, "%s", papi_events);
	memset(presets, 0, EVENT_PRESETS * sizeof *presets);
	while (fgets(text, sizeof text, f) != NULL) {
		word = strtok_r(text, ",", &line);
		if (word == NULL || *word == '#')
			continue;
		if (strcmp(word, "CPU") == 0) {
			if (had)
				here = had = false;
			word = next_field(&line);
			here |= word != NULL && strcasecmp(word, pmu) == 0;
		} else if (here && strcmp(word, "PRESET") == 0) {
			had = true;
			read_preset(line, presets);
		}
	}
	fclose(f);
}
