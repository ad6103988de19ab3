/*
 * The C library's <ucontext.h> with portable indices of gregs[].  Included by
 * <libcpc.h> and by programs.
 */
#ifndef BARECPC_UCONTEXT_H
#define BARECPC_UCONTEXT_H

#include_next <ucontext.h>

/* REG_R0 holds a function's result, REG_R1 the second half of a long one. */
#ifdef __aarch64__
#define REG_R0 0
#define REG_R1 1
#define REG_FP 29
#define REG_SP 31
#define REG_PC 32
#define REG_PS 33 /* PSTATE */
#else
#define REG_R0 REG_RAX
#define REG_R1 REG_RDX
#define REG_FP REG_RBP
#define REG_SP REG_RSP
#define REG_PC REG_RIP
#define REG_PS REG_EFL
#endif

#ifndef PC
#define PC REG_PC
#endif
#ifndef SP
#define SP REG_SP
#endif
#ifndef USP
#define USP REG_SP
#endif

#endif /* BARECPC_UCONTEXT_H */
