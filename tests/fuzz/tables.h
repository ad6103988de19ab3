/*
 * ACPI tables from a fuzzer's bytes: records of a kind, a length of two bytes
 * and a body; signature, length and checksum are put right, since no parser
 * sees a table without them.  Included by acpi_arm64.c and acpi_x86.c.
 */
#ifndef TESTS_FUZZ_TABLES_H
#define TESTS_FUZZ_TABLES_H

#include "tests/fuzz/fuzz.h"

/* Returns the RSDP's address; tables_free() ends all. */
uint64_t tables_make(
    const uint8_t *data, size_t n, const char *const kinds[], unsigned nkind);
void tables_free(void);
/* Bytes of the table that holds pa, from pa on; 0: none. */
size_t tables_room(uint64_t pa);

#endif /* TESTS_FUZZ_TABLES_H */
