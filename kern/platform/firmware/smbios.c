/*
 * Reads from SMBIOS the names of the machine and its firmware, and the memory
 * modules.  Its tables are any bytes, so each access is checked.  Serial
 * numbers and the UUID are not read, because they name one machine.
 *
 * DMTF DSP0134, System Management BIOS Reference Specification: "SMBIOS 2.1
 * (32-bit) Entry Point", "SMBIOS 3.0 (64-bit) Entry Point", "Structure header
 * format", "Text strings".  The structures: "BIOS Information (Type 0)",
 * "System Information (Type 1)", "Baseboard (or Module) Information (Type 2)",
 * "Memory Device (Type 17)", "Memory Device - Type".
 */
#include "kern/platform/firmware/smbios.h"

#include <stdbool.h>

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
#define TYPE_DIMM    17
#define TYPE_END     127
#define NAME_MAX     64 /* bytes of a name; more are cut off */

/*
 * The strings that records have: the byte at `offset` of the first structure of
 * a type is the string's number.
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

/* Offsets in a memory device.  Older versions are shorter. */
#define DIMM_SIZE                12 /* in MiB, or in KiB if bit 15 is set */
#define DIMM_TYPE                18
#define DIMM_SPEED               21 /* in MT/s; 0: unknown */
#define DIMM_MAKER               23
#define DIMM_PART                26
#define DIMM_EXTENDED            28 /* in MiB, if DIMM_SIZE says so */
#define DIMM_CONFIGURED          32 /* the speed that firmware has set */
#define DIMM_SPEED_EXTENDED      84 /* if DIMM_SPEED says so */
#define DIMM_CONFIGURED_EXTENDED 88

#define SPEED_EXTENDED 0xffff

#define SIZE_UNKNOWN  0xffff
#define SIZE_EXTENDED 0x7fff
#define SIZE_IN_KIB   0x8000

#define KINDS_MAX 8

/* Equal modules are one kind: the members that describe it. */
#define KIND_BYTES 448
struct kind {
	unsigned count;
	char members[KIND_BYTES];
};

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

/* A structure: its strings begin after st_at[1] bytes, and end at st_end. */
struct structure {
	const unsigned char *st_at, *st_end;
};

/*
 * Go to the next structure, or from NULL to the first.  Returns false at the
 * end.  Two zero bytes end a structure's strings, and so the structure.
 */
static bool
next_structure(struct structure *st)
{
	const unsigned char *t = st->st_at == NULL ? source.at : st->st_end + 2;
	size_t left = source.bytes - (size_t)(t - source.at), n;

	if (left < HEADER_BYTES || t[0] == TYPE_END || t[1] < HEADER_BYTES ||
	    t[1] > left)
		return false;
	for (n = t[1]; n + 1 < left && (t[n] | t[n + 1]) != 0; n++)
		;
	*st = (struct structure){ t, t + n };
	return n + 1 < left;
}

/*
 * Append a member after `join`: the string whose number is the byte at
 * `offset`, without the spaces around it.  Returns false without one.
 */
static bool
add_string(struct text *t, const char *join, const char *member,
    const struct structure *st, unsigned offset)
{
	const char *s = (const char *)st->st_at + st->st_at[1];
	const char *end = (const char *)st->st_end;
	unsigned number = offset < st->st_at[1] ? st->st_at[offset] : 0;
	char name[NAME_MAX + 1];

	for (; number > 1 && s < end; number--)
		s += strnlen(s, (size_t)(end - s)) + 1;
	while (s < end && *s == ' ')
		s++;
	if (number == 0 || s >= end)
		return false;
	size_t n = strnlen(s, (size_t)(end - s));
	while (n > 0 && s[n - 1] == ' ')
		n--;
	strlcpy(name, s, n < NAME_MAX ? n + 1 : NAME_MAX + 1);
	if (name[0] == '\0')
		return false;
	text_add(t, "%s\"%s\":", join, member);
	text_add_string(t, name);
	return true;
}

/* A number of the structure; 0 if the structure is too short. */
static uint32_t
number_at(const unsigned char *t, unsigned offset, unsigned bytes)
{
	uint32_t v = 0;

	if (offset + bytes > t[1])
		return 0;
	for (unsigned i = 0; i < bytes; i++)
		v |= (uint32_t)t[offset + i] << 8 * i;
	return v;
}

