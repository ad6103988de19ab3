/*
 * Read libpfm4's tables of Arm's PMUs, which have no unit masks and do not name
 * PICs.
 */
#include "events/mktables/tables.h"

#include <pfmlib_arm_priv.h>

static unsigned
mods_of(unsigned theirs)
{
	static const struct bit bits[] = {
		{ _ARM_ATTR_K, 1 << MOD_K },
		{ _ARM_ATTR_U, 1 << MOD_U },
		{ _ARM_ATTR_HV, 1 << MOD_HV },
	};

	return translate(bits, LENGTH(bits), theirs, "modifiers");
}

static bool
read_row(const struct table *t, unsigned n, struct draft *d)
{
	const arm_entry_t *e = (const arm_entry_t *)t->t_pmu[0]->pe + n;

	d->dr_row = (struct event_row){
		.er_mods = (uint16_t)mods_of(e->modmsk),
		.er_code = e->code,
		.er_models = (uint8_t)models_of(t, 0),
	};
	d->dr_name = e->name;
	d->dr_equiv = e->equiv;
	d->dr_pics = (1ULL << t->t_pmu[0]->num_cntrs) - 1;
	return true;
}

const struct family arm_family = { "arm_", EVENT_ARM, read_row, NULL };
