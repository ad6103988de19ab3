/*
 * Ports of x86 for the fuzzer.  Forced into the files of arch/x86/ that read
 * tables and then touch what these name.
 */
#ifndef TESTS_FUZZ_PORTS_H
#define TESTS_FUZZ_PORTS_H

#include "arch/x86/insn.h"

uint32_t fuzz_in(uint16_t port);
void fuzz_out(uint16_t port, uint32_t v);
#define inb(port)     ((uint8_t)fuzz_in(port))
#define inw(port)     ((uint16_t)fuzz_in(port))
#define inl(port)     fuzz_in(port)
#define outb(port, v) fuzz_out(port, v)
#define outw(port, v) fuzz_out(port, v)

#endif /* TESTS_FUZZ_PORTS_H */
