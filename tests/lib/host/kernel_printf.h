/*
 * The kernel's printf() under a name of its own, for the host tests that read
 * what it prints.  Forced into the kernel files that print.
 */
#ifndef TESTS_LIB_HOST_KERNEL_PRINTF_H
#define TESTS_LIB_HOST_KERNEL_PRINTF_H

int printf(const char *fmt, ...) __asm__("fake_printf");

#endif /* TESTS_LIB_HOST_KERNEL_PRINTF_H */
