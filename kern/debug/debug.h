/*
 * Test hooks, coverage, and a limit on the length of an entry to the kernel:
 * kernel_limit= on the command line.  Included by kern/main.c and kern/debug/.
 *
 * The limit is a number of instructions, and more for each page that the entry
 * works on.  It needs one CPU and an emulator with -icount, whose clock counts
 * instructions.  kern/sched/xcall.h says what an entry is.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Give kcpc its operations for tests.  `on`: offer BARECPC_SYS_TEST, too. */
void test_hooks_init(bool on);

/* Make the errors that the DEBUG_* flags name.  Returns if none is caught. */
void test_crash(uint32_t flags);

/*
 * The number of basic blocks that have run since boot.  -ENOTSUP: the build
 * lacks SAN=coverage, and so coverage.c.
 */
intptr_t coverage_blocks(void);

/*
 * Limit each entry to `instructions`, and `each` more for each page.  Returns
 * false, and prints why, if the machine has several CPUs.
 */
bool limit_init(uint64_t instructions, uint64_t each);

/* Print the longest entry.  Called at the end of the run. */
void limit_print(void);
