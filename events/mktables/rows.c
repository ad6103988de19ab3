/*
 * Turn the drafts of a table into rows.
 */
#include "events/mktables/tables.h"

#include <err.h>
#include <stdlib.h>

/* The rows of the PMU that has most. */
static unsigned
rows_of(const struct table *t)
{
	int n = 0;

	for (unsigned m = 0; m < t->t_npmu; m++) {
		if (t->t_pmu[m]->pme_count > n)
			n = t->t_pmu[m]->pme_count;
	}
	return (unsigned)n;
}

static bool
has_encoding(const struct table *t, unsigned models, const char *event,
    const char *umask)
{
	uint64_t *codes;
	char text[256];
	int n;

	for (unsigned m = 0; m < t->t_npmu; m++) {
		if ((models >> m & 1) == 0)
			continue;
		snprintf(text, sizeof text, "%s::%s%s%s", t->t_pmu[m]->name,
		    event, umask != NULL ? ":" : "",
		    umask != NULL ? umask : "");
		codes = NULL;
		n = 0;
		if (pfm_get_event_encoding(text, PFM_PLM0 | PFM_PLM3, NULL,
			NULL, &codes, &n) != PFM_SUCCESS)
			return false;
		free(codes);
	}
	return true;
}

static uint16_t
pics_add(uint64_t mask)
{
	event_pics_t pics = mask;

	return (uint16_t)pool_find(SECTION_PICS, &pics, 1);
}

/*
 * Add the unit masks.  LIST_ENOUGH marks those that need no other: all, if t is
 * NULL.
 */
static uint16_t
list_add(const struct table *t, struct draft *d)
{
	uint16_t list[MAX_DRAFT_UMASKS];
	unsigned n = d->dr_row.er_nlist;

	for (unsigned i = 0; i < n; i++) {
		struct draft_umask *du = &d->dr_umask[i];
		struct event_umask *um = &du->du_umask;

		um->um_name = name_add(du->du_name);
		um->um_pics = pics_add(du->du_pics);
		um->um_extra = pics_add(du->du_extra);
		um->um_alias = alias_of_umask(d, i);
		if ((um->um_flags & UM_EVENT) != 0)
			d->dr_row.er_flags |= ER_EVENTS;
		if (n > EVENT_SAME_PICS && du->du_pics != d->dr_umask->du_pics)
			errx(1, "%s: PICs differ", d->dr_name);
		list[i] = (uint16_t)pool_find(SECTION_UMASKS, um, 1);
		if (t == NULL ||
		    has_encoding(t, um->um_models & d->dr_row.er_models,
			d->dr_name, du->du_name))
			list[i] |= LIST_ENOUGH;
	}
	return n > 0 ? (uint16_t)pool_find(SECTION_LISTS, list, n) : 0;
}

/*
 * Make a row for each group of models that have the same default unit masks.
 * Returns how many.
 */
static unsigned
split_models(enum event_kind kind, const struct draft *d, struct draft *to)
{
	unsigned left = d->dr_row.er_models, n = 0, bit;

	for (; left != 0; n++) {
		to[n] = *d;
		to[n].dr_row.er_models = 0;
		to[n].dr_row.er_defaults = defaults_of(kind, d, left & -left);
		for (bit = left & -left; bit <= left; bit <<= 1) {
			if ((left & bit) != 0 && defaults_of(kind, d, bit) ==
						     to[n].dr_row.er_defaults)
				to[n].dr_row.er_models |= (uint8_t)bit;
		}
		left &= ~(unsigned)to[n].dr_row.er_models;
	}
	return n;
}

static int
by_name(const void *a, const void *b)
{
	const struct draft *x = a, *y = b;
	int order = strcmp(x->dr_name, y->dr_name);

	return order != 0 ? order : x->dr_row.er_models - y->dr_row.er_models;
}

/* Number, split and sort the drafts.  Returns how many there are then. */
static unsigned
number_drafts(enum event_kind kind, const struct table *t, struct draft *drafts,
    unsigned ndraft, struct draft *all)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ndraft; i++) {
		struct draft *d = &drafts[i];

		d->dr_row.er_name = name_add(d->dr_name);
		d->dr_row.er_pics = pics_add(d->dr_pics);
		d->dr_row.er_list = list_add(t, d);
		d->dr_row.er_index =
		    list_index(d->dr_row.er_list, d->dr_row.er_nlist);
		if (t != NULL &&
		    has_encoding(t, d->dr_row.er_models, d->dr_name, NULL))
			d->dr_row.er_flags |= ER_BARE;
		n += split_models(kind, d, &all[n]);
	}
	qsort(all, n, sizeof *all, by_name);
	return n;
}

#define MAX_DRAFTS 4096

static struct draft *
new_drafts(void)
{
	struct draft *all = calloc(MAX_DRAFTS, sizeof *all);

	if (all == NULL)
		err(1, NULL);
	return all;
}

/* Add the rows of n drafts; t is NULL if they are a vendor's. */
static void
add_drafts(enum event_kind kind, const struct table *t, struct draft *drafts,
    unsigned n, struct event_pmu *ep)
{
	struct draft *all = new_drafts();
	struct event_row *rows;

	n = number_drafts(kind, t, drafts, n, all);
	if ((rows = calloc(n, sizeof *rows)) == NULL)
		err(1, NULL);
	for (unsigned i = 0; i < n; i++) {
		if (i > 0 && strcmp(all[i].dr_name, all[i - 1].dr_name) == 0 &&
		    (rows[i - 1].er_models & all[i].dr_row.er_models) != 0)
			errx(1, "%s: twice", all[i].dr_name);
		rows[i] = all[i].dr_row;
		rows[i].er_alias = alias_of_row(all, n, &all[i]);
	}
	ep->ep_first = (uint16_t)pool_add(SECTION_ROWS, rows, n);
	ep->ep_nrow = (uint16_t)n;
	index_add(rows, n, ep);
}

void
rows_add(const struct family *f, const struct table *t, struct event_pmu *ep)
{
	struct draft *drafts = new_drafts();
	unsigned n = 0, nread = rows_of(t);

	for (unsigned i = 0; i < nread; i++) {
		drafts[n].dr_umask =
		    calloc(MAX_DRAFT_UMASKS, sizeof *drafts[n].dr_umask);
		if (drafts[n].dr_umask == NULL)
			err(1, NULL);
		n += f->f_read(t, i, &drafts[n]);
	}
	add_drafts(f->f_kind, t, drafts, n, ep);
}

void
rows_add_facts(const struct facts_pmu *fp, unsigned npmu, struct event_pmu *ep)
{
	struct draft *drafts = new_drafts();
	unsigned n = facts_drafts(fp, npmu, drafts);

	add_drafts((enum event_kind)fp->fp_pmu.ep_kind, NULL, drafts, n, ep);
}
