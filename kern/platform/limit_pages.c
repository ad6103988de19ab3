/*
 * Counts the pages that an entry to the kernel works on, for kernel_limit=.
 */
#include "kern/platform/limit_pages.h"

uint64_t limit_pages;
