/*
 * The CPUs that have a vendor's file: join the drafts of vendor_facts.py.
 */
#include "events/mktables/tables.h"

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
		for (unsigned i = 0; i < fp[m].fp_n; i++) {
			d = fp[m].fp_draft[i];
			d.dr_row.er_models = (uint8_t)(1U << m);
			for (unsigned u = 0; u < d.dr_row.er_nlist; u++)
				d.dr_umask[u].du_umask.um_models =
				    (uint8_t)(1U << m);
			n = join_draft(all, n, &d);
		}
	}
	return n;
}
