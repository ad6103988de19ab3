/* A set of the CPU takes the counters: a region before has its count. */
#include <libcpc.h>
#include <region.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../programs/turns.h"

int
main(void)
{
	cpc_t *cpc;

	int result = region_begin("before");
	make_turns(1000);
	region_end("before");
	if (result == -1)
		printf("no counters: %s\n", strerror(errno));
	if ((cpc = cpc_open(CPC_VER_CURRENT)) == NULL)
		return 0;
	cpc_set_t *set = cpc_set_create(cpc);
	if (cpc_set_add_request(
		cpc, set, "PAPI_tot_ins", 0, CPC_COUNT_USER, 0, NULL) == -1 ||
	    cpc_bind_cpu(cpc, 0, set, 0) == -1)
		return 1;
	result = region_begin("after");
	printf("begin: %d: %s\n", result, strerror(errno));
	region_end("after");
	return 0;
}
