/*
 * ACPI's static tables.  Included by arch/arm64/.
 */
#ifndef ARCH_ARM64_ACPI_H
#define ARCH_ARM64_ACPI_H

#include <stdint.h>

struct bootinfo;

/*
 * The table of that signature, its checksum right and `*bytes` long, header
 * included; NULL where there is none.  Needs the direct map.
 */
const unsigned char *acpi_table(
    const struct bootinfo *bi, const char *signature, uint32_t *bytes);

/* Fields of tables are not aligned. */
uint32_t acpi_u32(const unsigned char *p);
uint64_t acpi_u64(const unsigned char *p);

#endif /* ARCH_ARM64_ACPI_H */
