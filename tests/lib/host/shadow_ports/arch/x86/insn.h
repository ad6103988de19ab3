/* Replaces arch/x86/insn.h in host tests of drivers, which have it. */
#pragma once

#include <stdint.h>

uint8_t inb(uint16_t port);
void outb(uint16_t port, uint8_t v);
uint16_t inw(uint16_t port);
void outw(uint16_t port, uint16_t v);
uint64_t rdmsr(uint32_t msr);
void wrmsr(uint32_t msr, uint64_t v);
uint64_t rdtsc(void);

static inline void
lfence(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline uint64_t
muldiv(uint64_t a, uint64_t mul, uint64_t div)
{
	return (uint64_t)((unsigned __int128)a * mul / div);
}

#define FIELD(v, hi, lo)                                                       \
	(((uint64_t)(v) >> (lo)) & ((2ULL << ((hi) - (lo))) - 1))
