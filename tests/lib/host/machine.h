/*
 * What the host tests of the arm64 machine's tables have in common: the
 * kernel that the parsers call, with physical memory where the host has it.
 */
#ifndef TESTS_LIB_HOST_MACHINE_H
#define TESTS_LIB_HOST_MACHINE_H

#include "tests/lib/host/support.h"

#include "arch/arm64/machine.h"

/* Everything the kernel has printed since machine_reset(). */
extern char machine_said[4096];

/* As before the tables were read. */
void machine_reset(void);
/* The parser's address of host memory. */
uint64_t machine_pa(const void *p);

#endif /* TESTS_LIB_HOST_MACHINE_H */
