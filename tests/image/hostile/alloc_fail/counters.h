/* Preparation for the calls on counters, for alloc_fail.c. */
#pragma once

#include <stdbool.h>

/* Make the handle and the sets.  Returns false without a PMU. */
bool counters_begin(void);
/* Start the other LWP, and give each LWP its counter page. */
void counters_warm(void);
void counters_end(void);
