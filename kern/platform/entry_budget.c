/* Counts the pages that an entry to the kernel works on, for kernel_limit=. */
#include "kern/platform/entry_budget.h"

uint64_t entry_budget_pages;
