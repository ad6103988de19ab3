/*
 * ACPI tables from a fuzzer's bytes.  The bytes are records of a kind, a
 * length of two bytes and a body.  Signature, length and checksum are made
 * valid, because parsers never see a table without them.  Included by
 * acpi_arm64.c and acpi_x86.c.
 */
#pragma once

#include "tests/fuzz/fuzz.h"

/* Returns the RSDP's address. tables_free() frees all tables. */
uint64_t tables_make(
    const uint8_t *data, size_t n, const char *const kinds[], unsigned nkind);
void tables_free(void);
/* The number of bytes from pa to the end of its table; 0: no table has pa. */
size_t tables_room(uint64_t pa);
