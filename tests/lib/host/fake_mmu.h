/*
 * Address spaces, as far as counter pages need them: physical memory is where
 * the host has it, and nothing can be reached by where it is mapped.
 * Included by tests/host.
 */
#ifndef TESTS_LIB_HOST_FAKE_MMU_H
#define TESTS_LIB_HOST_FAKE_MMU_H

#include <stdbool.h>
#include <stdint.h>

struct as;

/* What is mapped there, or NULL; and how (PROT_*). */
void *fake_mmu_page(const struct as *as, uintptr_t uva);
unsigned fake_mmu_prot(const struct as *as, uintptr_t uva);
/* Let the next arch_map() fail. */
extern bool fake_mmu_fails;

#endif /* TESTS_LIB_HOST_FAKE_MMU_H */
