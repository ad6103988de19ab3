/* The libFuzzer targets share this: each runs one parser on any bytes. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A fake has the parameters of its interface. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define CHECK(e)                                                               \
	do {                                                                   \
		if (!(e)) {                                                    \
			fprintf(stderr, "%s:%d: CHECK(%s)\n", __FILE__,        \
			    __LINE__, #e);                                     \
			abort();                                               \
		}                                                              \
	} while (0)

/* A copy of exactly n bytes: the sanitizer reports an access outside. */
void *fuzz_copy(const void *p, size_t n);

/* Read all bytes of a table: a firmware_fn of kern/platform/firmware/acpi.h. */
void fuzz_read_table(void *arg, const char *name, uint64_t pa,
    const unsigned char *bytes, size_t n);
