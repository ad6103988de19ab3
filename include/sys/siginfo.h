/*
 * siginfo_t and EMT_CPCOVF, under the name that Solaris and illumos have for
 * their header.  Included by programs.
 */
#ifndef SYS_SIGINFO_H
#define SYS_SIGINFO_H

#include <signal.h>

#endif /* SYS_SIGINFO_H */
