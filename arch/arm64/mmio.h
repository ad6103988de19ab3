/*
 * Accesses to device registers.  Included by arch/arm64/.
 *
 * Each access is one load or store without writeback.  A hypervisor emulates
 * a device from the syndrome of the access, and other forms have no syndrome.
 * For a plain volatile pointer a compiler may choose those forms.
 * Arm ARM (DDI 0487), "ISS encoding for an exception from a Data Abort" (ISV).
 */
#ifndef ARCH_ARM64_MMIO_H
#define ARCH_ARM64_MMIO_H

#include <stdint.h>

static inline uint32_t
mmio_read32(const volatile uint32_t *reg)
{
	uint32_t v;

	__asm__ volatile("ldr %w0, %1" : "=r"(v) : "Q"(*reg));
	return v;
}

static inline void
mmio_write32(volatile uint32_t *reg, uint32_t v)
{
	__asm__ volatile("str %w1, %0" : "=Q"(*reg) : "rZ"(v));
}

static inline void
mmio_write64(volatile uint64_t *reg, uint64_t v)
{
	__asm__ volatile("str %x1, %0" : "=Q"(*reg) : "rZ"(v));
}

static inline uint16_t
mmio_read16(const volatile uint16_t *reg)
{
	uint32_t v;

	__asm__ volatile("ldrh %w0, %1" : "=r"(v) : "Q"(*reg));
	return (uint16_t)v;
}

static inline void
mmio_write16(volatile uint16_t *reg, uint16_t v)
{
	__asm__ volatile("strh %w1, %0" : "=Q"(*reg) : "rZ"(v));
}

static inline uint8_t
mmio_read8(const volatile uint8_t *reg)
{
	uint32_t v;

	__asm__ volatile("ldrb %w0, %1" : "=r"(v) : "Q"(*reg));
	return (uint8_t)v;
}

static inline void
mmio_write8(volatile uint8_t *reg, uint8_t v)
{
	__asm__ volatile("strb %w1, %0" : "=Q"(*reg) : "rZ"(v));
}

#endif /* ARCH_ARM64_MMIO_H */
