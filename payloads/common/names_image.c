/*
 * In the image: the tables are files of its archive.
 */
#include "payloads/common/event_table.h"

#include <stddef.h>

#include "events/machine.h"

const struct event_db *const *
names_tables(void)
{
	return events_files("/events");
}

const char *
names_cpu(void)
{
	const struct machine *mc = machine_here();

	return mc != NULL && mc->mc_table.es_pmu != NULL
	           ? mc->mc_table.es_pmu->ep_name
	           : NULL;
}
