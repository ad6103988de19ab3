/* Replaces payloads/vpmu/arm64/sysreg.h in host tests. */
#pragma once

#include <stdint.h>

uint64_t read_reg(const char *name);
void write_reg(const char *name, uint64_t v);
