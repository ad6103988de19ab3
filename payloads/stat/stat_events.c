/* The events of stat's command line, and perf's lists of events. */
#include "payloads/stat/stat.h"

#include <stdlib.h>
#include <string.h>

#include "payloads/common/usage.h"

static struct counted *
counted_new(void)
{
	if (st.nevent == st.room) {
		st.room = 2 * st.room + MAXEVENT;
		st.all =
		    fail_unless_room(realloc(st.all, st.room * sizeof *st.all));
	}
	struct counted *c = memset(&st.all[st.nevent], 0, sizeof *st.all);
	c->cnt_place = st.nevent++;
	return c;
}

static void
add_event(char *name, unsigned group)
{
	struct counted *c = counted_new();

	if (!options_event(&c->cnt_event, name))
		usage_mistake("-e: an event without a name");
	c->cnt_soft = soft_find(name);
	if (c->cnt_soft != SOFT_NONE)
		c->cnt_event.e_flags = CPC_COUNT_USER | CPC_COUNT_SYSTEM;
	c->cnt_group = c->cnt_soft != SOFT_NONE ? 0 : group;
}

/* `{a,b}:u`: the suffix of the braces belongs to each event in them. */
static void
add_group(char *text)
{
	char *list = text + 1, *close = strrchr(text, '}'), *name, *whole;
	const char *end = close != NULL ? close + 1 : "";
	bool weak;

	if (close == NULL)
		usage_mistake("-e: \"%s\": no } ends the group", text);
	if (*end != '\0' && *end != ':')
		usage_mistake("-e: \"%s\": only a level, :u or :k, may "
			      "follow a group",
		    end);
	*close = '\0';
	if (strcmp(end, ":S") == 0)
		end = ""; /* which event samples matters to perf record only */
	weak = strcmp(end, ":W") == 0; /* counted at once only if they fit */
	if (weak)
		end = "";
	st.ngroup++;
	while ((name = options_next(&list)) != NULL) {
		if (*name == '\0' || strpbrk(name, "{}") != NULL)
			usage_mistake("-e: \"%s\": a group needs events", name);
		whole =
		    fail_unless_room(malloc(strlen(name) + strlen(end) + 1));
		strcat(strcpy(whole, name), end);
		add_event(whole, weak ? 0 : st.ngroup);
	}
}

void
add_events(const char *list)
{
	char *copy = fail_unless_room(strdup(list)), *name;

	while ((name = options_next(&copy)) != NULL) {
		if (*name == '{')
			add_group(name);
		else
			add_event(name, 0);
	}
}

/* man perf-stat, "-d": the default list, and what each -d appends. */
void
add_detailed(unsigned level)
{
	if (st.nevent == 0)
		add_events("task-clock,context-switches,cpu-migrations,"
			   "page-faults,cycles,instructions,branches,"
			   "branch-misses");
	add_events("L1-dcache-loads,L1-dcache-load-misses,LLC-loads,"
		   "LLC-load-misses");
	if (level > 1)
		add_events("L1-icache-loads,L1-icache-load-misses,dTLB-loads,"
			   "dTLB-load-misses,iTLB-loads,iTLB-load-misses");
}

static int
compare_kinds(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	if ((x->cnt_soft != SOFT_NONE) != (y->cnt_soft != SOFT_NONE))
		return x->cnt_soft != SOFT_NONE ? 1 : -1;
	return x->cnt_place < y->cnt_place ? -1 : 1;
}

void
part_events(void)
{
	qsort(st.all, st.nevent, sizeof *st.all, compare_kinds);
	while (st.nhard < st.nevent && st.all[st.nhard].cnt_soft == SOFT_NONE)
		st.nhard++;
	st.by_place = fail_unless_room(calloc(st.nevent, sizeof *st.by_place));
	for (unsigned i = 0; i < st.nevent; i++)
		st.by_place[st.all[i].cnt_place] = &st.all[i];
}
