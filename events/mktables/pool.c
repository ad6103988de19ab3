/*
 * The arrays of a vendor while they grow.
 */
#include "events/mktables/tables.h"

#include <err.h>

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
	[SECTION_INDEX] = POOL("places", uint8_t, 0xffff),
	[SECTION_PRESETS] = POOL("presets", struct event_preset, 0xffff),
	[SECTION_ALIASES] = POOL("aliases", uint8_t, 0xffff),
	[SECTION_DEFAULTS] = POOL("defaults", uint8_t, 0xffff),
	[SECTION_PICS] = POOL("pics", event_pics_t, 0xffff),
	[SECTION_NAMES] = POOL("names", char, 0xffff),
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

uint16_t
name_add(const char *name)
{
	unsigned len = name != NULL ? (unsigned)strlen(name) : 0;

	if (len > EVENT_MAXNAME)
		errx(1, "%s: the name is too long", name);
	return len == 0 ? 0 : (uint16_t)pool_find(SECTION_NAMES, name, len + 1);
}

const char *
name_at(unsigned name)
{
	return (const char *)pool[SECTION_NAMES].p_at + name;
}
