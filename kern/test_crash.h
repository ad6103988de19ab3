/*
 * Errors that the kernel makes on purpose.  Included by kern/main.c.
 */
#ifndef KERN_TEST_CRASH_H
#define KERN_TEST_CRASH_H

#include <stdint.h>

/* Make the errors that the DEBUG_* flags name.  Returns if none is caught. */
void test_crash(uint32_t flags);

#endif /* KERN_TEST_CRASH_H */
