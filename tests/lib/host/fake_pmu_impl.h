/*
 * What fake_pmu.c, which counts, and fake_pmu_regs.c, the accesses, share;
 * included by them alone.
 */
#ifndef TESTS_LIB_HOST_FAKE_PMU_IMPL_H
#define TESTS_LIB_HOST_FAKE_PMU_IMPL_H

#include <stdbool.h>
#include <stdint.h>

/* A rule is broken. */
void __attribute__((format(printf, 1, 2))) fake_broken(const char *fmt, ...);
/* The registers of the CPU we are on. */
struct fake_pmu *fake_cpu(void);
/* Bits of PMCNTEN and the like that are there; others read 0. */
uint64_t fake_implemented(void);
/* Event counters may have 64 bits. */
bool fake_long_events(void);
/* PMOVS shows the overflows of these; the timer is set, or set earlier. */
void fake_look_after(uint64_t which);
/* The interrupt is asked for, or is not. */
void fake_interrupt_line(void);

#endif /* TESTS_LIB_HOST_FAKE_PMU_IMPL_H */
