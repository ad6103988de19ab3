/*
 * Translate libpfm4's flags to ours, and its models to the PMUs of a table.
 */
#include "events/mktables/tables.h"

#include <err.h>

unsigned
translate(const struct bit *b, unsigned n, unsigned theirs, const char *what)
{
	unsigned ours = 0;

	for (unsigned i = 0; i < n; i++) {
		if ((theirs & b[i].b_theirs) != 0)
			ours |= b[i].b_ours;
		theirs &= ~b[i].b_theirs;
	}
	if (theirs != 0)
		errx(1, "%s: unknown %#x", what, theirs);
	return ours;
}

unsigned
models_of(const struct table *t, unsigned model)
{
	unsigned models = 0;

	for (unsigned m = 0; m < t->t_npmu; m++) {
		if (model == 0 || model == (unsigned)t->t_pmu[m]->pmu)
			models |= 1U << m;
	}
	return models;
}
