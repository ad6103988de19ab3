/*
 * CPUID of an E-core: the hybrid bit, the core type, and the smaller PMU.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include <stdbool.h>
#include <stdint.h>
#include <minilib.h>

struct regs {
    uint32_t a, b, c, d;
};

static bool failed;

static struct regs cpuid(uint32_t leaf)
{
    struct regs r;

    asm volatile("cpuid"
                 : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d)
                 : "a"(leaf), "c"(0));
    return r;
}

static void check(const char *what, uint32_t got, uint32_t want)
{
    if (got != want) {
        ml_printf("FAIL: %s: %d, expected %d\n", what, (int)got, (int)want);
        failed = true;
    }
}

int main(void)
{
    check("the highest leaf", cpuid(0).a, 0x1a);
    check("the hybrid bit", cpuid(7).d >> 15 & 1, 1);
    check("the core type", cpuid(0x1a).a >> 24, 0x20);
    check("general counters", cpuid(0xa).a >> 8 & 0xff, 6);

    ml_printf(failed ? "FAILED\n" : "PASSED\n");
    return failed;
}
