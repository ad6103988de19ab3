/* Replaces arch/x86/trap/xcr0_access.h in host tests. */
#ifndef TESTS_LIB_HOST_SHADOW_ARCH_X86_TRAP_XCR0_ACCESS_H
#define TESTS_LIB_HOST_SHADOW_ARCH_X86_TRAP_XCR0_ACCESS_H

#include <stdint.h>

uint64_t xcr0_read(void);
void xcr0_write(uint64_t v);
void xcr0_close(void);

#endif /* TESTS_LIB_HOST_SHADOW_ARCH_X86_TRAP_XCR0_ACCESS_H */
