/*
 * CPUID, the registers of x86 that only privileged code may use, and RDPMC.
 * Included by payloads/vpmu/x86_64/.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The registers after CPUID; all 0 if there is no such leaf. */
struct cpuid_result {
	uint32_t a, b, c, d;
};
struct cpuid_result read_cpuid(uint32_t leaf);
uint64_t read_msr(uint32_t msr);
void write_msr(uint32_t msr, uint64_t v);
/* Write; false if that faults. */
bool write_works(uint32_t msr, uint64_t v);
/* RDPMC; false if that faults. */
bool read_works(uint32_t index, uint64_t *value);
