/*
 * SMBIOS' tables.  The first byte of the input selects the form.  With 0 the
 * rest is BIOS's area, entry point and all.  With 1 and 2 a valid entry point
 * of 32 or 64 bits is made for the rest, which is the table.
 */
#include "tests/fuzz/fuzz.h"

#include "kern/platform/firmware/smbios.h"
#include "lib/text.h"

#define ENTRY 0x1000
#define TABLE 0x10000

static unsigned char entry[0x20], *table;
static size_t table_bytes;

static const void *
map(uint64_t pa, size_t bytes)
{
	if (pa >= ENTRY && pa - ENTRY < sizeof entry)
		return bytes <= sizeof entry - (pa - ENTRY)
		           ? entry + (pa - ENTRY)
		           : NULL;
	if (pa >= TABLE && pa - TABLE < table_bytes)
		return bytes <= table_bytes - (pa - TABLE)
		           ? table + (pa - TABLE)
		           : NULL;
	return NULL;
}

static void
make_sum(unsigned char *p, size_t n, size_t at)
{
	unsigned char sum = 0;

	for (size_t i = 0; i < n; i++)
		sum = (unsigned char)(sum + p[i]);
	p[at] = (unsigned char)-sum;
}

static void
make_entry(bool wide)
{
	uint32_t pa = TABLE, bytes = (uint32_t)table_bytes;

	memset(entry, 0, sizeof entry);
	memcpy(entry, wide ? "_SM3_" : "_SM_", wide ? 5 : 4);
	if (wide) {
		entry[6] = 0x18;
		memcpy(entry + 12, &bytes, 4);
		memcpy(entry + 16, &pa, 4);
		make_sum(entry, 0x18, 5);
		return;
	}
	entry[5] = 0x1f;
	memcpy(entry + 16, "_DMI_", 5);
	memcpy(entry + 22, &bytes, 2);
	memcpy(entry + 24, &pa, 4);
	make_sum(entry + 16, 15, 5);
	make_sum(entry, 0x1f, 4);
}

/* One JSON object and a comma, or nothing; printable on one line. */
static void
check_text(const char *s)
{
	bool quoted = false;
	int depth = 0;

	for (; *s != '\0'; s++) {
		CHECK(*s >= ' ' && *s <= '~');
		if (quoted && *s == '\\')
			s++;
		else if (*s == '"')
			quoted = !quoted;
		else if (!quoted)
			depth += (*s == '{') - (*s == '}');
	}
	CHECK(!quoted && depth == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char said[4096] = "";
	struct text t = { said, sizeof said, 0 };
	size_t at = 0;

	if (n < 2)
		return 0;
	table_bytes = n - 1;
	table = fuzz_copy(data + 1, table_bytes);
	if (data[0] % 3 == 0) {
		at = smbios_find(table, table_bytes);
		CHECK(at <= table_bytes);
		smbios_init(TABLE + at, map);
	} else {
		make_entry(data[0] % 3 == 2);
		smbios_init(ENTRY, map);
	}
	smbios_each(fuzz_read_table, NULL);
	smbios_describe(&t);
	CHECK(t.t_len < sizeof said && strlen(said) == t.t_len);
	check_text(said);
	free(table);
	return 0;
}
