/*
 * Read libpfm4's tables of AMD's PMUs.
 */
#include "events/mktables/tables.h"

#include <err.h>

#include <pfmlib_amd64_priv.h>

static unsigned
mods_of(unsigned theirs)
{
	static const struct bit bits[] = {
		{ _AMD64_ATTR_K, 1 << MOD_K },
		{ _AMD64_ATTR_U, 1 << MOD_U },
		{ _AMD64_ATTR_E, 1 << MOD_E },
		{ _AMD64_ATTR_I, 1 << MOD_I },
		{ _AMD64_ATTR_C, 1 << MOD_C },
		{ _AMD64_ATTR_H, 1 << MOD_H },
		{ _AMD64_ATTR_G, 1 << MOD_G },
	};

	return translate(bits, LENGTH(bits), theirs, "modifiers");
}

static unsigned
umask_flags(unsigned theirs)
{
	static const struct bit bits[] = {
		{ AMD64_FL_NCOMBO, UM_ALONE },
		{ AMD64_FL_DFL, UM_DEFAULT },
		{ AMD64_FL_OMIT, UM_OPTIONAL },
	};

	return translate(
	    bits, LENGTH(bits), theirs & 0xff, "flags of a unit mask");
}

/* The PMUs whose revision is in the range that the flags hold. */
static unsigned
models_with(const struct table *t, unsigned flags)
{
	unsigned from = flags >> 8 & 0xff, till = flags >> 16 & 0xff;
	unsigned models = 0;

	for (unsigned m = 0; m < t->t_npmu; m++) {
		unsigned rev = (unsigned)t->t_pmu[m]->pmu_rev;

		if (rev >= from && (till == 0 || rev <= till))
			models |= 1U << m;
	}
	return models;
}

static bool
read_row(const struct table *t, unsigned n, struct draft *d)
{
	const amd64_entry_t *e = (const amd64_entry_t *)t->t_pmu[0]->pe + n;

	/* IBS samples instructions, and has no counter. */
	if ((e->flags & (AMD64_FL_IBSFE | AMD64_FL_IBSOP)) != 0)
		return false;
	if (e->numasks > UINT8_MAX || e->ngrp > EVENT_MAXGROUP)
		errx(1, "%s: too many unit masks or groups", e->name);
	for (unsigned i = 0; i < e->numasks; i++) {
		const amd64_umask_t *u = &e->umasks[i];

		d->dr_umask[i] = (struct draft_umask){
			.du_umask = {
				.um_flags = (uint16_t)umask_flags(u->uflags),
				/* The event has the low 8 bits, as on Intel. */
				.um_code = u->ucode << 8,
				.um_models =
				    (uint8_t)models_with(t, u->uflags),
				.um_group = (uint8_t)u->grpid,
			},
			.du_name = u->uname,
		};
	}
	d->dr_row = (struct event_row){
		.er_mods = (uint16_t)mods_of(e->modmsk),
		.er_code = e->code,
		.er_nlist = (uint8_t)e->numasks,
		.er_ngroup = (uint8_t)e->ngrp,
		.er_models = (uint8_t)models_with(t, e->flags),
	};
	d->dr_name = e->name;
	d->dr_equiv = NULL;
	/* The tables do not name PICs, so all count. */
	d->dr_pics = (1ULL << t->t_pmu[0]->num_cntrs) - 1;
	return true;
}

const struct family amd_family = { "amd64_", EVENT_AMD, read_row, NULL };
