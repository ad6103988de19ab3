/*
 * Events that the kernel counts for stat.
 * man perf-list, "SYMBOLIC EVENT TYPES"; perf_event_open(2),
 * PERF_TYPE_SOFTWARE.
 */
#include "payloads/stat/stat.h"

#include <string.h>

#include "events/nearer.h"

static const struct {
	const char *name;
	enum soft soft;
} names[] = {
	{ "task-clock", SOFT_TASK_CLOCK },
	{ "context-switches", SOFT_SWITCHES },
	{ "cs", SOFT_SWITCHES },
	{ "cpu-migrations", SOFT_MIGRATIONS },
	{ "migrations", SOFT_MIGRATIONS },
	{ "page-faults", SOFT_FAULTS },
	{ "faults", SOFT_FAULTS },
};
#define NNAME (sizeof names / sizeof names[0])

enum soft
soft_find(const char *name)
{
	for (unsigned i = 0; i < NNAME; i++) {
		if (strcmp(names[i].name, name) == 0)
			return names[i].soft;
	}
	return SOFT_NONE;
}

const char *
soft_nearest(const char *name, unsigned *best)
{
	const char *found = NULL;

	for (unsigned i = 0; i < NNAME; i++) {
		if (events_is_nearer(name, names[i].name, best))
			found = names[i].name;
	}
	return found;
}

uint64_t
soft_value(enum soft s, const struct cpc_profile_usage *is)
{
	switch (s) {
	case SOFT_TASK_CLOCK:
		return is->cu_task_ns;
	case SOFT_SWITCHES:
		return is->cu_switches;
	case SOFT_MIGRATIONS:
		return is->cu_migrations;
	default:
		return is->cu_faults;
	}
}
