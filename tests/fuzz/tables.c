/* The fuzzer's bytes as ACPI tables: valid signatures, lengths, checksums. */
#include "tests/fuzz/tables.h"

#define HEADER 36
#define NTABLE 16

static struct {
	uint8_t *at;
	size_t bytes;
} table[NTABLE];
static unsigned ntable;

static void
put_bytes(uint8_t *at, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

static void
checksum(uint8_t *at, size_t n, size_t field)
{
	uint8_t sum = 0;

	at[field] = 0;
	for (size_t i = 0; i < n; i++)
		sum = (uint8_t)(sum + at[i]);
	at[field] = (uint8_t)-sum;
}

static uint8_t *
add_table(const char *signature, const void *body, size_t n)
{
	uint8_t *t = calloc(1, HEADER + n);

	memcpy(t, signature, 4);
	put_bytes(t + 4, HEADER + n, 4);
	if (n > 0)
		memcpy(t + HEADER, body, n);
	checksum(t, HEADER + n, 9);
	table[ntable].at = t;
	table[ntable++].bytes = HEADER + n;
	return t;
}

uint64_t
tables_make(
    const uint8_t *data, size_t n, const char *const kinds[], unsigned nkind)
{
	uint8_t root[8 * NTABLE], *rsdp;
	uint64_t dsdt = 0;
	unsigned nroot = 0;

	while (n >= 3 && ntable < NTABLE - 2) {
		const char *kind = kinds[data[0] % nkind];
		size_t want = data[1] | (size_t)data[2] << 8;
		size_t len = want < n - 3 ? want : n - 3;
		uint8_t *t = add_table(kind, data + 3, len);

		if (strcmp(kind, "DSDT") == 0) {
			dsdt = (uintptr_t)t;
		} else {
			if (strcmp(kind, "FACP") == 0 && len >= 148 - HEADER) {
				put_bytes(t + 140, dsdt, 8);
				checksum(t, HEADER + len, 9);
			}
			put_bytes(root + 8 * nroot++, (uintptr_t)t, 8);
		}
		data += 3 + len;
		n -= 3 + len;
	}
	rsdp = calloc(1, 36);
	memcpy(rsdp, "RSD PTR ", 8);
	rsdp[15] = 2;
	put_bytes(rsdp + 24, (uintptr_t)add_table("XSDT", root, 8 * nroot), 8);
	checksum(rsdp, 20, 8);
	table[ntable].at = rsdp;
	table[ntable++].bytes = 36;
	return (uintptr_t)rsdp;
}

void
tables_free(void)
{
	while (ntable > 0)
		free(table[--ntable].at);
}

size_t
tables_room(uint64_t pa)
{
	for (unsigned i = 0; i < ntable; i++) {
		uint64_t at = (uintptr_t)table[i].at;

		if (pa - at < table[i].bytes)
			return table[i].bytes - (pa - at);
	}
	return 0;
}
