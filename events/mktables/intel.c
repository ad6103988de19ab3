/*
 * Read libpfm4's tables of Intel's PMUs except NetBurst.
 */
#include "events/mktables/tables.h"

#include <err.h>

#include <pfmlib_intel_x86_priv.h>

static unsigned
mods_of(unsigned theirs)
{
	static const struct bit bits[] = {
		{ _INTEL_X86_ATTR_K, 1 << MOD_K },
		{ _INTEL_X86_ATTR_U, 1 << MOD_U },
		{ _INTEL_X86_ATTR_E, 1 << MOD_E },
		{ _INTEL_X86_ATTR_I, 1 << MOD_I },
		{ _INTEL_X86_ATTR_C, 1 << MOD_C },
		{ _INTEL_X86_ATTR_T, 1 << MOD_T },
		{ _INTEL_X86_ATTR_LDLAT, 1 << MOD_LDLAT },
		{ _INTEL_X86_ATTR_INTX, 1 << MOD_INTX },
		{ _INTEL_X86_ATTR_INTXCP, 1 << MOD_INTXCP },
	};

	return translate(bits, LENGTH(bits), theirs, "modifiers");
}

static unsigned
event_flags(unsigned theirs)
{
	static const struct bit bits[] = {
		/* About libpfm4's tests, sampling, or already in the masks. */
		{ INTEL_X86_FALLBACK_GEN | INTEL_X86_PEBS | INTEL_X86_FIXED |
			INTEL_X86_NO_AUTOENCODE | INTEL_X86_SPEC |
			INTEL_X86_LDLAT | INTEL_X86_FETHR |
			INTEL_X86_GRP_DFL_NONE,
		    0 },
	};

	return translate(bits, LENGTH(bits), theirs, "flags of an event");
}

static unsigned
umask_flags(unsigned theirs)
{
	static const struct bit bits[] = {
		{ INTEL_X86_NCOMBO, UM_ALONE },
		{ INTEL_X86_DFL, UM_DEFAULT },
		{ INTEL_X86_GRP_DFL_NONE, UM_OPTIONAL },
		{ INTEL_X86_CODE_OVERRIDE, UM_EVENT },
		{ INTEL_X86_LDLAT, UM_LDLAT },
		{ INTEL_X86_PEBS | INTEL_X86_NO_AUTOENCODE | INTEL_X86_SPEC |
			INTEL_X86_FALLBACK_GEN | INTEL_X86_GRP_EXCL |
			INTEL_X86_FIXED,
		    0 },
	};

	return translate(bits, LENGTH(bits), theirs, "flags of a unit mask");
}

static void
read_umask(
    const struct table *t, const intel_x86_umask_t *u, struct draft_umask *du)
{
	if (u->ucode >> 48 != 0 || u->ufilters[0] != 0 || u->umodmsk_req != 0 ||
	    u->grpid >> 8 != 0)
		errx(1, "%s: more than a row holds", u->uname);
	*du = (struct draft_umask){
		.du_umask = {
			.um_flags = (uint16_t)umask_flags(u->uflags),
			.um_fixed = (uint16_t)mods_of(u->modhw),
			.um_code = (uint32_t)u->ucode,
			.um_high = (uint16_t)(u->ucode >> 32),
			.um_models = (uint8_t)models_of(t, u->umodel),
			.um_group = (uint16_t)u->grpid,
		},
		.du_name = u->uname,
		.du_equiv = u->uequiv,
		.du_pics = u->ucntmsk,
	};
}

static bool
read_row(const struct table *t, unsigned n, struct draft *d)
{
	const intel_x86_entry_t *e =
	    (const intel_x86_entry_t *)t->t_pmu[0]->pe + n;

	if (e->numasks > UINT8_MAX || e->ngrp > EVENT_MAXGROUP ||
	    e->modmsk_req != 0)
		errx(1, "%s: more than a row holds", e->name);
	d->dr_row = (struct event_row){
		.er_mods = (uint16_t)mods_of(e->modmsk),
		.er_code = e->code,
		.er_flags = (uint8_t)event_flags(e->flags),
		.er_nlist = (uint8_t)e->numasks,
		.er_ngroup = (uint8_t)e->ngrp,
		.er_models = (uint8_t)models_of(t, e->model),
	};
	d->dr_name = e->name;
	d->dr_equiv = e->equiv;
	d->dr_pics = e->cntmsk;
	for (unsigned i = 0; i < e->numasks; i++)
		read_umask(t, &e->umasks[i], &d->dr_umask[i]);
	return true;
}

static void
read_pmu(const pfmlib_pmu_t *p, struct event_pmu *ep)
{
	if ((p->flags & INTEL_X86_PMU_FL_ECMASK) != 0)
		ep->ep_flags |= PMU_EDGE_CMASK;
	ep->ep_family = (uint8_t)p->cpu_family;
	for (unsigned i = 0; p->cpu_models != NULL && p->cpu_models[i] != 0;
	     i++) {
		if (i == LENGTH(ep->ep_models))
			errx(1, "%s: more models", p->name);
		ep->ep_models[i] = (uint8_t)p->cpu_models[i];
	}
}

const struct family intel_family = { "", EVENT_INTEL, read_row, read_pmu };
