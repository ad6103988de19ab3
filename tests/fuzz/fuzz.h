/*
 * What the libFuzzer targets have in common.  Each target is one file, and
 * runs the kernel's own parser over bytes of any content.  The sanitizers, and
 * CHECK() for what must hold of the result, find what is wrong.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define CHECK(e)                                                               \
	do {                                                                   \
		if (!(e)) {                                                    \
			fprintf(stderr, "%s:%d: CHECK(%s)\n", __FILE__,        \
			    __LINE__, #e);                                     \
			abort();                                               \
		}                                                              \
	} while (0)

/* A copy of exactly n bytes, so that a byte beyond is one too many. */
void *fuzz_copy(const void *p, size_t n);

#endif /* TESTS_FUZZ_FUZZ_H */
