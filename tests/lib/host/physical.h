/*
 * Physical memory of another machine, at its own addresses: a byte at pa is at
 * PHYSICAL + pa.  Nothing else can be read.  Included by tests of
 * parsers of firmware's tables.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Between the address sanitizer's shadow and the stack. */
#define PHYSICAL ((char *)0x200000000000)

/* Put n bytes at an address; pieces may share a page.  False without room. */
bool physical_put(uint64_t pa, const void *bytes, size_t n);
/* Remove all of it. */
void physical_clear(void);
