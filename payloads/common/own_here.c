/*
 * The PMU of this machine is asked, by a bind for each event.
 */
#include "payloads/common/own.h"

#include <libcpc.h>
#include <stdio.h>

#include "payloads/common/cpc_error.h"
#include "payloads/common/event_table.h"

static struct search {
	cpc_t *cpc;
	bool (*has)(const char *name, const char *pattern);
	const char *pattern;
	int found;
} se;

/* The code by which a lone request counts it; nothing where none can. */
static void
print_code(const char *event)
{
	cpc_set_t *set = cpc_set_create(se.cpc);
	cpc_reqinfo_t info;

	if (set == NULL)
		return;
	if (cpc_set_add_request(
		se.cpc, set, event, 0, CPC_COUNT_USER, 0, NULL) == 0 &&
	    cpc_bind_curlwp(se.cpc, set, 0) == 0 &&
	    cpc_request_info(se.cpc, set, 0, &info) == 0)
		printf(" 0x%llx", (unsigned long long)info.ri_code);
	cpc_set_destroy(se.cpc, set);
}

static void
print(void *arg, const char *event)
{
	(void)arg;
	if (!se.has(event, se.pattern))
		return;
	printf("%-48s [Architected event]", event);
	print_code(event);
	putchar('\n');
	se.found++;
}

int
own_list(
    bool (*has)(const char *name, const char *pattern), const char *pattern)
{
	if (names_cpu() != NULL || (se.cpc = cpc_open(CPC_VER_CURRENT)) == NULL)
		return -1;
	detail_keep(se.cpc);
	se.has = has;
	se.pattern = pattern;
	cpc_walk_events_all(se.cpc, NULL, print);
	cpc_walk_generic_events_all(se.cpc, NULL, print);
	cpc_close(se.cpc);
	return se.found;
}
