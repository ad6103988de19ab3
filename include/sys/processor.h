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

#endif /* SYS_PROCESSOR_H */
