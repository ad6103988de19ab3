/*
 * What tests/image/hostile/alloc_fail/alloc_fail.c does around the turns of
 * calls on counters.
 */
#ifndef TESTS_IMAGE_HOSTILE_ALLOC_FAIL_COUNTERS_H
#define TESTS_IMAGE_HOSTILE_ALLOC_FAIL_COUNTERS_H

#include <stdbool.h>

/* Make handle and sets; false where there is no PMU. */
bool counters_begin(void);
/* Now each LWP has its counter page. */
void counters_warm(void);
void counters_end(void);

#endif /* TESTS_IMAGE_HOSTILE_ALLOC_FAIL_COUNTERS_H */
