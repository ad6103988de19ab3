/*
 * The boot memory map.  The input is records of type, base and pages, which
 * become descriptors of UEFI's map for boot/efi/efi_tables.c.  The result is
 * sorted and disjoint, and no allocation overlaps a reservation.
 */
#include "tests/fuzz/fuzz.h"

#include "boot/efi/efi.h"

#define RECORD 17

static EFI_BOOT_SERVICES services;
EFI_BOOT_SERVICES *efi_bs = &services;
EFI_SYSTEM_TABLE *efi_st;
static char *map;
static size_t map_bytes;
static void *room;

void
efi_fail(const char *fmt, ...)
{
	abort();
}

void *
efi_alloc(EFI_MEMORY_TYPE type, size_t bytes, size_t align, const char *what)
{
	return room = malloc(bytes);
}

static EFI_STATUS EFIAPI
get_map(UINTN *bytes, EFI_MEMORY_DESCRIPTOR *to, UINTN *key, UINTN *step,
    UINT32 *version)
{
	*step = sizeof *to;
	*key = *version = 1;
	if (to != NULL)
		memcpy(to, map, map_bytes);
	*bytes = map_bytes;
	return to != NULL ? EFI_SUCCESS : EFI_BUFFER_TOO_SMALL;
}

static EFI_STATUS EFIAPI
exit_boot_services(EFI_HANDLE image, UINTN key)
{
	return EFI_SUCCESS;
}

static void
check_map(const struct bootinfo *bi)
{
	CHECK(bi->bi_nmem <= BOOTINFO_NMEM);
	for (uint32_t i = 0; i < bi->bi_nmem; i++) {
		const struct bootmem *m = &bi->bi_mem[i];

		CHECK(m->bm_len > 0 &&
		      m->bm_base + (m->bm_len - 1) >= m->bm_base);
		CHECK(
		    i == 0 || m[-1].bm_base + (m[-1].bm_len - 1) < m->bm_base);
		CHECK(m->bm_type != BOOTMEM_FREE ||
		      (m->bm_base | m->bm_len) % EFI_PAGE == 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct bootinfo *bi = calloc(1, sizeof *bi);

	EFI_MEMORY_DESCRIPTOR *d = calloc(n / RECORD + 1, sizeof *d);
	map = (char *)d;
	map_bytes = n / RECORD * sizeof *d;
	for (size_t i = 0; i < n / RECORD; i++) {
		d[i].Type = data[RECORD * i] % 16;
		d[i].Attribute =
		    data[RECORD * i] & 0x80 ? EFI_MEMORY_RUNTIME : 0;
		memcpy(&d[i].PhysicalStart, data + RECORD * i + 1, 8);
		memcpy(&d[i].NumberOfPages, data + RECORD * i + 9, 8);
	}
	services.GetMemoryMap = get_map;
	services.ExitBootServices = exit_boot_services;
	efi_exit(NULL, bi);
	bootinfo_sort(bi);
	check_map(bi);
	uint64_t got = bootinfo_take(bi, 3 * EFI_PAGE, 4 * EFI_PAGE, 0, ~0ULL);
	CHECK(got % (4 * EFI_PAGE) == 0);
	check_map(bi);
	bootinfo_cut(bi, 1ULL << 46);
	check_map(bi);
	bootinfo_reserve(bi, 1ULL << 20, 1ULL << 20);
	check_map(bi);
	free(room);
	free(d);
	free(bi);
	return 0;
}
