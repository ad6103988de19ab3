/* A report on a board hides serial numbers, UUIDs and licence keys alone. */
#include "tests/lib/host/support.h"

#include <libfdt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/board/board.h"

/* Type 1 with its UUID, type 17 with two strings to hide, and the end. */
static const char table[] =
    "\x01\x1b\x01\x00\x01\x02\x00\x03UUIDUUIDUUIDUUID\x06\x00\x00"
    "Maker\0Product\0SERIAL-1\0\0"
    "\x11\x1b\x02\x00____________________\x01\x02\x03"
    "SERIAL-2\0ASSET\0Part\0\0"
    "\x7f\x04\x03\x00\0";

static bool
has(const unsigned char *p, size_t n, const char *text)
{
	return memmem(p, n, text, strlen(text)) != NULL;
}

TEST(smbios)
{
	unsigned char *t = exact_copy(table, sizeof table);

	assert_true(has(t, sizeof table, "SERIAL-1"));
	board_hide("SMBT", t, sizeof table);
	assert_false(has(t, sizeof table, "SERIAL"));
	assert_false(has(t, sizeof table, "UUID"));
	assert_false(has(t, sizeof table, "ASSET"));
	assert_true(has(t, sizeof table, "Maker"));
	assert_true(has(t, sizeof table, "Product"));
	assert_true(has(t, sizeof table, "Part"));
	/* The lengths stay: the structures are where they were. */
	assert_int_equal(t[sizeof table - 6], 127);
	free(t);
}

/* OEM strings, a power supply, and a structure of the maker's own type. */
static const char other[] = "\x0b\x05\x01\x00\x02"
			    "Tag\0SERIAL-3\0\0"
			    "\x27\x10\x02\x00____________"
			    "SERIAL-4\0\0"
			    "\xdc\x08\x03\x00SN-5"
			    "SERIAL-5\0\0"
			    "\x00\x05\x04\x00\x01"
			    "Vendor\0\0"
			    "\x7f\x04\x05\x00\0";

TEST(structures_of_unknown_content)
{
	unsigned char *t = exact_copy(other, sizeof other);

	board_hide("SMBT", t, sizeof other);
	assert_false(has(t, sizeof other, "SERIAL"));
	assert_false(has(t, sizeof other, "SN-5"));
	assert_true(has(t, sizeof other, "Vendor"));
	assert_int_equal(t[0], 11);
	assert_int_equal(t[sizeof other - 6], 127);
	free(t);
}

TEST(device_tree)
{
	char fdt[1024];

	assert_int_equal(fdt_create_empty_tree(fdt, sizeof fdt), 0);
	fdt_setprop_string(fdt, 0, "model", "Board");
	fdt_setprop_string(fdt, 0, "serial-number", "SERIAL-6");
	int node = fdt_add_subnode(fdt, 0, "ethernet");
	fdt_setprop_string(fdt, node, "compatible", "serial");
	fdt_setprop_string(fdt, node, "local-mac-address", "ADDRESS");
	node = fdt_add_subnode(fdt, 0, "chosen");
	fdt_setprop_string(fdt, node, "rng-seed", "SEED");
	fdt_setprop_string(fdt, node, "linux,serial", "SERIAL-7");
	fdt_setprop_string(fdt, node, "rpi-serial64", "SERIAL-8");
	fdt_setprop_string(fdt, node, "rpi-duid", "SERIAL-9");
	fdt_setprop_string(fdt, node, "bootargs",
	    "smsc95xx.macaddr=ADDRESS vc_mem.serial=SERIAL-10");
	unsigned char *t = exact_copy(fdt, sizeof fdt);
	board_hide("FDT ", t, sizeof fdt);
	assert_false(has(t, sizeof fdt, "SERIAL"));
	assert_false(has(t, sizeof fdt, "ADDRESS"));
	assert_false(has(t, sizeof fdt, "SEED"));
	assert_true(has(t, sizeof fdt, "Board"));
	assert_int_equal(fdt_check_full(t, sizeof fdt), 0);
	node = fdt_path_offset(t, "/ethernet");
	assert_string_equal(fdt_getprop(t, node, "compatible", NULL), "serial");
	free(t);
	for (size_t n = 0; n < 64; n++) {
		t = exact_copy(fdt, n);
		board_hide("FDT ", t, n);
		free(t);
	}
}

TEST(damaged)
{
	for (size_t n = 0; n <= sizeof table; n++) {
		unsigned char *t = exact_copy(table, n);

		board_hide("SMBT", t, n);
		free(t);
	}
	for (size_t at = 0; at < sizeof table; at++) {
		unsigned char *t = exact_copy(table, sizeof table);

		t[at] = 0xff;
		board_hide("SMBT", t, sizeof table);
		free(t);
	}
}

TEST(licence)
{
	char text[64] = "MSDM";

	memcpy(text + 40, "AAAAA-BBBBB", 11);
	unsigned char *t = exact_copy(text, sizeof text);
	board_hide("FACP", t, sizeof text);
	assert_true(has(t, sizeof text, "BBBBB"));
	board_hide("MSDM", t, sizeof text);
	assert_false(has(t, sizeof text, "BBBBB"));
	assert_true(has(t, sizeof text, "MSDM"));
	board_hide("MSDM", t, 10);
	free(t);
}
