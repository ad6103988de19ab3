/*
 * Reads the names of the machine and its firmware from SMBIOS.  Its tables are
 * any bytes: each access is checked, and the names are cleaned.
 *
 * DMTF DSP0134, System Management BIOS Reference Specification: "SMBIOS 2.1
 * (32-bit) Entry Point", "SMBIOS 3.0 (64-bit) Entry Point", "Structure header
 * format", "Text strings".
 */
#include "kern/platform/firmware/smbios.h"

#include <stdbool.h>

#include "kern/platform/firmware/acpi.h"
#include "kern/platform/firmware/smbios_impl.h"
#include "lib/string.h"
#include "lib/text.h"

#define PARAGRAPH 16

/* The 32-bit entry point.  In version 2.1 its length is 1EH by mistake. */
#define EP32_BYTES     0x1f
#define EP32_LEAST     0x1e
#define EP32_DMI       16 /* the second part, with its own checksum */
#define EP32_DMI_BYTES 15
#define EP32_LENGTH    22
#define EP32_ADDRESS   24

/* The 64-bit entry point. */
#define EP64_BYTES    0x18
#define EP64_MAX_SIZE 12 /* of the table; a structure of type 127 ends it */
#define EP64_ADDRESS  16

#define TABLE_MAX    (1U << 18) /* that of a large server has 20 KiB */
#define HEADER_BYTES 4          /* type, length, handle */
#define TYPE_END     127

/*
 * The strings that records have: the byte at `offset` of the first structure of
 * a type is the string's number.  Serial numbers and the UUID are not among
 * them, because they name one machine.
 * DSP0134, "BIOS Information (Type 0)", "System Information (Type 1)",
 * "Baseboard (or Module) Information (Type 2)".
 */
static const struct {
	uint8_t type, offset;
	const char *member;
} fields[] = {
	{ 0, 4, "firmware_vendor" },
	{ 0, 5, "firmware_version" },
	{ 0, 8, "firmware_date" },
	{ 1, 4, "maker" },
	{ 1, 5, "product" },
	{ 1, 6, "product_version" },
	{ 2, 4, "board_maker" },
	{ 2, 5, "board" },
	{ 2, 6, "board_version" },
};
#define NFIELD    (sizeof fields / sizeof fields[0])
#define TYPE_LAST 2

/* The entry point and the table, or 0. */
static struct {
	uint64_t entry, pa;
	const unsigned char *entry_at, *at;
	uint32_t entry_bytes, bytes;
} source;

static char names[NFIELD][SMBIOS_NAME_MAX + 1];

static bool
is_entry64(const unsigned char *p)
{
	return memcmp(p, "_SM3_", 5) == 0 && p[6] == EP64_BYTES &&
	       acpi_sums_to_zero(p, EP64_BYTES);
}

static bool
is_entry32(const unsigned char *p)
{
	return memcmp(p, "_SM_", 4) == 0 && p[5] >= EP32_LEAST &&
	       p[5] <= EP32_BYTES && acpi_sums_to_zero(p, p[5]) &&
	       memcmp(p + EP32_DMI, "_DMI_", 5) == 0 &&
	       acpi_sums_to_zero(p + EP32_DMI, EP32_DMI_BYTES);
}

/* If there are two entry points, the 64-bit one describes more. */
size_t
smbios_find(const unsigned char *area, size_t n)
{
	size_t found = n;

	for (size_t at = 0; at + 2 * PARAGRAPH <= n; at += PARAGRAPH) {
		if (area[at] != '_')
			continue;
		if (is_entry64(area + at))
			return at;
		if (found == n && is_entry32(area + at))
			found = at;
	}
	return found;
}

