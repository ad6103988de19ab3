/*
 * Replaces arch/x86/insn.h in host tests of drivers with I/O ports, which the
 * test has: tests/lib/host/shadow_ports comes first in their include path.
 */
#ifndef TESTS_LIB_HOST_SHADOW_PORTS_ARCH_X86_INSN_H
#define TESTS_LIB_HOST_SHADOW_PORTS_ARCH_X86_INSN_H

#include <stdint.h>

uint16_t inw(uint16_t port);
void outw(uint16_t port, uint16_t v);

#endif /* TESTS_LIB_HOST_SHADOW_PORTS_ARCH_X86_INSN_H */
