/* Included by host tests of the kernel's parts: functions that many call. */
#pragma once

#include "tests/lib/host/test.h"

/* A copy of exactly n bytes: the sanitizer reports an access outside. */
void *exact_copy(const void *p, size_t n);

/* The work of other CPUs in each arch_relax(), or NULL. */
extern void (*fake_on_relax)(void);
