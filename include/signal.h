/*
 * The C library's <signal.h>, with SIGEMT and with one way on all machines
 * to find a register in a signal's context.  Included by programs.
 */
#ifndef BARECPC_SIGNAL_H
#define BARECPC_SIGNAL_H

#include <sys/types.h>

#ifdef __aarch64__
/*
 * The C library gives arm64's mcontext_t the members regs[31], sp, pc and
 * pstate, and declares a gregset_t of those 34 words which it does not use.
 * While its header is read, its first and last member's names open and close
 * a union, so that gregs[] overlays the four.
 */
#define fault_address                                                          \
	fault_address;                                                         \
	__extension__ union {                                                  \
		gregset_t gregs;                                               \
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

/* Linux numbers have no SIGEMT; this one it reserves and never sends. */
#undef SIGSTKFLT
#define SIGEMT     16
#define EMT_CPCOVF 1 /* si_code: a performance counter overflowed */

#endif /* BARECPC_SIGNAL_H */
