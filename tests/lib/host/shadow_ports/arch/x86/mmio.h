/*
 * Replaces arch/x86/mmio.h in host tests of drivers, like insn.h here.
 */
#ifndef TESTS_LIB_HOST_SHADOW_PORTS_ARCH_X86_MMIO_H
#define TESTS_LIB_HOST_SHADOW_PORTS_ARCH_X86_MMIO_H

#include <stdint.h>

uint32_t mmio_read32(const volatile uint32_t *reg);
void mmio_write32(volatile uint32_t *reg, uint32_t v);

#endif /* TESTS_LIB_HOST_SHADOW_PORTS_ARCH_X86_MMIO_H */
