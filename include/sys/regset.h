/*
 * The indices of gregs[], under the name that Solaris and illumos have for
 * their header.  Included by programs.
 */
#ifndef SYS_REGSET_H
#define SYS_REGSET_H

#include <ucontext.h>

#endif /* SYS_REGSET_H */
