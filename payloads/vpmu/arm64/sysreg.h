/*
 * System registers by their names in assembly.  Included by
 * payloads/vpmu/arm64/.  Host tests replace it (tests/lib/host/shadow).
 */
#pragma once

#include <stdint.h>

#define read_reg(name)                                                         \
	__extension__({                                                        \
		uint64_t reg_v_;                                               \
		__asm__ volatile("isb\n\tmrs %0, " name : "=r"(reg_v_));       \
		reg_v_;                                                        \
	})
#define write_reg(name, v)                                                     \
	__asm__ volatile("msr " name ", %0\n\tisb" : : "r"((uint64_t)(v)))
