/*
 * The arrays of a vendor while they grow.
 */
#include "events/mktables/tables.h"

#include <err.h>
#include <search.h>
#include <stdlib.h>

#define POOL(name, type, max)                                                  \
	{                                                                      \
		name, #type, sizeof(type), 0, max, NULL                        \
	}

struct pool pool[SECTION_FACTS] = {
	[SECTION_PMUS] = POOL("pmus", struct event_pmu, 64),
	[SECTION_ROWS] = POOL("rows", struct event_row, 0xffff),
	[SECTION_UMASKS] = POOL("umasks", struct event_umask, LIST_UMASK),
	[SECTION_LISTS] = POOL("lists", uint16_t, 0xffff),
	[SECTION_TAGS] = POOL("tags", uint8_t, 0x10000 + EVENT_WORD),
	[SECTION_INDEX] = POOL("places", uint16_t, 0xffff),
	[SECTION_PRESETS] = POOL("presets", struct event_preset, 0xffff),
	[SECTION_ALIASES] = POOL("aliases", uint8_t, 0xffff),
	[SECTION_DEFAULTS] = POOL("defaults", uint8_t, 0xffff),
	[SECTION_PICS] = POOL("pics", event_pics_t, 0xffff),
	[SECTION_NAMES] = POOL("names", char, EVENT_NAME_ALIGN * 0xffff),
};

unsigned
pool_add(enum event_section s, const void *what, unsigned n)
{
	struct pool *p = &pool[s];

	if (p->p_n + n > p->p_max)
		errx(1, "%s: more than %u", p->p_name, p->p_max);
	p->p_at = realloc(p->p_at, (p->p_n + n) * p->p_size);
	if (p->p_at == NULL)
		err(1, NULL);
	memcpy((char *)p->p_at + p->p_n * p->p_size, what, n * p->p_size);
	p->p_n += n;
	return p->p_n - n;
}

unsigned
pool_find(enum event_section s, const void *what, unsigned n)
{
	struct pool *p = &pool[s];

	for (unsigned i = 0; i + n <= p->p_n; i++) {
		if (memcmp((char *)p->p_at + i * p->p_size, what,
			n * p->p_size) == 0)
			return i;
	}
	return pool_add(s, what, n);
}

/* A name takes whole units of EVENT_NAME_ALIGN, and number 0 is empty. */
uint16_t
name_add(const char *name)
{
	char text[EVENT_MAXNAME + 1 + EVENT_NAME_ALIGN] = "";
	size_t len = name != NULL ? strlen(name) : 0;
	ENTRY *found;
	unsigned at;

	if (len > EVENT_MAXNAME)
		errx(1, "%s: the name is too long", name);
	if (len == 0)
		return 0;
	if (pool[SECTION_NAMES].p_n == 0 && hcreate(0x10000) == 0)
		err(1, NULL);
	if (pool[SECTION_NAMES].p_n == 0)
		pool_add(SECTION_NAMES, text, EVENT_NAME_ALIGN);
	if ((found = hsearch((ENTRY){ .key = (char *)name }, FIND)) != NULL)
		return (uint16_t)(uintptr_t)found->data;
	strcpy(text, name);
	at = pool_add(SECTION_NAMES, text,
		 (unsigned)(len / EVENT_NAME_ALIGN + 1) * EVENT_NAME_ALIGN) /
	     EVENT_NAME_ALIGN;
	if (hsearch((ENTRY){ strdup(name), (void *)(uintptr_t)at }, ENTER) ==
	    NULL)
		err(1, "%s", name);
	return (uint16_t)at;
}

const char *
name_at(unsigned name)
{
	return (const char *)pool[SECTION_NAMES].p_at + EVENT_NAME_ALIGN * name;
}
