/*
 * Test hooks: what tests in the image ask of the kernel.  Included by
 * kern/main.c.
 */
#ifndef KERN_SYS_TEST_HOOKS_H
#define KERN_SYS_TEST_HOOKS_H

#include <stdbool.h>

/* Unless `on`, BARECPC_SYS_TEST is not a system call. */
void test_hooks_init(bool on);

#endif /* KERN_SYS_TEST_HOOKS_H */
