/*
 * System registers and barriers, by their names in the Arm ARM (DDI 0487).
 * Included by arch/arm64/.
 */
#pragma once

#include <stdint.h>

/* Encodings of registers for which old assemblers have no name. */
#define AMUSERENR_EL0 S3_3_C13_C2_3
#define PMMIR_EL1     S3_0_C9_C14_6
#define ZCR_EL1       S3_0_C1_C2_0
#define ERRIDR_EL1    S3_0_C5_C3_0
#define ERRSELR_EL1   S3_0_C5_C3_1
#define ERXFR_EL1     S3_0_C5_C4_0
#define ERXSTATUS_EL1 S3_0_C5_C4_2
#define ERXADDR_EL1   S3_0_C5_C4_3

#define read_sysreg(reg) read_sysreg_named(reg)
#define read_sysreg_named(reg)                                                 \
	({                                                                     \
		uint64_t value_;                                               \
		__asm__ volatile("mrs %0, " #reg : "=r"(value_));              \
		value_;                                                        \
	})

#define write_sysreg(reg, value) write_sysreg_named(reg, value)
#define write_sysreg_named(reg, value)                                         \
	__asm__ volatile("msr " #reg ", %x0" : : "rZ"((uint64_t)(value)))

#define isb()     __asm__ volatile("isb" : : : "memory")
#define dsb(kind) __asm__ volatile("dsb " #kind : : : "memory")
#define dmb(kind) __asm__ volatile("dmb " #kind : : : "memory")

/* Bits hi..lo of v, shifted down. */
#define FIELD(v, hi, lo)                                                       \
	(((uint64_t)(v) >> (lo)) & ((2ULL << ((hi) - (lo))) - 1))
