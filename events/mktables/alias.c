/*
 * Aliases, and the default unit masks of groups.  libpfm4 searches for both
 * each time.  In our tables they are places in lists.
 */
#include "events/mktables/tables.h"

#include <err.h>
#include <stdlib.h>

#include "events/events.h"

/* An alias while it grows. */
struct alias {
	uint8_t ali_place[EVENT_MAXUMASK], ali_nplace; /* ascending */
	uint8_t ali_mod[2 * MOD_N], ali_nmod;          /* modifier, value */
};

/* The place of a unit mask that all these models have, or -1. */
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
add_mod(struct alias *al, const char *name, size_t len)
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
	if (m == MOD_N || value > UINT8_MAX || al->ali_nmod == MOD_N)
		errx(1, "%s: an alias of an unknown unit mask or modifier",
		    name);
	al->ali_mod[2 * al->ali_nmod] = (uint8_t)m;
	al->ali_mod[2 * al->ali_nmod++ + 1] = (uint8_t)value;
}

/* Keep places in ascending order, each once. */
static void
add_place(struct alias *al, uint8_t place)
{
	unsigned i = al->ali_nplace;

	for (; i > 0 && al->ali_place[i - 1] >= place; i--) {
		if (al->ali_place[i - 1] == place)
			return;
	}
	if (al->ali_nplace == EVENT_MAXUMASK)
		errx(1, "an alias has too many unit masks");
	memmove(&al->ali_place[i + 1], &al->ali_place[i], al->ali_nplace++ - i);
	al->ali_place[i] = place;
}

/* Add the parts after an event's name. */
static void
add_parts(
    struct alias *al, const struct draft *d, const char *text, unsigned models)
{
	size_t len;
	int i;

	for (;; text += len + 1) {
		len = strcspn(text, ":");
		i = place_of(d, text, len, models);
		if (i < 0)
			add_mod(al, text, len);
		else if (d->dr_umask[i].du_equiv != NULL)
			add_parts(al, d, d->dr_umask[i].du_equiv, models);
		else
			add_place(al, (uint8_t)i);
		if (text[len] == '\0')
			return;
	}
}

static uint16_t
alias_store(const struct alias *al, int row)
{
	uint8_t bytes[2 + 2 + sizeof al->ali_place + sizeof al->ali_mod];
	unsigned n = 0;

	if (row >= 0) {
		bytes[n++] = (uint8_t)row;
		bytes[n++] = (uint8_t)(row >> 8);
	}
	bytes[n++] = al->ali_nplace;
	memcpy(&bytes[n], al->ali_place, al->ali_nplace);
	n += al->ali_nplace;
	bytes[n++] = al->ali_nmod;
	memcpy(&bytes[n], al->ali_mod, 2U * al->ali_nmod);
	n += 2U * al->ali_nmod;
	return (uint16_t)pool_find(SECTION_ALIASES, bytes, n);
}

uint16_t
alias_of_umask(const struct draft *d, unsigned place)
{
	const struct draft_umask *du = &d->dr_umask[place];
	struct alias al = { .ali_nplace = 0 };

	if (du->du_equiv == NULL)
		return 0;
	add_parts(
	    &al, d, du->du_equiv, du->du_umask.um_models & d->dr_row.er_models);
	return alias_store(&al, -1);
}

uint16_t
alias_of_row(const struct draft *all, unsigned n, const struct draft *d)
{
	unsigned i, models = d->dr_row.er_models;
	struct alias al = { .ali_nplace = 0 };
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
		errx(1, "%s: an alias of %s, which is unknown", d->dr_name,
		    d->dr_equiv);
	if (d->dr_equiv[len] != '\0')
		add_parts(&al, &all[i], d->dr_equiv + len + 1, models);
	return alias_store(&al, (int)i);
}

/*
 * The default unit masks of each group.  A group is optional if all its masks
 * are optional on AMD, and if one of them is on Intel.
 */
uint16_t
defaults_of(enum event_kind kind, const struct draft *d, unsigned model)
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
			if (i > UINT8_MAX)
				errx(1, "%s: a default is too far in its list",
				    d->dr_name);
			bytes[head]++;
			bytes[n++] = (uint8_t)i;
		}
		if (bytes[head] > DEFAULTS_COUNT)
			errx(1, "%s: too many defaults", d->dr_name);
		if (kind == EVENT_AMD ? optional == has : optional > 0)
			bytes[head] |= DEFAULTS_OPTIONAL;
	}
	return (uint16_t)pool_find(SECTION_DEFAULTS, bytes, n);
}
