/*
 * Read libpfm4's tables of NetBurst.  An event has the number of an ESCR and a
 * selection within it.  A unit mask is a bit of the ESCR's event mask; higher
 * bits are those of its tag.
 * Intel SDM vol. 3B, "Performance Monitoring, Processors Based on Intel
 * NetBurst Microarchitecture".
 */
#include "events/mktables/tables.h"

#include <err.h>

#include <pfmlib_intel_netburst_priv.h>

#define MODS                                                                   \
	(1U << MOD_K | 1U << MOD_U | 1U << MOD_E | 1U << MOD_CMPL |            \
	    1U << MOD_THR)

/* Other registers select replay events, so their bits here are not real. */
static unsigned
mask_of(const netburst_entry_t *e, const netburst_event_mask_t *u)
{
	unsigned mask = 1U << u->bit;

	return e->perf_code == P4_EVENT_REPLAY_EVENT
	           ? mask & P4_REPLAY_REAL_MASK
	           : mask;
}

/* The PMUs that have row n: only Prescott has the last one. */
static unsigned
models_with(const struct table *t, unsigned n)
{
	unsigned models = 0;

	for (unsigned m = 0; m < t->t_npmu; m++) {
		if (n < (unsigned)t->t_pmu[m]->pme_count)
			models |= 1U << m;
	}
	return models;
}

static bool
read_row(const struct table *t, unsigned n, struct draft *d)
{
	const netburst_entry_t *e =
	    (const netburst_entry_t *)t->t_pmu[0]->pe + n;
	unsigned i, models = models_with(t, n);

	for (i = 0; i < EVENT_MASK_BITS && e->event_masks[i].name != NULL;
	     i++) {
		const netburst_event_mask_t *u = &e->event_masks[i];

		d->dr_umask[i] = (struct draft_umask){
			.du_umask = {
				.um_flags = (u->flags & NETBURST_FL_DFL) != 0
				                ? UM_DEFAULT
				                : 0,
				/* The event has the low 8 bits. */
				.um_code = mask_of(e, u) << 8,
				.um_models = (uint8_t)models,
			},
			.du_name = u->name,
		};
	}
	d->dr_row = (struct event_row){
		.er_mods = MODS,
		.er_code = e->event_select | e->escr_select << 8,
		.er_nlist = (uint8_t)i,
		.er_ngroup = 1,
		.er_models = (uint8_t)models,
	};
	d->dr_name = e->name;
	d->dr_equiv = NULL;
	/* libpfm4 does not say which PICs an ESCR reaches. */
	d->dr_pics = (1ULL << t->t_pmu[0]->num_cntrs) - 1;
	return true;
}

const struct family netburst_family = { "netburst", EVENT_NETBURST, read_row,
	NULL };
