/*
 * The C library's <ucontext.h>, with the two indices of gregs[] that
 * programs for several machines use.  Included by <libcpc.h> and by programs.
 */
#ifndef BARECPC_UCONTEXT_H
#define BARECPC_UCONTEXT_H

#include_next <ucontext.h>

#ifdef __aarch64__
#define REG_SP 31
#define REG_PC 32
#else
#define REG_SP 15 /* REG_RSP, which not every program is shown */
#define REG_PC 16 /* REG_RIP */
#endif

#ifndef PC
#define PC REG_PC
#endif
#ifndef SP
#define SP REG_SP
#endif

#endif /* BARECPC_UCONTEXT_H */
