/*
 * Accesses to device registers in memory.  Included by arch/x86/.
 *
 * Each access is one MOV, which every hypervisor decodes.  For a plain volatile
 * pointer the compiler may choose a form that a hypervisor does not decode.
 */
#ifndef ARCH_X86_MMIO_H
#define ARCH_X86_MMIO_H

#include <stdint.h>

static inline uint32_t
mmio_read32(const volatile uint32_t *reg)
{
	uint32_t v;

	__asm__ volatile("movl %1, %0" : "=r"(v) : "m"(*reg));
	return v;
}

static inline void
mmio_write32(volatile uint32_t *reg, uint32_t v)
{
	__asm__ volatile("movl %1, %0" : "=m"(*reg) : "r"(v));
}

static inline uint16_t
mmio_read16(const volatile uint16_t *reg)
{
	uint16_t v;

	__asm__ volatile("movw %1, %0" : "=r"(v) : "m"(*reg));
	return v;
}

static inline void
mmio_write16(volatile uint16_t *reg, uint16_t v)
{
	__asm__ volatile("movw %1, %0" : "=m"(*reg) : "r"(v));
}

static inline uint8_t
mmio_read8(const volatile uint8_t *reg)
{
	uint8_t v;

	__asm__ volatile("movb %1, %0" : "=q"(v) : "m"(*reg));
	return v;
}

static inline void
mmio_write8(volatile uint8_t *reg, uint8_t v)
{
	__asm__ volatile("movb %1, %0" : "=m"(*reg) : "q"(v));
}

#endif /* ARCH_X86_MMIO_H */
