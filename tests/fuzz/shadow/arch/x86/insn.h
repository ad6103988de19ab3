/*
 * Replaces arch/x86/insn.h in the fuzz targets, so that accesses to ports call
 * the fuzzer.  The parsers in arch/x86/ access the ports that tables name.
 */
#pragma once

#include "../../../../../arch/x86/insn.h"

uint32_t fuzz_in(uint16_t port);
void fuzz_out(uint16_t port, uint32_t v);
#define inb(port)     ((uint8_t)fuzz_in(port))
#define inw(port)     ((uint16_t)fuzz_in(port))
#define inl(port)     fuzz_in(port)
#define outb(port, v) fuzz_out(port, v)
#define outw(port, v) fuzz_out(port, v)
#define outl(port, v) fuzz_out(port, v)
