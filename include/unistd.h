/*
 * The C library's <unistd.h> with sysconf(3C) of Solaris and illumos.  Included
 * by programs.
 */
#ifndef BARECPC_UNISTD_H
#define BARECPC_UNISTD_H

#include_next <unistd.h>

/* The number of CPUs that the machine can have, and the greatest CPU id. */
#define _SC_NPROCESSORS_MAX 516
#define _SC_CPUID_MAX       517

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The C library's sysconf() counts the CPUs that the caller may run on.  This
 * one counts all: _SC_NPROCESSORS_CONF, and online ones: _SC_NPROCESSORS_ONLN.
 * sysconf(3C).
 */
long barecpc_sysconf(int name);
#define sysconf barecpc_sysconf

#ifdef __cplusplus
}
#endif

#endif /* BARECPC_UNISTD_H */
