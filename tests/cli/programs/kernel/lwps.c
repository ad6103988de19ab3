/*
 * Four LWPs that execute a loop of LOOP instructions at the same time.  The
 * loop is counted by a set of each LWP (`lwps set`), as a region (`lwps
 * region`), or not at all (`lwps none`).
 */
#include <libcpc.h>
#include <pthread.h>
#include <region.h>
#include <stdio.h>
#include <string.h>

#include "../turns.h"

#define NLWP 4
#define LOOP 40000000L

static const char *mode;

/* The count of a loop of n instructions, and of what a sample costs. */
static uint64_t
count(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf, long n)
{
	uint64_t before, after;

	cpc_set_sample(cpc, set, buf);
	cpc_buf_get(cpc, buf, 0, &before);
	make_turns(n / 2);
	cpc_set_sample(cpc, set, buf);
	cpc_buf_get(cpc, buf, 0, &after);
	return after - before;
}

static void *
run_loop(void *arg)
{
	cpc_t *cpc = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = cpc_set_create(cpc);

	if (strcmp(mode, "region") == 0)
		REGION_BEGIN("loop");
	if (strcmp(mode, "set") != 0)
		make_turns(LOOP / 2);
	if (strcmp(mode, "region") == 0)
		REGION_END("loop");
	if (strcmp(mode, "set") != 0)
		return arg;
	cpc_set_add_request(
	    cpc, set, "PAPI_tot_ins", 0, CPC_COUNT_USER, 0, NULL);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	if (cpc_bind_curlwp(cpc, set, 0) != 0)
		return arg;
	count(cpc, set, buf, 2); /* the first sample takes another path */
	uint64_t least = count(cpc, set, buf, 2);
	printf("count %llu\n",
	    (unsigned long long)(count(cpc, set, buf, LOOP + 2) - least));
	return arg;
}

int
main(int argc, char **argv)
{
	pthread_t t[NLWP];

	mode = argc > 1 ? argv[1] : "none";
	for (int i = 0; i < NLWP; i++)
		if (pthread_create(&t[i], NULL, run_loop, NULL) != 0)
			return 1;
	for (int i = 0; i < NLWP; i++)
		pthread_join(t[i], NULL);
	return 0;
}
