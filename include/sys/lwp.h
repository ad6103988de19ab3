/*
 * The id of an LWP, as Solaris and illumos provide it.  Included by programs.
 */
#ifndef SYS_LWP_H
#define SYS_LWP_H

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The calling LWP's id, from 1 in each process.  Never fails.  _lwp_self(2). */
lwpid_t _lwp_self(void);

#ifdef __cplusplus
}
#endif

#endif /* SYS_LWP_H */
