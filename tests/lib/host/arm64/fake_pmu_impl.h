/* fake_pmu.c and fake_pmu_regs.c share this; included by these two. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Report a broken rule. */
void __attribute__((format(printf, 1, 2))) fake_broken(const char *fmt, ...);
/* The registers of the CPU that the code runs on. */
struct fake_pmu *fake_cpu(void);
/* The implemented bits of PMCNTEN and registers like it; other bits read 0. */
uint64_t fake_implemented(void);
/* Can event counters have 64 bits? */
bool fake_long_events(void);
/* Show noticed overflows in PMOVS, and set the timer for the next. */
void fake_look_after(uint64_t which);
/* Raise or lower the interrupt line, as PMCR, PMOVS and PMINTEN say. */
void fake_interrupt_line(void);
