/*
 * The C library's <signal.h> with SIGEMT, and with gregs[] on every machine.
 * Included by programs.
 */
#ifndef BARECPC_SIGNAL_H
#define BARECPC_SIGNAL_H

#include <sys/types.h>

#ifdef __aarch64__
#ifdef __GLIBC__
/* glibc's <signal.h> includes these.  They must not see the macros below. */
#include <sys/procfs.h>
#include <sys/user.h>
#endif
/*
 * On arm64 the C library's mcontext_t has the members fault_address, regs[31],
 * sp, pc and pstate.  These macros add a union while the C library's header is
 * read: one opens it after fault_address, one closes it after pstate.  In the
 * union gregs[] overlays the last four members.
 */
#define fault_address                                                          \
	fault_address;                                                         \
	__extension__ union {                                                  \
		unsigned long gregs[34];                                       \
		struct {
#define pstate                                                                 \
	pstate;                                                                \
	}                                                                      \
	;                                                                      \
	}
#include_next <signal.h>
#undef fault_address
#undef pstate
#else
#include_next <signal.h>
#endif

/* Linux has no SIGEMT on these machines.  It never sends signal 16. */
#undef SIGSTKFLT
#define SIGEMT     16
#define EMT_CPCOVF 1 /* si_code: a performance counter overflowed */

#endif /* BARECPC_SIGNAL_H */
