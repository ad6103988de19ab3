/* SMBIOS' names, by both entry points, and damaged tables.  DMTF DSP0134. */
#include "tests/lib/host/support.h"

#include <stdlib.h>
#include <string.h>

#include "kern/platform/firmware/smbios.h"
#include "lib/text.h"

#define ENTRY 0x1000
#define TABLE 0x2000

static unsigned char *entry, *table;
static size_t entry_bytes, table_bytes;
static char said[4096];

/* Physical memory has the entry point at ENTRY and the table at TABLE. */
static const void *
map(uint64_t pa, size_t bytes)
{
	if (pa >= ENTRY && pa - ENTRY < entry_bytes)
		return bytes <= entry_bytes - (pa - ENTRY)
		           ? entry + (pa - ENTRY)
		           : NULL;
	if (pa >= TABLE && pa - TABLE < table_bytes)
		return bytes <= table_bytes - (pa - TABLE)
		           ? table + (pa - TABLE)
		           : NULL;
	return NULL;
}

static void
put(unsigned char *p, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

static void
make_sum(unsigned char *p, size_t n, size_t at)
{
	unsigned char sum = 0;

	p[at] = 0;
	for (size_t i = 0; i < n; i++)
		sum = (unsigned char)(sum + p[i]);
	p[at] = (unsigned char)-sum;
}

static size_t
make32(unsigned char *p, uint32_t pa, uint16_t bytes)
{
	memset(p, 0, 0x1f);
	memcpy(p, "_SM_", 4);
	memcpy(p + 5, "\x1f\x02\x08", 3);
	memcpy(p + 16, "_DMI_", 5);
	put(p + 22, bytes, 2);
	put(p + 24, pa, 4);
	put(p + 28, 3, 2);
	make_sum(p + 16, 15, 5);
	make_sum(p, 0x1f, 4);
	return 0x1f;
}

static size_t
make64(unsigned char *p, uint64_t pa, uint32_t bytes)
{
	memset(p, 0, 0x18);
	memcpy(p, "_SM3_", 5);
	memcpy(p + 6, "\x18\x03\x00\x00\x01", 5);
	put(p + 12, bytes, 4);
	put(p + 16, pa, 8);
	make_sum(p, 0x18, 5);
	return 0x18;
}

static void
use(const void *e, size_t ne, const void *t, size_t nt)
{
	free(entry);
	free(table);
	entry = exact_copy(e, entry_bytes = ne);
	table = exact_copy(t, table_bytes = nt);
}

static const char *
names(void)
{
	struct text t = { said, sizeof said, 0 };

	said[0] = '\0';
	smbios_init(ENTRY, map);
	smbios_describe(&t);
	assert_int_equal(strlen(said), t.t_len);
	return said;
}

/* The names in a table, by the 64-bit entry point. */
static const char *
names_in(const void *t, size_t n)
{
	unsigned char e[0x18];

	make64(e, TABLE, (uint32_t)n);
	use(e, sizeof e, t, n);
	return names();
}
#define NAMES_IN(literal) names_in(literal, sizeof literal - 1)

#define BIOS                                                                   \
	"\x00\x12\x01\x00"                                                     \
	"\x01\x02\x00\xe0\x03\x00\0\0\0\0\0\0\0\0"                             \
	"Vendor\0"                                                             \
	"1.2\0"                                                                \
	"01/02/2024\0\0"
#define SYSTEM "\x01\x08\x02\x00\x01\x02\x03\x04Maker\0Product\0v3\0serial\0\0"
#define BOARD                                                                  \
	"\x02\x07\x03\x00\x01\x02\x00"                                         \
	"Boards\0Board\0\0"
#define END "\x7f\x04\x04\x00\0\0"

static const char all[] = BIOS SYSTEM BOARD END;
static const char all_names[] =
    "\"smbios\":{\"firmware_vendor\":\"Vendor\",\"firmware_version\":\"1.2\","
    "\"firmware_date\":\"01/02/2024\",\"maker\":\"Maker\",\"product\":"
    "\"Product\",\"product_version\":\"v3\",\"board_maker\":\"Boards\","
    "\"board\":\"Board\"},";

TEST(both_entry_points_lead_to_names)
{
	unsigned char e[0x1f];

	assert_string_equal(names_in(all, sizeof all - 1), all_names);
	make32(e, TABLE, sizeof all - 1);
	use(e, sizeof e, all, sizeof all - 1);
	assert_string_equal(names(), all_names);
}

TEST(absent_tables_have_no_member)
{
	struct text t = { said, sizeof said, 0 };

	names_in(all, sizeof all - 1);
	said[0] = '\0';
	smbios_init(0, map);
	smbios_describe(&t);
	assert_string_equal(said, "");
	smbios_init(0x9000, map);
	smbios_describe(&t);
	assert_string_equal(said, "");
	assert_string_equal(NAMES_IN(END), "");
}

/* Any changed byte of an entry point makes it invalid, or is not used. */
TEST(damaged_entry_points_are_refused)
{
	unsigned char e[0x1f];
	size_t n;

	for (size_t i = 0; i < 0x18; i++) {
		n = make64(e, TABLE, sizeof all - 1);
		e[i] ^= 0x40;
		use(e, n, all, sizeof all - 1);
		assert_string_equal(names(), "");
	}
	for (size_t i = 0; i < 0x1f; i++) {
		n = make32(e, TABLE, sizeof all - 1);
		e[i] ^= 0x40;
		use(e, n, all, sizeof all - 1);
		assert_string_equal(names(), "");
	}
	/* Addresses and lengths that memory does not have. */
	n = make64(e, TABLE, sizeof all);
	use(e, n, all, sizeof all - 1);
	assert_string_equal(names(), "");
	n = make64(e, ~0ULL - 3, sizeof all - 1);
	use(e, n, all, sizeof all - 1);
	assert_string_equal(names(), "");
	n = make64(e, TABLE, 0xffffffff);
	use(e, n, all, sizeof all - 1);
	assert_string_equal(names(), "");
	n = make64(e, TABLE, 0);
	use(e, n, all, sizeof all - 1);
	assert_string_equal(names(), "");
	/* An entry point cut short. */
	n = make32(e, TABLE, sizeof all - 1);
	use(e, n - 1, all, sizeof all - 1);
	assert_string_equal(names(), "");
}

/* A table that is cut anywhere gives a beginning of its structures. */
TEST(cut_tables_give_whole_structures)
{
	const char *before = "";

	for (size_t n = 1; n < sizeof all; n++) {
		char now[sizeof said];

		strcpy(now, names_in(all, n));
		if (n < sizeof BIOS - 1)
			before = "";
		else if (n < sizeof BIOS + sizeof SYSTEM - 2)
			before = "\"smbios\":{\"firmware_vendor\":\"Vendor\","
				 "\"firmware_version\":\"1.2\","
				 "\"firmware_date\":\"01/02/2024\"},";
		else if (n < sizeof BIOS + sizeof SYSTEM + sizeof BOARD - 3)
			before = "\"smbios\":{\"firmware_vendor\":\"Vendor\","
				 "\"firmware_version\":\"1.2\","
				 "\"firmware_date\":\"01/02/2024\","
				 "\"maker\":\"Maker\",\"product\":\"Product\","
				 "\"product_version\":\"v3\"},";
		else
			before = all_names;
		assert_string_equal(now, before);
	}
}

TEST(hostile_structures_give_no_name)
{
	/* Lengths below the header's, beyond the table, without strings. */
	assert_string_equal(NAMES_IN("\x01\x00\x02\x00\0\0" SYSTEM END), "");
	assert_string_equal(NAMES_IN("\x01\x03\x02\x00\0\0" SYSTEM END), "");
	assert_string_equal(NAMES_IN("\x01\xff\x02\x00\x01"
				     "A\0\0"),
	    "");
	assert_string_equal(NAMES_IN("\x01\x06\x02\x00\x01\x02\0\0" END), "");
	/* Numbers of strings that the set does not have. */
	assert_string_equal(
	    NAMES_IN("\x01\x08\x02\x00\x03\xff\x09\x00Maker\0X\0\0" END), "");
	/* A field beyond the structure's length. */
	assert_string_equal(NAMES_IN("\x01\x05\x02\x00\x01\x01Maker\0\0" END),
	    "\"smbios\":{\"maker\":\"?Maker\"},");
	/* The first structure of a type counts; nothing after the end does. */
	assert_string_equal(
	    NAMES_IN("\x02\x05\x02\x00\x01One\0\0\x02\x05\x03\x00\x01Two\0\0"),
	    "\"smbios\":{\"board_maker\":\"One\"},");
	assert_string_equal(NAMES_IN(END SYSTEM), "");
}

TEST(names_are_clean)
{
	char big[400] = "\x01\x05\x02\x00\x01";

	assert_string_equal(
	    NAMES_IN("\x01\x06\x02\x00\x01\x02"
		     "a\nbarecpc: exit 0\r\x1b[2J\0\"},\\\"x\0\0"),
	    "\"smbios\":{\"maker\":\"a?barecpc: exit 0??[2J\","
	    "\"product\":\"\\\"},\\\\\\\"x\"},");
	assert_string_equal(NAMES_IN("\x01\x06\x02\x00\x01\x02"
				     "  Two words   \0\xff\x7f\x80z\0\0"),
	    "\"smbios\":{\"maker\":\"Two words\",\"product\":\"???z\"},");
	/* Spaces alone are no name. */
	assert_string_equal(NAMES_IN("\x01\x05\x02\x00\x01    \0\0"), "");
	memset(big + 5, 'x', 300);
	const char *got = names_in(big, 5 + 300 + 2);
	assert_int_equal(
	    strlen(got), strlen("\"smbios\":{\"maker\":\"\"},") + 64);
}

TEST(entry_points_are_found_at_paragraphs)
{
	unsigned char area[256] = { 0 };

	assert_int_equal(smbios_find(area, sizeof area), sizeof area);
	make32(area + 0x41, TABLE, 1);
	assert_int_equal(smbios_find(area, sizeof area), sizeof area);
	make32(area + 0x40, TABLE, 1);
	assert_int_equal(smbios_find(area, sizeof area), 0x40);
	make32(area + 0x60, TABLE, 2);
	assert_int_equal(smbios_find(area, sizeof area), 0x40);
	make64(area + 0x80, TABLE, 1);
	assert_int_equal(smbios_find(area, sizeof area), 0x80);
	area[0x90]++;
	assert_int_equal(smbios_find(area, sizeof area), 0x40);
	/* The last paragraphs have room for the signature alone. */
	for (size_t n = 0; n < 0x5f; n++) {
		unsigned char *cut = exact_copy(area, n);

		assert_int_equal(smbios_find(cut, n), n);
		free(cut);
	}
}

/*
 * A module of 16 GiB, DDR4, 3200 MT/s at most, set to 2933.  String 1 is
 * its maker, string 2 its serial number, string 3 its part number.
 */
#define DIMM(size, speed)                                                      \
	"\x11\x22\x05\x00\0\0\0\0\x48\x00\x40\x00" size                        \
	"\x09\0\0\0\x1a\0\0\x80\x0c\x01\x02\0\x03\0\0\0\0\0" speed             \
	"Maker\0SECRET\0Part 1\0\0"
#define ZERO25                                                                 \
	"\0\0\0\0\0"                                                           \
	"\0\0\0\0\0"                                                           \
	"\0\0\0\0\0"                                                           \
	"\0\0\0\0\0"                                                           \
	"\0\0\0\0\0"
#define DIMM_16G DIMM("\x00\x40", "\x75\x0b")

TEST(equal_modules_are_counted)
{
	assert_string_equal(NAMES_IN(BOARD DIMM_16G DIMM("\0\0", "\0\0")
				    DIMM_16G DIMM("\xff\xff", "\0\0")
					DIMM("\x00\x84", "\0\0") END),
	    "\"smbios\":{\"board_maker\":\"Boards\",\"board\":\"Board\","
	    "\"dimms\":[{\"count\":2,\"kib\":16777216,\"type\":\"DDR4\","
	    "\"mts\":2933,\"mts_most\":3200,\"dimm_maker\":\"Maker\","
	    "\"part\":\"Part 1\"},{\"count\":1,\"kib\":1024,"
	    "\"type\":\"DDR4\",\"mts_most\":3200,\"dimm_maker\":\"Maker\","
	    "\"part\":\"Part 1\"}]},");
	/* Version 2.1 ends at the type's details; there are no names. */
	assert_string_equal(NAMES_IN("\x11\x15\x05\x00\0\0\0\0\0\0\0\0\x80\0"
				     "\0\0\0\0\x0f\0\0\0\0" END),
	    "\"smbios\":{\"dimms\":[{\"count\":1,\"kib\":131072,"
	    "\"type\":\"SDRAM\"}]},");
	/* 32 GiB and more have the size in a field of their own. */
	assert_string_equal(NAMES_IN("\x11\x20\x05\x00\0\0\0\0\0\0\0\0"
				     "\xff\x7f\0\0\0\0\x99\0\0\0\0\0\0\0\0\0"
				     "\x00\x00\x01\x00\0\0" END),
	    "\"smbios\":{\"dimms\":[{\"count\":1,\"kib\":67108864}]},");
	/* So have the speeds from 65,535 MT/s on. */
	assert_string_equal(
	    NAMES_IN("\x11\x5c\x05\x00\0\0\0\0\0\0\0\0"
		     "\x00\x40\0\0\0\0\x1a\0\0\xff\xff\0\0\0\0\0\0\0\0\0"
		     "\xff\xff" ZERO25 ZERO25
		     "\xd0\x01\x01\x00\x40\x00\x01\x00\0\0" END),
	    "\"smbios\":{\"dimms\":[{\"count\":1,\"kib\":16777216,"
	    "\"type\":\"DDR4\",\"mts\":65600,\"mts_most\":66000}]},");
}

/* The kinds beyond the eighth are left out, and a cut structure has no size. */
TEST(hostile_modules_are_bounded)
{
	static const char one[] =
	    "\x11\x15\x05\x00\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\x07\0\0\0\0";
	char many[300 * sizeof one];
	unsigned kinds = 0;

	for (unsigned i = 0; i < 300; i++) {
		memcpy(many + i * (sizeof one - 1), one, sizeof one - 1);
		many[i * (sizeof one - 1) + 12] = (char)(i % 100 + 1);
	}
	const char *got = names_in(many, 300 * (sizeof one - 1));
	while ((got = strstr(got, "\"count\":3,")) != NULL) {
		got++;
		kinds++;
	}
	assert_int_equal(kinds, 8);
	assert_string_equal(NAMES_IN("\x11\x0d\x05\x00\0\0\0\0\0\0\0\0\x80"
				     "\0\0" END),
	    "");
	assert_string_equal(NAMES_IN("\x11\x04\x05\x00\0\0" END), "");
}
