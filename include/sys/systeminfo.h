/*
 * sysinfo(2) of Solaris and illumos.  Linux has another function of this name
 * in <sys/sysinfo.h>: a file can include one of the two.  Included by programs.
 */
#ifndef SYS_SYSTEMINFO_H
#define SYS_SYSTEMINFO_H

#define SI_SYSNAME         1
#define SI_HOSTNAME        2
#define SI_RELEASE         3
#define SI_VERSION         4
#define SI_MACHINE         5
#define SI_ARCHITECTURE    6
#define SI_HW_PROVIDER     8
#define SI_PLATFORM        513
#define SI_ISALIST         514
#define SI_ARCHITECTURE_64 517

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Copy a string about the system to buf: at most count bytes, a NUL included.
 * Returns the bytes that the whole string needs, or -1 with errno EINVAL for an
 * unknown command or a negative count.  sysinfo(2).
 */
int barecpc_sysinfo(int command, char *buf, long count);
#define sysinfo barecpc_sysinfo

#ifdef __cplusplus
}
#endif

#endif /* SYS_SYSTEMINFO_H */
