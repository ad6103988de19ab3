/* Opens and closes handles, and answers queries from what cpc_open() read. */
#include "cpc/cpci.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void
cpci_lock(cpc_t *cpc, sigset_t *mask)
{
	sigset_t emt;

	sigemptyset(&emt);
	sigaddset(&emt, SIGEMT);
	pthread_sigmask(SIG_BLOCK, &emt, mask);
	pthread_mutex_lock(&cpc->c_lock);
}

void
cpci_unlock(cpc_t *cpc, const sigset_t *mask)
{
	pthread_mutex_unlock(&cpc->c_lock);
	pthread_sigmask(SIG_SETMASK, mask, NULL);
}

void
cpci_text(enum cpc_op op, char *text, size_t size)
{
	memset(text, 0, size);
	cpc_syscall(op, 0, (uintptr_t)text, size - 1, 0);
}

static void
handle_free(cpc_t *cpc)
{
	cpci_sets_free(cpc);
	cpci_table_free(&cpc->c_sets);
	cpci_table_free(&cpc->c_bufs);
	free(cpc->c_types);
	pthread_mutex_destroy(&cpc->c_lock);
	free(cpc);
}

cpc_t *
cpc_open(int ver)
{
	intptr_t npic;
	cpc_t *cpc;

	if (ver != CPC_VER_CURRENT)
		return cpci_null();
	if ((npic = cpc_syscall(CPC_OP_NPIC, 0, 0, 0, 0)) < 0) {
		errno = (int)-npic;
		return NULL;
	}
	if ((cpc = calloc(1, sizeof *cpc)) == NULL)
		return NULL;
	pthread_mutex_init(&cpc->c_lock, NULL);
	cpc->c_npic = (uint_t)npic;
	cpc->c_caps = (uint_t)cpc_syscall(CPC_OP_CAPS, 0, 0, 0, 0);
	cpc_syscall(CPC_OP_PMU, (uintptr_t)&cpc->c_machine.mc_pmu, 0, 0, 0);
	cpci_text(CPC_OP_IMPL_NAME, cpc->c_cciname, sizeof cpc->c_cciname);
	cpci_text(CPC_OP_CPUREF, cpc->c_cpuref, sizeof cpc->c_cpuref);
	if (!cpci_types_fetch(&cpc->c_machine)) {
		handle_free(cpc);
		errno = ENOMEM;
		return NULL;
	}
	cpc->c_types = cpc->c_machine.mc_types;
	cpc->c_ntypes = cpc->c_machine.mc_ntypes;
	return cpc;
}

int
cpc_close(cpc_t *cpc)
{
	struct cpci_set *cs;
	struct cpci_buf *cb;
	sigset_t mask;
	int err = errno;

	if (cpc == NULL)
		return 0;
	cpci_lock(cpc, &mask);
	while ((cs = cpci_table_drain(&cpc->c_sets)) != NULL)
		cpci_set_end(cpc, cs);
	cpci_unlock(cpc, &mask);
	while ((cb = cpci_table_drain(&cpc->c_bufs)) != NULL)
		cpci_buf_end(cb);
	handle_free(cpc);
	errno = err;
	return 0;
}

uint_t
cpc_npic(cpc_t *cpc)
{
	return cpc != NULL ? cpc->c_npic : 0;
}

uint_t
cpc_caps(cpc_t *cpc)
{
	return cpc != NULL ? cpc->c_caps : 0;
}

const char *
cpc_cciname(cpc_t *cpc)
{
	return cpc != NULL ? cpc->c_cciname : cpci_null();
}

const char *
cpc_cpuref(cpc_t *cpc)
{
	return cpc != NULL ? cpc->c_cpuref : cpci_null();
}
