/*
 * The C library's <sys/time.h>, with gethrtime(3C) besides.  Included by
 * programs.
 */
#ifndef BARECPC_SYS_TIME_H
#define BARECPC_SYS_TIME_H

#include <sys/types.h>

#include_next <sys/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Nanoseconds since some fixed time, never going back; the clock of
 * cpc_buf_hrtime().  Always succeeds.
 */
hrtime_t gethrtime(void);

#ifdef __cplusplus
}
#endif

#endif /* BARECPC_SYS_TIME_H */
