/*
 * In the image: the kernel's own tables, copied.
 */
#include "payloads/names.h"

#include <stdlib.h>
#include <sys/cpc.h>

#include "payloads/usage.h"

static const void *
section(unsigned vendor, unsigned s, uint32_t *bytes)
{
	uintptr_t which = vendor * SECTION_N + s;
	intptr_t n = cpc_syscall(CPC_OP_TABLE, which, 0, 0, 0);
	void *at;

	*bytes = 0;
	if (n <= 0)
		return NULL;
	at = fail_unless_room(malloc((size_t)n));
	cpc_syscall(CPC_OP_TABLE, which, (uintptr_t)at, (uintptr_t)n, 0);
	*bytes = (uint32_t)n;
	return at;
}

const struct event_db *const *
names_tables(void)
{
	static struct event_db db[EVENT_VENDORS];
	static const struct event_db *dbs[EVENT_VENDORS];
	static bool fetched;

	for (unsigned v = 0; v < EVENT_VENDORS && !fetched; v++) {
		for (unsigned s = 0; s < SECTION_N; s++)
			db[v].ed_at[s] = section(v, s, &db[v].ed_bytes[s]);
		if (db[v].ed_at[SECTION_PMUS] != NULL)
			dbs[v] = &db[v];
	}
	fetched = true;
	return dbs;
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
