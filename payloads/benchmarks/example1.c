/*
 * example1: cpc_bind_curlwp(3CPC), "Example 1 Use hardware performance
 * counters to measure events in a process".  The computation is ours: the
 * manual leaves a place for one.
 *
 * EVENT0 and EVENT1 in the environment name the two events.  Prints the counts
 * of both for each of 20 iterations.
 */
#include <errno.h>
#include <inttypes.h>
#include <libcpc.h>
#include <payload.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/cpc_error.h"
#include "payloads/common/usage.h"

#define ITERATIONS 20
#define TERMS      1000

/* The manual's name for this function. */
#define error(...) fail(1, __VA_ARGS__)

/* The sum of the first n squares, added one by one. */
static uint64_t
computation(uint64_t n)
{
	uint64_t sum = 0, i;

	for (i = 1; i <= n; i++) {
		sum += i * i;
		/* Without this the compiler may use a formula. */
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

/* The event that the environment names, or the default, joins the set. */
static int
add_event(cpc_t *cpc, cpc_set_t *set, const char *variable, const char *event)
{
	uint_t flags = payload_privilege() == PAYLOAD_SYSTEM ? CPC_COUNT_SYSTEM
	                                                     : CPC_COUNT_USER;

	if (getenv(variable) != NULL)
		event = getenv(variable);
	int ind = cpc_set_add_request(cpc, set, event, 0, flags, 0, NULL);
	if (ind == -1)
		error("could not add %s: %s", event, strerror(errno));
	return ind;
}

int
main(int argc, char **argv)
{
	cpc_buf_t *diff, *after, *before;
	int ind0, ind1, iter;
	uint64_t val0, val1, sum;
	cpc_set_t *set;
	cpc_t *cpc;
	char why[160];

	usage_is("", "EVENT0 and EVENT1 in the environment name the events.\n");
	usage_option(argc, argv, ":", NULL);
	if (optind != argc)
		usage_mistake("%s: takes no argument", argv[optind]);

	if ((cpc = cpc_open(CPC_VER_CURRENT)) == NULL)
		fail(errno == ENOSYS ? 77 : 1, "<not supported>: %s",
		    cpc_error_of_open(why, sizeof why));
	if ((set = cpc_set_create(cpc)) == NULL)
		error("could not create set: %s", strerror(errno));
	ind0 = add_event(cpc, set, "EVENT0", "PAPI_tot_cyc");
	ind1 = add_event(cpc, set, "EVENT1", "PAPI_tot_ins");
	if ((diff = cpc_buf_create(cpc, set)) == NULL ||
	    (after = cpc_buf_create(cpc, set)) == NULL ||
	    (before = cpc_buf_create(cpc, set)) == NULL)
		error("could not create buffer: %s", strerror(errno));
	if (cpc_bind_curlwp(cpc, set, 0) == -1)
		cpc_error_of_bind();

	for (iter = 1; iter <= ITERATIONS; iter++) {
		if (cpc_set_sample(cpc, set, before) == -1)
			break;
		sum = computation(TERMS);
		if (cpc_set_sample(cpc, set, after) == -1)
			break;
		if (sum != TERMS * (TERMS + 1) * (2 * TERMS + 1) / 6)
			error("wrong result");
		cpc_buf_sub(cpc, diff, after, before);
		cpc_buf_get(cpc, diff, ind0, &val0);
		cpc_buf_get(cpc, diff, ind1, &val1);
		printf("%3d: %" PRId64 " %" PRId64 "\n", iter, (int64_t)val0,
		    (int64_t)val1);
	}
	if (iter != ITERATIONS + 1)
		error("cannot sample set: %s", strerror(errno));
	cpc_unbind(cpc, set);
	cpc_close(cpc);
	return 0;
}