/* 0: the slot is empty, or its size is unknown. */
static uint64_t
size_in_kib(const unsigned char *t)
{
	uint32_t size = number_at(t, DIMM_SIZE, 2);

	if (size == SIZE_UNKNOWN)
		return 0;
	if (size == SIZE_EXTENDED)
		return (uint64_t)number_at(t, DIMM_EXTENDED, 4) << 10;
	if ((size & SIZE_IN_KIB) != 0)
		return size & ~(uint32_t)SIZE_IN_KIB;
	return (uint64_t)size << 10;
}

static unsigned
speed_at(const unsigned char *t, unsigned offset, unsigned extended)
{
	uint32_t speed = number_at(t, offset, 2);

	return speed == SPEED_EXTENDED ? number_at(t, extended, 4) : speed;
}

void
smbios_init(uint64_t entry, const void *(*map)(uint64_t pa, size_t bytes))
{
	const unsigned char *t;
	uint32_t bytes;

	memset(&source, 0, sizeof source);
	if (entry == 0 || (t = map_table(entry, map, &bytes)) == NULL)
		return;
	source.entry = entry;
	source.at = t;
	source.bytes = bytes;
}

void
smbios_each(firmware_fn *fn, void *arg)
{
	if (source.entry == 0)
		return;
	fn(arg, "SMEP", source.entry, source.entry_at, source.entry_bytes);
	fn(arg, "SMBT", source.pa, source.at, source.bytes);
}

static const char *
type_name(unsigned type)
{
	static const char *const name[] = {
		[0x03] = "DRAM",
		[0x07] = "RAM",
		[0x0f] = "SDRAM",
		[0x12] = "DDR",
		[0x13] = "DDR2",
		[0x18] = "DDR3",
		[0x1a] = "DDR4",
		[0x1b] = "LPDDR",
		[0x1c] = "LPDDR2",
		[0x1d] = "LPDDR3",
		[0x1e] = "LPDDR4",
		[0x20] = "HBM",
		[0x21] = "HBM2",
		[0x22] = "DDR5",
		[0x23] = "LPDDR5",
		[0x24] = "HBM3",
	};

	return type < sizeof name / sizeof name[0] ? name[type] : NULL;
}

static void
add_number(struct text *t, const char *member, unsigned v)
{
	if (v != 0)
		text_add(t, ",\"%s\":%u", member, v);
}

/* Count a memory module.  kinds[*n] has room for one kind more. */
static void
take_dimm(const struct structure *st, struct kind *kinds, unsigned *n)
{
	const unsigned char *at = st->st_at;
	struct text t = { kinds[*n].members, KIND_BYTES, 0 };
	const char *type = type_name(number_at(at, DIMM_TYPE, 1));
	uint64_t kib = size_in_kib(at);
	unsigned i = 0;

	if (kib == 0)
		return;
	text_add(&t, "\"kib\":%lu", (unsigned long)kib);
	if (type != NULL)
		text_add(&t, ",\"type\":\"%s\"", type);
	add_number(
	    &t, "mts", speed_at(at, DIMM_CONFIGURED, DIMM_CONFIGURED_EXTENDED));
	add_number(
	    &t, "mts_most", speed_at(at, DIMM_SPEED, DIMM_SPEED_EXTENDED));
	add_string(&t, ",", "dimm_maker", st, DIMM_MAKER);
	add_string(&t, ",", "part", st, DIMM_PART);
	kinds[*n].count = 0;
	while (strcmp(kinds[i].members, kinds[*n].members) != 0)
		i++;
	kinds[i].count++;
	*n += i == *n && i < KINDS_MAX;
}

/* The kernel lock is held: the kinds are static for the size of a stack. */
void
smbios_describe(struct text *t)
{
	static struct kind kinds[KINDS_MAX + 1];
	const char *join = "\"smbios\":{";
	bool seen[TYPE_LAST + 1] = { false };
	unsigned n = 0;

	for (struct structure st = { 0 }; next_structure(&st);) {
		unsigned type = st.st_at[0];

		if (type == TYPE_DIMM)
			take_dimm(&st, kinds, &n);
		if (type > TYPE_LAST || seen[type])
			continue;
		seen[type] = true;
		for (size_t i = 0; i < NFIELD; i++) {
			if (fields[i].type == type &&
			    add_string(t, join, fields[i].member, &st,
				fields[i].offset))
				join = ",";
		}
	}
	for (unsigned i = 0; i < n; i++, join = ",")
		text_add(t, "%s%s{\"count\":%u,%s}%s", join,
		    i == 0 ? "\"dimms\":[" : "", kinds[i].count,
		    kinds[i].members, i + 1 == n ? "]" : "");
	text_add(t, *join == ',' ? "}," : "");
}