/* The table that the entry point describes, or NULL.  *bytes is its limit. */
static const unsigned char *
map_table(uint64_t entry, const void *(*map)(uint64_t pa, size_t bytes),
    uint32_t *bytes)
{
	const unsigned char *p;
	uint64_t pa;

	if ((p = map(entry, EP64_BYTES)) == NULL)
		return NULL;
	source.entry_bytes = EP64_BYTES;
	if (is_entry64(p)) {
		pa = acpi_u64(p + EP64_ADDRESS);
		*bytes = acpi_u32(p + EP64_MAX_SIZE);
	} else {
		if ((p = map(entry, EP32_BYTES)) == NULL || !is_entry32(p))
			return NULL;
		source.entry_bytes = p[5];
		pa = acpi_u32(p + EP32_ADDRESS);
		*bytes = p[EP32_LENGTH] | (uint32_t)p[EP32_LENGTH + 1] << 8;
	}
	if (*bytes > TABLE_MAX)
		*bytes = TABLE_MAX;
	source.entry_at = p;
	source.pa = pa;
	return pa != 0 && *bytes != 0 ? map(pa, *bytes) : NULL;
}

/*
 * Copy a string without the spaces around it.  A character that is not
 * printable ASCII becomes a question mark.
 */
static void
clean_name(char *name, const unsigned char *s, size_t n)
{
	while (n > 0 && *s == ' ') {
		s++;
		n--;
	}
	while (n > 0 && s[n - 1] == ' ')
		n--;
	if (n > SMBIOS_NAME_MAX)
		n = SMBIOS_NAME_MAX;
	for (size_t i = 0; i < n; i++)
		name[i] = s[i] >= ' ' && s[i] <= '~' ? (char)s[i] : '?';
	name[n] = '\0';
}

void
smbios_string(const unsigned char *t, const unsigned char *end, unsigned offset,
    char *name)
{
	const unsigned char *set = t + t[1];
	unsigned number = offset < t[1] ? t[offset] : 0;

	for (; number > 0 && set < end; number--) {
		size_t n = strnlen((const char *)set, (size_t)(end - set));

		if (number == 1)
			clean_name(name, set, n);
		set += n + 1;
	}
}

static void
take_names(const unsigned char *t, const unsigned char *end)
{
	for (size_t i = 0; i < NFIELD; i++) {
		if (fields[i].type == t[0])
			smbios_string(t, end, fields[i].offset, names[i]);
	}
}

/* Two zero bytes end a structure's strings, and so the structure. */
static void
read_table(const unsigned char *t, uint32_t bytes)
{
	bool seen[TYPE_LAST + 1] = { false };
	uint32_t at = 0, end;

	while (bytes - at >= HEADER_BYTES && t[at] != TYPE_END) {
		unsigned type = t[at], len = t[at + 1];

		if (len < HEADER_BYTES || len > bytes - at)
			return;
		end = at + len;
		while (end + 1 < bytes && (t[end] | t[end + 1]) != 0)
			end++;
		if (end + 1 >= bytes)
			return;
		if (type <= TYPE_LAST && !seen[type]) {
			seen[type] = true;
			take_names(t + at, t + end);
		} else if (type == SMBIOS_TYPE_DIMM) {
			smbios_take_dimm(t + at, t + end);
		}
		at = end + 2;
	}
}

void
smbios_init(uint64_t entry, const void *(*map)(uint64_t pa, size_t bytes))
{
	const unsigned char *t;
	uint32_t bytes;

	memset(names, 0, sizeof names);
	smbios_no_dimm();
	memset(&source, 0, sizeof source);
	if (entry == 0 || (t = map_table(entry, map, &bytes)) == NULL)
		return;
	source.entry = entry;
	source.at = t;
	source.bytes = bytes;
	read_table(t, bytes);
}

void
smbios_each(firmware_fn *fn, void *arg)
{
	if (source.entry == 0)
		return;
	fn(arg, "SMEP", source.entry, source.entry_at, source.entry_bytes);
	fn(arg, "SMBT", source.pa, source.at, source.bytes);
}

void
smbios_describe(struct text *t)
{
	const char *join = "\"smbios\":{", *end = "";

	for (size_t i = 0; i < NFIELD; i++) {
		if (names[i][0] == '\0')
			continue;
		text_add(t, "%s\"%s\":", join, fields[i].member);
		text_add_string(t, names[i]);
		join = ",";
		end = "},";
	}
	if (smbios_describe_dimms(t, join))
		end = "},";
	text_add(t, "%s", end);
}
