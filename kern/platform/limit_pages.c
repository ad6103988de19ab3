#include "kern/platform/limit_pages.h"

uint64_t limit_pages;
