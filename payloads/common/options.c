/* The options that every benchmark accepts, and events as -e names them. */
#include "payloads/common/options.h"

#include <errno.h>
#include <libcpc.h>
#include <payload.h>
#include <stdio.h>
#include <string.h>

#include "payloads/common/usage.h"

#define COMMON                                                                 \
	"[-n] [-e event[:uk][,event[:uk]]...]... [-r runs] [-w warm-ups] "     \
	"[--aggregates] [--undisturbed]"
#define KERNELS "[--filter regex] [--iterations n] [--list]"

static const char help[] =
    "  -e EVENT[:uk][,EVENT...]  what to count, at user or kernel level\n"
    "  -r RUNS                   runs that are measured (5)\n"
    "  -w RUNS                   runs before that (1)\n"
    "  -n                        no titles\n"
    "  --aggregates              print min, median, mean, trimmed mean, error\n"
    "  --undisturbed             exclude disturbed runs, and say which\n";
static const char kernels_help[] =
    "  --filter REGEX            kernels to run, as name/argument; -REGEX: the "
    "others\n"
    "  --iterations N            turns of the loop in a run (1)\n"
    "  --list                    print the kernels, and run none\n";

enum {
	OPTION_AGGREGATES = 256,
	OPTION_UNDISTURBED,
	OPTION_FILTER,
	OPTION_ITERATIONS,
	OPTION_LIST,
};
#define KERNEL_OPTIONS 6
/* Google Benchmark's options have long names. */
static const struct option long_options[] = {
	{ "filter", required_argument, NULL, OPTION_FILTER },
	{ "benchmark_filter", required_argument, NULL, OPTION_FILTER },
	{ "iterations", required_argument, NULL, OPTION_ITERATIONS },
	{ "list", no_argument, NULL, OPTION_LIST },
	{ "benchmark_list_tests", no_argument, NULL, OPTION_LIST },
	{ "benchmark_repetitions", required_argument, NULL, 'r' },
	/* The programs without kernels have these only. */
	{ "repeat", required_argument, NULL, 'r' },
	{ "warmup", required_argument, NULL, 'w' },
	{ "aggregates", no_argument, NULL, OPTION_AGGREGATES },
	{ "undisturbed", no_argument, NULL, OPTION_UNDISTURBED },
	{ NULL, 0, NULL, 0 },
};

static unsigned
default_flags(void)
{
	return payload_privilege() == PAYLOAD_SYSTEM ? CPC_COUNT_SYSTEM
	                                             : CPC_COUNT_USER;
}

/* Flags of a suffix that consists of u and k only, or 0. */
static unsigned
suffix_flags(const char *suffix)
{
	unsigned flags = 0;

	for (; *suffix != '\0'; suffix++) {
		if (*suffix == 'u')
			flags |= CPC_COUNT_USER;
		else if (*suffix == 'k')
			flags |= CPC_COUNT_SYSTEM;
		else
			return 0;
	}
	return flags;
}

/* The suffix (`u`, `k` or both) after a colon, or after a raw event's slash. */
static char *
suffix_at(char *name)
{
	char *colon = strrchr(name, ':'), *slash = strrchr(name, '/');

	if (colon != NULL && (slash == NULL || colon > slash))
		return colon + 1;
	return slash != NULL ? slash + 1 : NULL;
}

/* Parse a modifier of a name: `k`, `k=1`.  Returns -1 if it is another one. */
static int
level_of(const char *s, char letter)
{
	if (*s != letter || (s[1] != '=' && strcspn(s, ":.") != 1))
		return -1;
	return s[1] != '=' || (s[2] != '\0' && strchr("1ytYT", s[2]) != NULL);
}

int
options_levels(const char *name)
{
	int user = -1, system = -1, level;

	for (const char *s = name; *(s += strcspn(s, ":.")) != '\0';) {
		s++;
		if ((level = level_of(s, 'u')) != -1)
			user = level;
		if ((level = level_of(s, 'k')) != -1)
			system = level;
	}
	if (user == -1 && system == -1)
		return -1;
	return (user == 1 ? CPC_COUNT_USER : 0) |
	       (system == 1 ? CPC_COUNT_SYSTEM : 0);
}

bool
event_never_counts(const struct event *e)
{
	return payload_privilege() == PAYLOAD_SYSTEM &&
	       (e->e_flags & (CPC_COUNT_USER | CPC_COUNT_SYSTEM)) ==
	           CPC_COUNT_USER;
}

bool
options_event(struct event *e, char *name)
{
	char *suffix = suffix_at(name), cut;
	unsigned flags = suffix == NULL ? 0 : suffix_flags(suffix);
	int levels;

	if (flags != 0) {
		suffix -= suffix[-1] == ':';
		cut = *suffix;
		*suffix = '\0';
	}
	/* If the name has modifiers, the suffix is one of them. */
	if ((levels = options_levels(name)) != -1 && flags != 0) {
		*suffix = cut;
		levels = options_levels(name);
	}
	e->e_name = name;
	e->e_flags = levels != -1 ? (unsigned)levels
	             : flags != 0 ? flags
	                          : default_flags();
	e->e_pic = -1;
	return *name != '\0';
}

static void
add_event(struct options *o, char *name)
{
	if (o->o_nevent == MAXEVENT)
		usage_mistake("-e: more than %d events", MAXEVENT);
	if (!options_event(&o->o_event[o->o_nevent], name))
		usage_mistake("-e: an event without a name");
	o->o_nevent++;
}

void
options_add_events(struct options *o, const char *list)
{
	char *copy = strdup(list); /* the record prints the original argv */
	char *name;

	if (copy == NULL)
		fail(1, "-e: %s", strerror(errno));
	while ((name = options_next(&copy)) != NULL)
		add_event(o, name);
}

static void
take_option(struct options *o, int c)
{
	switch (c) {
	case 'n':
		o->o_titles = false;
		break;
	case 'e':
		options_add_events(o, optarg);
		break;
	case 'r':
		o->o_runs =
		    (unsigned)usage_size("-r", optarg, 1, OPTIONS_RUNS_MAX);
		break;
	case 'w':
		o->o_warmups = (unsigned)usage_size("-w", optarg, 0, 10000);
		break;
	case OPTION_AGGREGATES:
		o->o_aggregates = true;
		break;
	case OPTION_UNDISTURBED:
		o->o_undisturbed = true;
		break;
	case OPTION_FILTER:
		o->o_filter = optarg;
		break;
	case OPTION_ITERATIONS:
		o->o_turns = usage_size("--iterations", optarg, 1, UINT32_MAX);
		break;
	default:
		o->o_list = true;
		break;
	}
}

void
options_parse(struct options *o, int argc, char **argv, const char *arguments,
    const char *events, bool kernels)
{
	static char usage[400], text[1200];
	int c;

	memset(o, 0, sizeof *o);
	o->o_argc = argc;
	o->o_argv = argv;
	o->o_titles = true;
	o->o_runs = 5;
	o->o_warmups = 1;
	o->o_turns = 1;
	snprintf(usage, sizeof usage, COMMON " %s%s",
	    kernels ? KERNELS " " : "", arguments);
	snprintf(text, sizeof text, "%s%s", help, kernels ? kernels_help : "");
	usage_is(usage, text);
	while ((c = usage_option(argc, argv, ":ne:r:w:",
		    long_options + (kernels ? 0 : KERNEL_OPTIONS))) != -1)
		take_option(o, c);
	if (o->o_nevent == 0)
		options_add_events(o, events);
}
