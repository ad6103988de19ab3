/* Core types: on some machines the CPUs have different PMUs. */
#include "cpc/cpci.h"

#include <stdlib.h>
#include <string.h>

bool
cpci_types_fetch(struct machine *mc)
{
	unsigned n = mc->mc_pmu.pm_ntypes;

	if (n == 0)
		return true;
	if ((mc->mc_types = calloc(n, sizeof *mc->mc_types)) == NULL)
		return false;
	for (unsigned t = 0; t < n; t++)
		cpc_syscall(CPC_OP_PMU, (uintptr_t)&mc->mc_types[t].mc_pmu,
		    t + 1, 0, 0);
	mc->mc_ntypes = n;
	return true;
}

/* The nth core type of the handle's machine, or NULL. */
static const struct cpc_pmu *
nth_type(const cpc_t *cpc, uint_t n)
{
	return n < cpc->c_ntypes ? &cpc->c_types[n].mc_pmu : NULL;
}

const char *
cpc_core_type(cpc_t *cpc, uint_t n)
{
	const struct cpc_pmu *pm = cpc != NULL ? nth_type(cpc, n) : NULL;

	return pm != NULL ? pm->pm_name : cpci_null();
}

int
cpc_core_type_of_cpu(cpc_t *cpc, processorid_t id)
{
	for (uint_t n = 0; cpc != NULL && id >= 0 && n < cpc->c_ntypes; n++) {
		const struct cpc_pmu *pm = nth_type(cpc, n);

		if ((size_t)id / 64 < sizeof pm->pm_cpus / 8 &&
		    (pm->pm_cpus[id / 64] >> id % 64 & 1) != 0)
			return (int)n;
	}
	return cpci_invalid();
}

int
cpc_set_core_type(cpc_t *cpc, cpc_set_t *set)
{
	const struct cpci_set *cs;
	unsigned type = 0;
	sigset_t mask;

	if (cpc != NULL) {
		cpci_lock(cpc, &mask);
		if ((cs = cpci_set(cpc, set)) != NULL)
			type = cs->cis_pack->cip_pack.cp_type;
		cpci_unlock(cpc, &mask);
	}
	return type != 0 ? (int)type - 1 : cpci_invalid();
}

cpc_t *
cpc_open_core_type(int ver, const char *name)
{
	cpc_t *cpc = name != NULL ? cpc_open(ver) : cpci_null();
	uint_t n = 0;

	if (cpc == NULL)
		return NULL;
	while (
	    n < cpc->c_ntypes && strcmp(nth_type(cpc, n)->pm_name, name) != 0)
		n++;
	if (n == cpc->c_ntypes) {
		cpc_close(cpc);
		return cpci_null();
	}
	cpc->c_machine = cpc->c_types[n];
	cpc->c_npic = cpc->c_machine.mc_pmu.pm_npic;
	return cpc;
}

const struct machine *
cpci_machine_of(cpc_t *cpc, unsigned type)
{
	return type != 0 ? &cpc->c_types[type - 1] : &cpc->c_machine;
}
