/*
 * The fake kernel for the host tests of the arm64 machine's tables.  It has
 * the functions that the parsers call; physical memory is the host's memory.
 * Included by those tests.
 */
#pragma once

#include "tests/lib/host/support.h"

#include "arch/arm64/machine.h"

/* Everything the kernel has printed since machine_reset(). */
extern char machine_said[4096];

/* Empty the machine description, as it is before the tables are read. */
void machine_reset(void);
/* The physical address of host memory, as the parser sees it. */
uint64_t machine_pa(const void *p);
