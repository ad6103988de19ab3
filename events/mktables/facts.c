/*
 * The CPUs that have a vendor's file: turn the facts of vendor_facts.py into
 * drafts.  Each name has its whole code, so no unit masks combine.
 */
#include "events/mktables/tables.h"

#include <err.h>
#include <stdlib.h>

#include "events/select.h"

/* The number of the event, as er_code has it. */
static uint32_t
event_of(enum event_kind kind, uint64_t select)
{
	switch (kind) {
	case EVENT_AMD:
		return (
		    uint32_t)((select & SEL_EVENT) | (select >> 32 & 0xf) << 8);
	case EVENT_ARM:
		return (uint32_t)select;
	default:
		return (uint32_t)(select & SEL_EVENT);
	}
}

/* An event without unit masks, as er_code has it. */
static uint32_t
bare_code(enum event_kind kind, const struct fact *fa)
{
	uint32_t code = kind == EVENT_INTEL ? (uint32_t)fa->fa_select
	                                    : event_of(kind, fa->fa_select);

	if (kind == EVENT_AMD)
		code |= (uint32_t)(fa->fa_select & SEL_UMASK) << 8;
	if ((fa->fa_select >> 32 != 0 && kind != EVENT_AMD) ||
	    fa->fa_extra != 0)
		errx(1, "%s: more than a row holds", fa->fa_event);
	return code;
}

/* The modifiers that the bits of a unit mask set. */
static unsigned
mods_set(uint64_t select)
{
	return ((select & SEL_EDGE) != 0 ? 1U << MOD_E : 0) |
	       ((select & SEL_INV) != 0 ? 1U << MOD_I : 0) |
	       ((select & SEL_ANY) != 0 ? 1U << MOD_T : 0) |
	       ((select & SEL_CMASK(0xff)) != 0 ? 1U << MOD_C : 0);
}

static void
add_umask(enum event_kind kind, struct draft *d, const struct fact *fa)
{
	struct draft_umask *du = &d->dr_umask[d->dr_row.er_nlist++];
	const char *name = fa->fa_umask;
	uint64_t select = fa->fa_select;
	unsigned flags = UM_ALONE;

	if (d->dr_row.er_nlist > MAX_DRAFT_UMASKS)
		errx(1, "%s: too many unit masks", d->dr_name);
	if (*name == '.') {
		d->dr_row.er_flags |= ER_DOTTED;
		name++;
	}
	if (fa->fa_kind == 'd') {
		flags |= UM_DEFAULT;
		d->dr_row.er_flags |= ER_BARE;
	}
	/* The modifier has the value. */
	flags |= fa->fa_kind == 'l' ? UM_LDLAT : fa->fa_extra << UM_EXTRA_SHIFT;
	if (kind == EVENT_AMD) {
		if (event_of(kind, select) != (d->dr_row.er_code & 0xfff))
			errx(1, "%s: events differ", d->dr_name);
		select &= SEL_UMASK;
	} else if (event_of(kind, select) != (d->dr_row.er_code & SEL_EVENT)) {
		flags |= UM_EVENT;
	}
	*du = (struct draft_umask){
		.du_umask = {
			.um_flags = (uint16_t)flags,
			.um_fixed = (uint16_t)mods_set(select),
			.um_code = (uint32_t)select,
			.um_high = (uint16_t)(select >> 32),
		},
		.du_name = name,
		.du_pics = fa->fa_pics,
		.du_extra = fa->fa_kind == 'l' ? 0 : fa->fa_value,
	};
	if (fa->fa_kind == 'l')
		d->dr_row.er_mods |= 1U << MOD_LDLAT;
}

/* Make the draft of an event, which has n facts; returns how many of them. */
static unsigned
draft_event(const struct facts_pmu *fp, const struct fact *fa, unsigned n,
    struct draft *d)
{
	enum event_kind kind = (enum event_kind)fp->fp_pmu.ep_kind;
	unsigned i = 0;

	*d = (struct draft){
		.dr_row = {
			.er_mods = fp->fp_mods,
				.er_code = event_of(kind, fa->fa_select),
		},
		.dr_name = fa->fa_event,
		.dr_pics = fa->fa_pics,
		.dr_umask = calloc(MAX_DRAFT_UMASKS, sizeof *d->dr_umask),
	};
	if (d->dr_umask == NULL)
		err(1, NULL);
	if (*fa->fa_umask == '\0') {
		d->dr_row.er_flags = ER_BARE;
		d->dr_row.er_code = bare_code(kind, fa);
		i++;
	}
	for (; i < n && strcmp(fa[i].fa_event, fa->fa_event) == 0; i++)
		add_umask(kind, d, &fa[i]);
	d->dr_row.er_ngroup = d->dr_row.er_nlist > 0;
	for (unsigned m = 0; m < d->dr_row.er_nlist; m++) {
		if (d->dr_umask[m].du_pics == d->dr_pics)
			d->dr_umask[m].du_pics = 0;
	}
	return i;
}

/* Add a PMU's draft to those of other PMUs: equal events are one. */
static unsigned
join_draft(struct draft *all, unsigned n, const struct draft *d)
{
	for (unsigned i = 0; i < n; i++) {
		struct event_row row = all[i].dr_row;

		row.er_models = d->dr_row.er_models;
		if (strcmp(all[i].dr_name, d->dr_name) == 0 &&
		    row.er_nlist == 0 && all[i].dr_pics == d->dr_pics &&
		    memcmp(&row, &d->dr_row, sizeof row) == 0) {
			all[i].dr_row.er_models |= d->dr_row.er_models;
			return n;
		}
	}
	all[n] = *d;
	return n + 1;
}

unsigned
facts_drafts(const struct facts_pmu *fp, unsigned npmu, struct draft *all)
{
	unsigned n = 0;
	struct draft d;

	for (unsigned m = 0; m < npmu; m++) {
		for (unsigned i = 0; i < fp[m].fp_n;) {
			i += draft_event(
			    &fp[m], &fp[m].fp_fact[i], fp[m].fp_n - i, &d);
			d.dr_row.er_models = (uint8_t)(1U << m);
			for (unsigned u = 0; u < d.dr_row.er_nlist; u++)
				d.dr_umask[u].du_umask.um_models =
				    (uint8_t)(1U << m);
			n = join_draft(all, n, &d);
		}
	}
	return n;
}
