/* UEFI's boot services, as far as they give memory. */
#include "tests/lib/host/fake_efi.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/host/support.h"

#define STEP 48 /* firmware's descriptors are longer than ours */

EFI_BOOT_SERVICES fake_services;
EFI_BOOT_SERVICES *efi_bs = &fake_services;

static const EFI_MEMORY_DESCRIPTOR *fake_map;
static unsigned nmap;
static UINTN current_key;

static EFI_STATUS EFIAPI
get_memory_map(UINTN *bytes, EFI_MEMORY_DESCRIPTOR *to, UINTN *key, UINTN *step,
    UINT32 *version)
{
	UINTN room = *bytes;

	*bytes = nmap * STEP;
	*step = STEP;
	*version = EFI_MEMORY_DESCRIPTOR_VERSION;
	if (room < *bytes)
		return EFI_BUFFER_TOO_SMALL;
	for (unsigned i = 0; i < nmap; i++)
		memcpy((char *)to + i * STEP, &fake_map[i], sizeof *fake_map);
	*key = ++current_key;
	return EFI_SUCCESS;
}

void
fake_efi_map(const EFI_MEMORY_DESCRIPTOR *map, unsigned n)
{
	fake_services.GetMemoryMap = get_memory_map;
	fake_map = map;
	nmap = n;
}

UINTN
fake_efi_key(void)
{
	return current_key;
}

static void *taken[8];
static unsigned ntaken;

void *
efi_alloc(EFI_MEMORY_TYPE type, size_t bytes, size_t align, const char *what)
{
	assert_true(ntaken < sizeof taken / sizeof *taken);
	return taken[ntaken++] = malloc(bytes);
}

void
fake_efi_free(void)
{
	while (ntaken > 0)
		free(taken[--ntaken]);
}
