/* Old system calls that newer ones replace: arm64 has none. */
#include "tests/image/hostile/alloc_fail/turns.h"

const struct turn_call turn_old[] = { { 0 } };
