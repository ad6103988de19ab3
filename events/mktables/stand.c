/*
 * Names that stand for others, and unit masks that are taken where none is
 * named: the library looks for both each time; here they are places.
 */
#include "events/mktables/tables.h"

#include <err.h>

#include "events/events.h"

/* What a name stands for, as it grows. */
struct standing {
	uint8_t sta_place[EVENT_MAXUMASK], sta_nplace; /* ascending */
	uint8_t sta_mod[2 * MOD_N], sta_nmod;          /* modifier, value */
};

/* The place of a unit mask that all these models have alike, or -1. */
static int
place_of(const struct draft *d, const char *name, size_t len, unsigned models)
{
	const struct draft_umask *du = d->dr_umask;

	for (int i = 0; i < d->dr_row.er_nlist; i++, du++) {
		if (strncmp(du->du_name, name, len) != 0 ||
		    du->du_name[len] != '\0' ||
		    (du->du_umask.um_models & models) == 0)
			continue;
		if ((models & ~du->du_umask.um_models) != 0)
			errx(1, "%s:%s: not alike on all that have it",
			    d->dr_name, du->du_name);
		return i;
	}
	return -1;
}

static void
add_mod(struct standing *st, const char *name, size_t len)
{
	size_t letters = strcspn(name, ":=");
	unsigned m, value = 1;

	for (m = 0; m < MOD_N; m++) {
		if (strlen(event_mod_names[m]) == letters &&
		    strncmp(event_mod_names[m], name, letters) == 0)
			break;
	}
	if (letters < len)
		value = (unsigned)strtoul(name + letters + 1, NULL, 0);
	if (m == MOD_N || value > UINT8_MAX || st->sta_nmod == MOD_N)
		errx(1, "%s: stands for what there is not", name);
	st->sta_mod[2 * st->sta_nmod] = (uint8_t)m;
	st->sta_mod[2 * st->sta_nmod++ + 1] = (uint8_t)value;
}

/* Each once, in ascending order. */
static void
add_place(struct standing *st, uint8_t place)
{
	unsigned i = st->sta_nplace;

	for (; i > 0 && st->sta_place[i - 1] >= place; i--) {
		if (st->sta_place[i - 1] == place)
			return;
	}
	if (st->sta_nplace == EVENT_MAXUMASK)
		errx(1, "a name stands for too many");
	memmove(&st->sta_place[i + 1], &st->sta_place[i], st->sta_nplace++ - i);
	st->sta_place[i] = place;
}

/* The parts behind an event's name. */
static void
add_parts(struct standing *st, const struct draft *d, const char *text,
    unsigned models)
{
	size_t len;
	int i;

	for (;; text += len + 1) {
		len = strcspn(text, ":");
		i = place_of(d, text, len, models);
		if (i < 0)
			add_mod(st, text, len);
		else if (d->dr_umask[i].du_equiv != NULL)
			add_parts(st, d, d->dr_umask[i].du_equiv, models);
		else
			add_place(st, (uint8_t)i);
		if (text[len] == '\0')
			return;
	}
}

static uint16_t
stands_add(const struct standing *st, int row)
{
	uint8_t bytes[1 + 2 + sizeof st->sta_place + sizeof st->sta_mod];
	unsigned n = 0;

	if (row >= 0)
		bytes[n++] = (uint8_t)row;
	bytes[n++] = st->sta_nplace;
	memcpy(&bytes[n], st->sta_place, st->sta_nplace);
	n += st->sta_nplace;
	bytes[n++] = st->sta_nmod;
	memcpy(&bytes[n], st->sta_mod, 2U * st->sta_nmod);
	n += 2U * st->sta_nmod;
	return (uint16_t)pool_find(SECTION_STANDS, bytes, n);
}

uint16_t
stands_of_umask(const struct draft *d, unsigned place)
{
	const struct draft_umask *du = &d->dr_umask[place];
	struct standing st = { .sta_nplace = 0 };

	if (du->du_equiv == NULL)
		return 0;
	add_parts(
	    &st, d, du->du_equiv, du->du_umask.um_models & d->dr_row.er_models);
	return stands_add(&st, -1);
}

uint16_t
stands_of_row(const struct draft *all, unsigned n, const struct draft *d)
{
	unsigned i, models = d->dr_row.er_models;
	struct standing st = { .sta_nplace = 0 };
	size_t len;

	if (d->dr_equiv == NULL)
		return 0;
	len = strcspn(d->dr_equiv, ":");
	for (i = 0; i < n; i++) {
		if (strncmp(all[i].dr_name, d->dr_equiv, len) == 0 &&
		    all[i].dr_name[len] == '\0' &&
		    (models & ~all[i].dr_row.er_models) == 0)
			break;
	}
	if (i == n)
		errx(1, "%s stands for %s, which is none", d->dr_name,
		    d->dr_equiv);
	if (d->dr_equiv[len] != '\0')
		add_parts(&st, &all[i], d->dr_equiv + len + 1, models);
	return stands_add(&st, (int)i);
}

/*
 * For each group of unit masks what is taken where it has none.  On AMD all
 * of a group must be optional for that to be nothing, on Intel one of it.
 */
uint16_t
fill_of(enum event_kind kind, const struct draft *d, unsigned model)
{
	uint8_t bytes[EVENT_MAXGROUP + UINT8_MAX];
	unsigned n = 0, group, head, i, flags, has, optional;

	for (group = 0; group < d->dr_row.er_ngroup; group++) {
		head = n++;
		bytes[head] = 0;
		has = optional = 0;
		for (i = 0; i < d->dr_row.er_nlist; i++) {
			const struct event_umask *um = &d->dr_umask[i].du_umask;

			if ((um->um_models & model) == 0 ||
			    (um->um_group & 0xf) != group)
				continue;
			flags = um->um_flags;
			has++;
			optional += (flags & UM_OPTIONAL) != 0;
			if ((flags & (UM_OPTIONAL | UM_DEFAULT)) != UM_DEFAULT)
				continue;
			bytes[head]++;
			bytes[n++] = (uint8_t)i;
		}
		if (bytes[head] > FILL_COUNT)
			errx(1, "%s: too many defaults", d->dr_name);
		if (kind == EVENT_AMD ? optional == has : optional > 0)
			bytes[head] |= FILL_OPTIONAL;
		if (kind == EVENT_AMD || has > 0)
			bytes[head] |= FILL_MAY_LACK;
	}
	return (uint16_t)pool_find(SECTION_FILLS, bytes, n);
}
