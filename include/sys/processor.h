/*
 * Processor states and bindings: the types and constants of Solaris and
 * illumos.  Included by <libcpc.h> and by programs.
 */
#ifndef SYS_PROCESSOR_H
#define SYS_PROCESSOR_H

#include <sys/types.h>
#include <sys/wait.h> /* idtype_t: P_PID, P_ALL */

/* States of a processor. */
#define P_OFFLINE  1
#define P_ONLINE   2
#define P_STATUS   3 /* only ask */
#define P_FAULTED  4
#define P_POWEROFF 5
#define P_NOINTR   6
#define P_SPARE    7

/* In place of a processor id. */
#define PBIND_NONE       (-1)
#define PBIND_QUERY      (-2)
#define PBIND_HARD       (-3)
#define PBIND_SOFT       (-4)
#define PBIND_QUERY_TYPE (-5)

/* What an id names, where <sys/wait.h> does not say it already. */
#define P_LWPID ((idtype_t)8)
#define P_MYID  (-1) /* the caller */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Bind the LWP (P_LWPID) or all LWPs of the process (P_PID) to a CPU, or to
 * none (PBIND_NONE), or ask (PBIND_QUERY); *old, unless NULL, becomes what it
 * was bound to.  0, or -1 with EINVAL (no such CPU, or it is offline; another
 * idtype), ESRCH, EFAULT.
 */
int processor_bind(
    idtype_t idtype, id_t id, processorid_t cpu, processorid_t *old);
/*
 * Take LWPs on the CPU (P_ONLINE) or not (P_OFFLINE), or ask (P_STATUS).
 * What it was, or -1 with EINVAL (no such CPU or state), EBUSY (an LWP is
 * bound to it, or no other CPU is left).
 */
int p_online(processorid_t cpu, int state);

#ifdef __cplusplus
}
#endif

#endif /* SYS_PROCESSOR_H */
