/*
 * On the build machine, whose own CPU is not asked for.
 */
#include <stddef.h>

#include "payloads/names.h"

const struct event_db *const *
names_tables(void)
{
	return event_dbs;
}

const char *
names_cpu(void)
{
	return NULL;
}
