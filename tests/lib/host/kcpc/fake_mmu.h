/*
 * Address spaces, as far as counter pages need them.  Physical memory is the
 * host's memory.  A mapped page cannot be reached at the address where it is
 * mapped.  Included by tests/host.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct as;

/* The page mapped at uva, or NULL; its protection (PROT_*). */
void *fake_mmu_page(const struct as *as, uintptr_t uva);
unsigned fake_mmu_prot(const struct as *as, uintptr_t uva);
/* The next arch_map() fails. */
extern bool fake_mmu_fails;
