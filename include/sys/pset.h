/* Processor sets: each CPU and LWP is in PS_NONE.  Included by programs. */
#ifndef SYS_PSET_H
#define SYS_PSET_H

#include <sys/procset.h>
#include <sys/types.h>

#define PS_NONE  (-1)
#define PS_QUERY (-2)
#define PS_MYID  (-3)

#ifdef __cplusplus
extern "C" {
#endif

/*
 * *old becomes PS_NONE, unless old is NULL.  set is PS_NONE or PS_QUERY.
 * Returns 0, or -1 with errno EINVAL for another set.  For an id or CPU that
 * does not exist it fails as processor_bind() and p_online() do.  pset_bind(2),
 * pset_create(2).
 */
int pset_bind(psetid_t set, idtype_t idtype, id_t id, psetid_t *old);
int pset_assign(psetid_t set, processorid_t cpu, psetid_t *old);

#ifdef __cplusplus
}
#endif

#endif /* SYS_PSET_H */
