/*
 * What every host test of the kernel's own parts includes: cmocka, and the
 * pieces of the kernel the parts call, as the host provides them.
 */
#ifndef TESTS_LIB_HOST_SUPPORT_H
#define TESTS_LIB_HOST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A copy of exactly n bytes, so that the sanitizer sees every byte beyond. */
void *exact_copy(const void *p, size_t n);

#endif /* TESTS_LIB_HOST_SUPPORT_H */
