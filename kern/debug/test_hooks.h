/*
 * Test hooks.  Included by kern/main.c.
 */
#ifndef KERN_DEBUG_TEST_HOOKS_H
#define KERN_DEBUG_TEST_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Give kcpc its operations for tests.  Make BARECPC_SYS_TEST a system call if
 * `on` is set.
 */
void test_hooks_init(bool on);

/* Make the errors that the DEBUG_* flags name.  Returns if none is caught. */
void test_crash(uint32_t flags);

#endif /* KERN_DEBUG_TEST_HOOKS_H */
