/*
 * Accesses to device registers.  Included by arch/arm64/.
 *
 * Each access is one load or store without writeback.  A hypervisor emulates
 * a device from the syndrome of the access, and other forms have no syndrome.
 * For a plain volatile pointer a compiler may choose those forms.
 * Arm ARM (DDI 0487), "ISS encoding for an exception from a Data Abort" (ISV).
 */
#pragma once

#include <stdint.h>

/* mmio_read<bits>(), mmio_write<bits>(): LDR and STR of a size. */
#define MMIO(bits, size, width)                                                \
	static inline uint##bits##_t mmio_read##bits(                          \
	    const volatile uint##bits##_t *reg)                                \
	{                                                                      \
		uint64_t v;                                                    \
		__asm__ volatile("ldr" size " %" width "0, %1"                 \
				 : "=r"(v)                                     \
				 : "Q"(*reg));                                 \
		return (uint##bits##_t)v;                                      \
	}                                                                      \
	static inline void mmio_write##bits(                                   \
	    volatile uint##bits##_t *reg, uint##bits##_t v)                    \
	{                                                                      \
		__asm__ volatile("str" size " %" width "1, %0"                 \
				 : "=Q"(*reg)                                  \
				 : "rZ"((uint64_t)v));                         \
	}

MMIO(8, "b", "w")
MMIO(16, "h", "w")
MMIO(32, "", "w")
MMIO(64, "", "x")
