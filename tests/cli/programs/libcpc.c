/* Counts itself with libcpc.  Exits 0 if exact, 77 without a PMU. */
#include <libcpc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "turns.h"

static uint64_t
count_turns(cpc_t *cpc, cpc_set_t *set, int request, long n)
{
	cpc_buf_t *before = cpc_buf_create(cpc, set);
	cpc_buf_t *after = cpc_buf_create(cpc, set);
	uint64_t a, b;

	if (before == NULL || after == NULL ||
	    cpc_set_sample(cpc, set, before) == -1)
		exit(1);
	make_turns(n);
	if (cpc_set_sample(cpc, set, after) == -1 ||
	    cpc_buf_get(cpc, before, request, &a) == -1 ||
	    cpc_buf_get(cpc, after, request, &b) == -1)
		exit(1);
	cpc_buf_destroy(cpc, before);
	cpc_buf_destroy(cpc, after);
	return b - a;
}

int
main(void)
{
	cpc_t *cpc = cpc_open(CPC_VER_CURRENT);

	if (cpc == NULL) {
		perror("cpc_open");
		return 77;
	}
	cpc_set_t *set = cpc_set_create(cpc);
	int request = cpc_set_add_request(
	    cpc, set, "PAPI_tot_ins", 0, CPC_COUNT_USER, 0, NULL);
	if (request == -1 || cpc_bind_curlwp(cpc, set, 0) == -1)
		return 1;
	uint64_t n1 = count_turns(cpc, set, request, 1000);
	uint64_t n2 = count_turns(cpc, set, request, 3000);
	printf("%llu\n", (unsigned long long)(n2 - n1));
	cpc_close(cpc);
	return n2 - n1 == 2 * 2000 ? 0 : 1;
}
