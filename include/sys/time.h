/* The C library's <sys/time.h> with gethrtime(3C).  Included by programs. */
#ifndef BARECPC_SYS_TIME_H
#define BARECPC_SYS_TIME_H

#include <sys/types.h>

#include_next <sys/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The time in ns since some fixed moment.  It never goes back.  It is the clock
 * of cpc_buf_hrtime().  Always succeeds.  gethrtime(3C).
 */
hrtime_t gethrtime(void);

/*
 * The time in ns for which the calling LWP has been on a CPU, the kernel's
 * time for it included.  Always succeeds.  gethrvtime(3C).
 */
hrtime_t gethrvtime(void);

#ifdef __cplusplus
}
#endif

#endif /* BARECPC_SYS_TIME_H */
