/*
 * Performance counters of x86 under TCG
 *
 * With icount every count is exact.  The loops below have two instructions in
 * each turn; the difference of two lengths cancels what reads them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include <stdbool.h>
#include <stdint.h>
#include <minilib.h>

#define PERFEVTSEL0    0x186
#define PMC0           0x0c1
#define FIXED_CTR0     0x309
#define FIXED_CTR_CTRL 0x38d
#define GLOBAL_STATUS  0x38e
#define GLOBAL_CTRL    0x38f

#define OS_EN 0x420000u
#define EDGE  0x040000u

static bool failed;

static void wrmsr(uint32_t msr, uint64_t val)
{
    asm volatile("wrmsr"
                 :
                 : "c"(msr), "a"((uint32_t)val), "d"((uint32_t)(val >> 32)));
}

static uint64_t rdmsr(uint32_t msr)
{
    uint32_t lo, hi;

    asm volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr));
    return lo | (uint64_t)hi << 32;
}

static void loop(uint32_t turns)
{
    asm volatile("1: dec %0; jnz 1b" : "+r"(turns));
}

/* The events of a general counter in a loop */
static uint64_t count(uint32_t evtsel, uint32_t turns)
{
    wrmsr(PERFEVTSEL0, 0);
    wrmsr(PMC0, 0);
    wrmsr(PERFEVTSEL0, evtsel);
    loop(turns);
    wrmsr(PERFEVTSEL0, 0);
    return rdmsr(PMC0);
}

static void check(const char *what, uint64_t got, uint64_t want)
{
    if (got != want) {
        ml_printf("FAIL: %s: %ld, expected %ld\n", what, (long)got, (long)want);
        failed = true;
    }
}

static uint64_t added(uint32_t evtsel)
{
    return count(evtsel, 3000) - count(evtsel, 1000);
}

int main(void)
{
    uint64_t before;

    wrmsr(GLOBAL_CTRL, 1 | 1ull << 32);
    check("instructions", added(OS_EN | 0xc0), 4000);
    check("core cycles", added(OS_EN | 0x3c), 8000);
    check("branches", added(OS_EN | 0xc4), 2000);
    check("edges of branches", added(OS_EN | EDGE | 0xc4), 2000);
    check("no instruction in user mode", added(0x4100c0), 0);
    check("an event that is not modelled", added(OS_EN | 0x51), 0);

    wrmsr(FIXED_CTR_CTRL, 1);
    before = rdmsr(FIXED_CTR0);
    loop(1000);
    check("a fixed counter grows", rdmsr(FIXED_CTR0) - before >= 2000, true);
    wrmsr(FIXED_CTR_CTRL, 0);

    /* A value of 32 bits is extended by its sign to the 48 of the counter. */
    wrmsr(PMC0, 0xffffffff);
    check("the counter has 48 bits", rdmsr(PMC0), 0xffffffffffff);
    wrmsr(PERFEVTSEL0, OS_EN | 0xc0);
    loop(1000);
    wrmsr(PERFEVTSEL0, 0);
    check("an overflow is noted", rdmsr(GLOBAL_STATUS), 1);

    ml_printf(failed ? "FAILED\n" : "PASSED\n");
    return failed;
}
