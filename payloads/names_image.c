/*
 * In the image: the tables are files of its archive.
 */
#include "payloads/names.h"

#include <stddef.h>
#include <sys/cpc.h>

const struct event_db *const *
names_tables(void)
{
	return events_files("/events");
}

const char *
names_cpu(void)
{
	static char name[64];

	return cpc_syscall(
		   CPC_OP_TABLE_CPU, 0, (uintptr_t)name, sizeof name, 0) > 0
	           ? name
	           : NULL;
}
