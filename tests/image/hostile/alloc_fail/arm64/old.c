/*
 * Calls that this machine has from before there were better ones.
 */
#include "tests/image/hostile/alloc_fail/turns.h"

const struct turn_call turn_old[] = { { 0 } };
