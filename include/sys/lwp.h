/*
 * LWPs, as Solaris and illumos name them.  Included by programs.
 */
#ifndef SYS_LWP_H
#define SYS_LWP_H

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The calling LWP's id: from 1 in each process.  Always succeeds. */
lwpid_t _lwp_self(void);

#ifdef __cplusplus
}
#endif

#endif /* SYS_LWP_H */
