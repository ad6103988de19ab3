/*
 * Coverage of a kernel that was built with SAN=coverage.  The compiler has
 * every basic block call __sanitizer_cov_trace_pc().  GCC manual, "Program
 * Instrumentation Options", -fsanitize-coverage=trace-pc.
 */
#include "kern/debug/debug.h"

#include <stddef.h>

#include "lib/printf.h"

/* A call is 4 bytes on arm64 and 5 on x86-64: each has a byte of its own. */
#define CALL_BYTES 4
#define TEXT_BYTES (1UL << 20)

extern const char _start[], __text_end[];

/* A byte, not a bit: an interrupt between load and store loses nothing. */
static volatile uint8_t block_ran[TEXT_BYTES / CALL_BYTES];

void __sanitizer_cov_trace_pc(void);

/* Any context: it takes no lock and touches nothing else. */
__attribute__((no_sanitize_coverage)) void
__sanitizer_cov_trace_pc(void)
{
	uintptr_t at =
	    (uintptr_t)__builtin_return_address(0) - (uintptr_t)_start;

	if (at < TEXT_BYTES)
		block_ran[at / CALL_BYTES] = 1;
}

__attribute__((no_sanitize_coverage)) intptr_t
coverage_blocks(void)
{
	intptr_t n = 0;

	ASSERT((size_t)(__text_end - _start) <= TEXT_BYTES);
	for (size_t i = 0; i < TEXT_BYTES / CALL_BYTES; i++)
		n += block_ran[i];
	return n;
}
