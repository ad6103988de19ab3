/* Preparation for the calls on counters, for alloc_fail.c. */
#ifndef TESTS_IMAGE_HOSTILE_ALLOC_FAIL_COUNTERS_H
#define TESTS_IMAGE_HOSTILE_ALLOC_FAIL_COUNTERS_H

#include <stdbool.h>

/* Make the handle and the sets.  Returns false without a PMU. */
bool counters_begin(void);
/* Start the other LWP, and give each LWP its counter page. */
void counters_warm(void);
void counters_end(void);

#endif /* TESTS_IMAGE_HOSTILE_ALLOC_FAIL_COUNTERS_H */
