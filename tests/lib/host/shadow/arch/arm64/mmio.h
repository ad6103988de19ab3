/*
 * Replaces arch/arm64/mmio.h in host tests: tests/lib/host/shadow comes first
 * in their include path.  A test has the registers.
 */
#ifndef TESTS_LIB_HOST_SHADOW_ARCH_ARM64_MMIO_H
#define TESTS_LIB_HOST_SHADOW_ARCH_ARM64_MMIO_H

#include <stdint.h>

uint32_t mmio_read32(const volatile uint32_t *reg);
void mmio_write32(volatile uint32_t *reg, uint32_t v);

#endif /* TESTS_LIB_HOST_SHADOW_ARCH_ARM64_MMIO_H */
