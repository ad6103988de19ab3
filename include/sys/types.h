/*
 * The C library's <sys/types.h> with the integer types of Solaris and illumos.
 * Included by programs.
 */
#ifndef BARECPC_SYS_TYPES_H
#define BARECPC_SYS_TYPES_H

#include_next <sys/types.h>

typedef unsigned char uchar_t;
typedef unsigned short ushort_t;
typedef unsigned int uint_t;
typedef unsigned long ulong_t;
typedef long long longlong_t;
typedef unsigned long long u_longlong_t;

typedef long long hrtime_t; /* nanoseconds since some fixed time */
typedef int processorid_t;  /* a CPU, from 0 */
typedef int psetid_t;       /* a processor set */
typedef struct timespec timespec_t, timestruc_t;
#ifdef __GLIBC__
typedef int lwpid_t; /* as in glibc's <sys/procfs.h> */
#else
typedef unsigned int lwpid_t;
#endif

#endif /* BARECPC_SYS_TYPES_H */
