/*
 * INVD, WBINVD and WBNOINVD need CPL 0: in a user process they are #GP, which
 * is SIGSEGV.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include <assert.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

static sigjmp_buf env;

static void handler(int sig)
{
    siglongjmp(env, sig);
}

#define EXPECT_SEGV(insn)                                                      \
    do {                                                                       \
        int sig = sigsetjmp(env, 1);                                           \
        if (sig == 0) {                                                        \
            asm volatile(insn : : : "memory");                                 \
        }                                                                      \
        assert(sig == SIGSEGV);                                                \
    } while (0)

int main(void)
{
    struct sigaction act = { .sa_handler = handler };

    assert(sigaction(SIGSEGV, &act, NULL) == 0);
    EXPECT_SEGV("invd");
    EXPECT_SEGV("wbinvd");
    EXPECT_SEGV(".byte 0xf3, 0x0f, 0x09");
    return 0;
}
