/* cpc_bind_curlwp(3CPC), cpc_bind_cpu(): a CPU's counters, and LWPs' sets. */
#include "common.h"

#include <sys/processor.h>
#include <sys/procset.h>
#include <sys/types.h>
#include <unistd.h>

const char program[] = "v2_cpu";

static cpc_t *cpc;

static cpc_set_t *
new_set(int *index)
{
	cpc_set_t *set = cpc_set_create(cpc);

	*index =
	    cpc_set_add_request(cpc, set, EVENT, 0, CPC_COUNT_USER, 0, NULL);
	CHECK(*index >= 0);
	return set;
}

static processorid_t
binding(void)
{
	processorid_t old;

	CHECK(processor_bind(P_LWPID, P_MYID, PBIND_QUERY, &old) == 0);
	return old;
}

static uint64_t
count(cpc_set_t *set, cpc_buf_t *a, cpc_buf_t *b, int index, uint64_t turns)
{
	uint64_t before, after;

	CHECK(cpc_set_sample(cpc, set, a) == 0);
	loop(turns);
	CHECK(cpc_set_sample(cpc, set, b) == 0);
	cpc_buf_get(cpc, a, index, &before);
	cpc_buf_get(cpc, b, index, &after);
	return after - before;
}

int
main(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), cpu;
	int my_ind, ind, ind2;
	uint64_t n;

	CHECK((cpc = cpc_open(CPC_VER_CURRENT)) != NULL);
	cpc_set_t *mine = new_set(&my_ind);
	cpc_buf_t *my_buf = cpc_buf_create(cpc, mine);
	cpc_set_t *cpus_set = new_set(&ind);
	cpc_set_t *second = new_set(&ind2);
	cpc_buf_t *a = cpc_buf_create(cpc, cpus_set);
	cpc_buf_t *b = cpc_buf_create(cpc, cpus_set);
	FAILS(cpc_bind_cpu(cpc, 12345, cpus_set, 0), EINVAL);
	CHECK(cpc_bind_cpu(cpc, 0, cpus_set, 1) == -1);

	for (cpu = 0; cpu < cpus; cpu++) {
		CHECK(cpc_bind_curlwp(cpc, mine, 0) == 0);
		CHECK(cpc_set_sample(cpc, mine, my_buf) == 0);
		CHECK(binding() == PBIND_NONE);
		CHECK(cpc_bind_cpu(cpc, cpu, cpus_set, 0) == 0);
		CHECK(binding() == cpu);
		/* It took the counters from the set of this LWP. */
		FAILS(cpc_set_sample(cpc, mine, my_buf), EAGAIN);
		FAILS(cpc_bind_curlwp(cpc, second, 0), EAGAIN);
		FAILS(cpc_bind_cpu(cpc, cpu, second, 0), EAGAIN);
		n = count(cpus_set, a, b, ind, 1000);
		EQUAL(count(cpus_set, a, b, ind, 2000) - n, 2 * 1000);
		CHECK(cpc_unbind(cpc, cpus_set) == 0);
		CHECK(binding() == PBIND_NONE);
		CHECK(cpc_unbind(cpc, mine) == 0);
	}

	/* "the LWP has been unbound from the processor it is measuring" */
	CHECK(cpc_bind_cpu(cpc, 0, cpus_set, 0) == 0);
	CHECK(processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL) == 0);
	FAILS(cpc_set_sample(cpc, cpus_set, a), EAGAIN);
	CHECK(cpc_unbind(cpc, cpus_set) == 0);

	CHECK(cpc_bind_curlwp(cpc, second, 0) == 0);
	CHECK(cpc_unbind(cpc, second) == 0);
	cpc_close(cpc);
	return finish();
}
