/*
 * Takes out of firmware's tables what names one machine.
 * DMTF DSP0134, System Management BIOS Reference Specification: "System
 * Information (Type 1)", "Baseboard (or Module) Information (Type 2)", "System
 * Enclosure or Chassis (Type 3)", "Processor Information (Type 4)", "Memory
 * Device (Type 17)".  Microsoft, "Microsoft Software Licensing Tables (SLIC and
 * MSDM)".
 */
#include <stdbool.h>
#include <string.h>

#include "payloads/board/board.h"

#define ACPI_HEADER 36
#define HEADER      4 /* of a structure of SMBIOS */
#define UUID        8 /* of type 1 */
#define UUID_BYTES  16
#define TYPE_END    127
#define TYPE_MAKER  128 /* and on: only the maker knows what they have */

/* The byte at `offset` of a structure is the number of a string. */
static const struct {
	uint8_t type, offset;
} hidden[] = {
	{ 1, 0x07 },
	{ 2, 0x07 },
	{ 2, 0x08 },
	{ 3, 0x07 },
	{ 3, 0x08 },
	{ 4, 0x20 },
	{ 4, 0x21 },
	{ 17, 0x18 },
	{ 17, 0x19 },
};

/*
 * Structures that no parser here reads, and that may name the machine: OEM
 * Strings, Portable Battery, System Power Supply, Management Controller Host
 * Interface, and the maker's own.  DSP0134, "Structure header format".
 */
static bool
hides_all(uint8_t type)
{
	return type == 11 || type == 22 || type == 39 || type == 42 ||
	       type >= TYPE_MAKER;
}

/* Overwrite the body of a structure, and each of its strings. */
static void
hide_all(unsigned char *t, unsigned char *end)
{
	memset(t + HEADER, 0, t[1] - HEADER);
	for (unsigned char *s = t + t[1]; s < end; s++) {
		if (*s != '\0')
			*s = 'x';
	}
}

/* Overwrite string `number` of the strings from s on. */
static void
hide_string(unsigned char *s, const unsigned char *end, unsigned number)
{
	for (; number > 0 && s < end; number--) {
		size_t n = strnlen((const char *)s, (size_t)(end - s));

		if (number == 1)
			memset(s, 'x', n);
		s += n + 1;
	}
}

static void
hide_structure(unsigned char *t, unsigned char *end)
{
	if (hides_all(t[0])) {
		hide_all(t, end);
		return;
	}
	for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
		if (hidden[i].type == t[0] && hidden[i].offset < t[1])
			hide_string(t + t[1], end, t[hidden[i].offset]);
	}
	if (t[0] == 1 && t[1] >= UUID + UUID_BYTES)
		memset(t + UUID, 0, UUID_BYTES);
}

static void
hide_smbios(unsigned char *t, size_t n)
{
	size_t at = 0, end;

	while (n - at >= HEADER && t[at] != TYPE_END && t[at + 1] >= HEADER &&
	       t[at + 1] <= n - at) {
		end = at + t[at + 1];
		while (end + 1 < n && (t[end] | t[end + 1]) != 0)
			end++;
		if (end + 1 >= n)
			return;
		hide_structure(t + at, t + end);
		at = end + 2;
	}
}

void
board_hide(const char *name, unsigned char *bytes, size_t n)
{
	if (memcmp(name, "SMBT", 4) == 0)
		hide_smbios(bytes, n);
	else if (memcmp(name, "FDT ", 4) == 0)
		board_hide_fdt(bytes, n);
	else if ((memcmp(name, "MSDM", 4) == 0 ||
		     memcmp(name, "SLIC", 4) == 0) &&
		 n > ACPI_HEADER)
		memset(bytes + ACPI_HEADER, 0, n - ACPI_HEADER);
}
