/*
 * Test hooks for tests in the image.  Included by kern/main.c.
 */
#ifndef KERN_SYS_TEST_HOOKS_H
#define KERN_SYS_TEST_HOOKS_H

#include <stdbool.h>

/* Make BARECPC_SYS_TEST a system call if `on` is set. */
void test_hooks_init(bool on);

#endif /* KERN_SYS_TEST_HOOKS_H */
