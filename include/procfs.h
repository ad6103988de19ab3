/*
 * <procfs.h> of Solaris and illumos, which their programs include for the
 * types of ids and times.  There is no /proc here: <libpctx.h> controls other
 * processes.  Included by programs.
 */
#ifndef BARECPC_PROCFS_H
#define BARECPC_PROCFS_H

#include <signal.h>
#include <sys/procset.h>
#include <sys/types.h>
#include <time.h>
#include <ucontext.h>

#endif /* BARECPC_PROCFS_H */
