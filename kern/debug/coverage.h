/*
 * Coverage: how much of the kernel's code has run.  Included by
 * kern/debug/test_hooks.c.
 */
#ifndef KERN_DEBUG_COVERAGE_H
#define KERN_DEBUG_COVERAGE_H

#include <stdint.h>

/*
 * The number of basic blocks that have run since boot, or -ENOTSUP.
 * coverage.c implements it where the build has SAN=coverage, no_coverage.c
 * elsewhere.
 */
intptr_t coverage_blocks(void);

#endif /* KERN_DEBUG_COVERAGE_H */
