/*
 * The machine the program runs on, for programs that have no handle.
 */
#include <pthread.h>
#include <stddef.h>

#include "cpc/cpci.h"

static struct machine here;
static bool has_pmu;

static void
look(void)
{
	has_pmu =
	    cpc_syscall(CPC_OP_PMU, (uintptr_t)&here.mc_pmu, 0, 0, 0) == 0;
	if (has_pmu)
		machine_load(&here, CPCI_EVENTS);
}

const struct machine *
machine_here(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, look);
	return has_pmu ? &here : NULL;
}
