/* The machine that the program runs on, for programs without a handle. */
#include <pthread.h>
#include <stddef.h>

#include "cpc/cpci.h"

static struct machine own_machine;
static bool has_pmu;

static void
query_machine(void)
{
	has_pmu = cpc_syscall(
		      CPC_OP_PMU, (uintptr_t)&own_machine.mc_pmu, 0, 0, 0) == 0;
	has_pmu = has_pmu && cpci_types_fetch(&own_machine);
	if (has_pmu)
		machine_load(&own_machine, CPCI_EVENTS);
}

const struct machine *
machine_here(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, query_machine);
	return has_pmu ? &own_machine : NULL;
}
