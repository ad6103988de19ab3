/*
 * Common events, and whether the PMU announces them.  Included by
 * payloads/vpmu/arm64/.  Arm ARM (DDI 0487), "PMU events and event numbers".
 */
#pragma once

#include <stdbool.h>

#define SW_INCR 0x00
#define CHAIN   0x1e

/* The code is a common event's: 0 to 3FH or 4000H to 403FH. */
bool announced_code(unsigned code);
