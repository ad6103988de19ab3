/* Resolve events and attributes by name for tests of backends. */

#include "tests/lib/host/named.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/host/support.h"

static const struct machine_kind *const kinds[] = { &machine_intel,
	&machine_amd, &machine_arm, &machine_soft };

struct cpc_refusal named_refusal;

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

static uint64_t
resolve(const struct machine *mc, const char *name, struct cpc_event *ev)
{
	char padded[CPC_MAX_EVENT_LEN + EVENT_WORD] = "", *end;
	uint64_t num = strtoull(name, &end, 0);

	strcpy(padded, name);
	return machine_event(mc, padded, *end == '\0' && end != name, num, ev)
	           ? ev->ce_pics
	           : 0;
}

uint64_t
named_event(const struct pcbe_ops *ops, const char *name, struct cpc_event *ev)
{
	return resolve(named_machine(ops), name, ev);
}

uint64_t
named_own(const struct pcbe_ops *ops, const char *name, struct cpc_event *ev)
{
	struct machine mc = *named_machine(ops);

	mc.mc_table = (struct events){ NULL, NULL };
	return resolve(&mc, name, ev);
}

uint64_t
named_code(const struct pcbe_ops *ops, const struct event_code *ec,
    struct cpc_event *ev)
{
	const struct cpc_pmu *pm = &named_machine(ops)->mc_pmu;

	*ev = (struct cpc_event){ .ce_flags = ev->ce_flags };
	ev->ce_pics = (uint32_t)kinds[pm->pm_kind]->mk_tabled(pm, ec, ev);
	return ev->ce_pics;
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
