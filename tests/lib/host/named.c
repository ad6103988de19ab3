/* Resolve events and attributes by name for tests of backends. */

#include "tests/lib/host/named.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/host/support.h"

static const struct machine_kind *const kinds[] = { &machine_intel,
	&machine_amd, &machine_arm, &machine_soft };

const struct machine *
named_machine(const struct pcbe_ops *ops)
{
	static struct machine mc;
	struct cpc_pmu *pm = &mc.mc_pmu;

	memset(&mc, 0, sizeof mc);
	ops->describe(pm, 0);
	pm->pm_attrs = ops->pcbe_attrs;
	pm->pm_pics = ~0U;
	if (pm->pm_kind != CPC_PMU_SOFTWARE)
		mc.mc_table = events_cpu(event_dbs, kinds[pm->pm_kind]->mk_kind,
		    pm->pm_family, pm->pm_model, pm->pm_stepping);
	mc.mc_loaded = true;
	return &mc;
}

static struct pcbe_event
as_bound(const struct cpc_event *ce)
{
	return (struct pcbe_event){ .pe_code = ce->ce_code,
		.pe_extra_msr = ce->ce_extra,
		.pe_pics = ce->ce_pics,
		.pe_flags = ce->ce_flags };
}

static uint64_t
resolve(const struct machine *mc, const char *name, struct pcbe_event *ev)
{
	char padded[CPC_MAX_EVENT_LEN + EVENT_WORD] = "", *end;
	uint64_t num = strtoull(name, &end, 0);
	struct cpc_event ce;
	bool found;

	strcpy(padded, name);
	found =
	    machine_event(mc, padded, *end == '\0' && end != name, num, &ce);
	*ev = as_bound(&ce);
	return found ? ev->pe_pics : 0;
}

uint64_t
named_event(const struct pcbe_ops *ops, const char *name, struct pcbe_event *ev)
{
	return resolve(named_machine(ops), name, ev);
}

uint64_t
named_own(const struct pcbe_ops *ops, const char *name, struct pcbe_event *ev)
{
	struct machine mc = *named_machine(ops);

	mc.mc_table = (struct events){ NULL, NULL };
	return resolve(&mc, name, ev);
}

uint64_t
named_code(const struct pcbe_ops *ops, const struct event_code *ec,
    struct pcbe_event *ev)
{
	const struct cpc_pmu *pm = &named_machine(ops)->mc_pmu;
	struct cpc_event ce = { .ce_flags = ev->pe_flags };
	uint64_t pics = kinds[pm->pm_kind]->mk_tabled(pm, ec, &ce);

	ce.ce_pics = (uint32_t)pics;
	*ev = as_bound(&ce);
	return pics;
}

enum cpc_attr_id
named_attr(const struct pcbe_ops *ops, const char *name, size_t len)
{
	for (unsigned i = 0; i < CPC_ATTR_IDS; i++) {
		const char *known = machine_attr((enum cpc_attr_id)i);

		if ((ops->pcbe_attrs >> i & 1) != 0 && strlen(known) == len &&
		    memcmp(known, name, len) == 0)
			return (enum cpc_attr_id)i;
	}
	fail_msg("no attribute %s", name);
	return CPC_ATTR_IDS;
}
