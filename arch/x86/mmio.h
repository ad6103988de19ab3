/*
 * Accesses to device registers in memory.  Included by arch/x86/.
 *
 * Each access is one MOV, which every hypervisor decodes.  For a plain volatile
 * pointer the compiler may choose a form that a hypervisor does not decode.
 */
#pragma once

#include <stdint.h>

/* mmio_read<bits>(), mmio_write<bits>(): MOV of a size. */
#define MMIO(bits, mov)                                                        \
	static inline uint##bits##_t mmio_read##bits(                          \
	    const volatile uint##bits##_t *reg)                                \
	{                                                                      \
		uint##bits##_t v;                                              \
		__asm__ volatile(mov " %1, %0" : "=q"(v) : "m"(*reg));         \
		return v;                                                      \
	}                                                                      \
	static inline void mmio_write##bits(                                   \
	    volatile uint##bits##_t *reg, uint##bits##_t v)                    \
	{                                                                      \
		__asm__ volatile(mov " %1, %0" : "=m"(*reg) : "q"(v));         \
	}

MMIO(8, "movb")
MMIO(16, "movw")
MMIO(32, "movl")
