/* The names of CPUs.  Included by arch/arm64/. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Arm ARM (DDI 0487), "MIDR_EL1". */
#define MIDR_IMPLEMENTER(midr) ((unsigned)((midr) >> 24 & 0xff))
#define MIDR_PART(midr)        ((unsigned)((midr) >> 4 & 0xfff))

/* The name of the CPU with this MIDR_EL1, or why it has none. */
const char *arm64_cpu_name(uint64_t midr);
/* Write the name of perf: armv8_cortex_a34, or one of numbers. */
void arm64_perf_name(
    char *name, size_t size, unsigned implementer, unsigned part);
