/* Replaces arch/x86/trap/xcr0_access.h in host tests. */
#pragma once

#include <stdint.h>

uint64_t xcr0_read(void);
void xcr0_write(uint64_t v);
void xcr0_close(void);
