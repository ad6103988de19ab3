/*
 * Functions for instructions that C has no name for.  Included by arch/x86/.
 * Intel SDM vol. 2 describes each instruction under its name.
 */
#pragma once

#include <stdint.h>

/* inb(), outb() and so on: IN and OUT of a size. */
#define PORT_IO(size, type)                                                    \
	static inline type in##size(uint16_t port)                             \
	{                                                                      \
		type v;                                                        \
		__asm__ volatile("in" #size " %1, %0" : "=a"(v) : "Nd"(port)); \
		return v;                                                      \
	}                                                                      \
	static inline void out##size(uint16_t port, type v)                    \
	{                                                                      \
		__asm__ volatile("out" #size " %0, %1"                         \
				 :                                             \
				 : "a"(v), "Nd"(port));                        \
	}

PORT_IO(b, uint8_t)
PORT_IO(w, uint16_t)
PORT_IO(l, uint32_t)

static inline uint64_t
rdmsr(uint32_t msr)
{
	uint64_t lo, hi; /* RDMSR clears the upper 32 bits of both */

	__asm__ volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr));
	return hi << 32 | lo;
}

static inline void
wrmsr(uint32_t msr, uint64_t v)
{
	__asm__ volatile("wrmsr"
			 :
			 : "c"(msr), "a"((uint32_t)v), "d"((uint32_t)(v >> 32))
			 : "memory");
}

static inline uint64_t
rdtsc(void)
{
	uint64_t lo, hi; /* as with RDMSR */

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return hi << 32 | lo;
}

static inline void
lfence(void)
{
	__asm__ volatile("lfence" : : : "memory");
}

static inline void
xsetbv(uint32_t reg, uint64_t v)
{
	__asm__ volatile(
	    "xsetbv"
	    :
	    : "c"(reg), "a"((uint32_t)v), "d"((uint32_t)(v >> 32)));
}

static inline uint64_t
xgetbv(uint32_t reg)
{
	uint64_t lo, hi; /* XGETBV clears the upper 32 bits of both */

	__asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(reg));
	return hi << 32 | lo;
}

static inline void
invlpg(uintptr_t va)
{
	__asm__ volatile("invlpg (%0)" : : "r"(va) : "memory");
}

/* a * mul / div.  The result must fit in 64 bits. */
static inline uint64_t
muldiv(uint64_t a, uint64_t mul, uint64_t div)
{
	uint64_t hi, lo, quotient;

	__asm__("mul %3" : "=a"(lo), "=d"(hi) : "0"(a), "r"(mul) : "cc");
	__asm__("div %4"
		: "=a"(quotient), "=d"(hi)
		: "0"(lo), "1"(hi), "r"(div)
		: "cc");
	return quotient;
}

#define read_cr(n)                                                             \
	({                                                                     \
		uint64_t value_;                                               \
		__asm__ volatile("mov %%cr" #n ", %0" : "=r"(value_));         \
		value_;                                                        \
	})

#define write_cr(n, value)                                                     \
	__asm__ volatile("mov %0, %%cr" #n                                     \
			 :                                                     \
			 : "r"((uint64_t)(value))                              \
			 : "memory")

/*
 * Remove breakpoints of firmware or a debugger.  The value is the one after
 * reset.
 * Intel SDM vol. 3B, "Debug Control Register (DR7)"; vol. 3A, "Processor
 * State After Reset".
 */
static inline void
clear_breakpoints(void)
{
	__asm__ volatile("mov %0, %%db7" : : "r"(0x400UL) : "memory");
}

/* Bits hi..lo of v, shifted down. */
#define FIELD(v, hi, lo)                                                       \
	(((uint64_t)(v) >> (lo)) & ((2ULL << ((hi) - (lo))) - 1))
