/* Processor sets, which do not exist: <sys/pset.h>. */
#include <sys/pset.h>

#include <errno.h>
#include <stddef.h>

static int
answer_none(psetid_t set, psetid_t *old)
{
	if (set != PS_NONE && set != PS_QUERY) {
		errno = EINVAL;
		return -1;
	}
	if (old != NULL)
		*old = PS_NONE;
	return 0;
}

int
pset_bind(psetid_t set, idtype_t idtype, id_t id, psetid_t *old)
{
	if (processor_bind(idtype, id, PBIND_QUERY, NULL) == -1)
		return -1;
	return answer_none(set, old);
}

int
pset_assign(psetid_t set, processorid_t cpu, psetid_t *old)
{
	if (p_online(cpu, P_STATUS) == -1)
		return -1;
	return answer_none(set, old);
}
