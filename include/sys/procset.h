/*
 * idtype_t and the ids of Solaris and illumos.  Included by programs.  The
 * types are the C library's.
 */
#ifndef SYS_PROCSET_H
#define SYS_PROCSET_H

#include <sys/processor.h> /* P_LWPID, P_MYID */
#include <sys/wait.h>      /* idtype_t: P_PID, P_ALL */

#endif /* SYS_PROCSET_H */
