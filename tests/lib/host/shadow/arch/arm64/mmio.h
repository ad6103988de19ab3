/* Replaces arch/arm64/mmio.h in host tests, which have the registers. */
#pragma once

#include <stdint.h>

uint8_t mmio_read8(const volatile uint8_t *reg);
void mmio_write8(volatile uint8_t *reg, uint8_t v);
uint16_t mmio_read16(const volatile uint16_t *reg);
void mmio_write16(volatile uint16_t *reg, uint16_t v);
uint32_t mmio_read32(const volatile uint32_t *reg);
void mmio_write32(volatile uint32_t *reg, uint32_t v);
