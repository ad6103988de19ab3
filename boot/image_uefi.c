/*
 * Reads the device tree that Linux's UEFI stub, and kexec of a Linux started by
 * UEFI, pass.  It has the addresses of UEFI's tables and no memory.
 *
 * Linux, Documentation/arch/arm/uefi.rst, "UEFI kernel support on ARM".
 */
#include <libfdt.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/fdt/dt.h"
#include "boot/efi/efi_handed.h"
#include "boot/efi/efi_memmap.h"
#include "boot/image.h"
#include "kern/platform/bootinfo.h"

const char *
image_from_uefi(struct bootinfo *bi, const void *fdt)
{
	int node = dt_child(fdt, 0, "chosen", 6);
	struct efi_handed eh;
	const void *map;

	if (node < 0)
		return NULL;
	eh = (struct efi_handed){
		.efh_systab =
		    dt_number(fdt, node, "linux,uefi-system-table", 0),
		.efh_map = dt_number(fdt, node, "linux,uefi-mmap-start", 0),
		.efh_map_bytes =
		    dt_number(fdt, node, "linux,uefi-mmap-size", 0),
		.efh_step =
		    dt_number(fdt, node, "linux,uefi-mmap-desc-size", 0),
	};
	if (eh.efh_systab == 0)
		return NULL;
	/* Descriptors have 64-bit fields: UEFI, "GetMemoryMap()". */
	if (eh.efh_step < sizeof(struct efi_descriptor) || eh.efh_step % 8 != 0)
		return "linux,uefi-mmap-desc-size is not that of a descriptor";
	if (eh.efh_map_bytes < eh.efh_step)
		return "linux,uefi-mmap-size: the memory map is empty";
	if (eh.efh_map_bytes > ARM64_HANDED_MAX || eh.efh_map % 8 != 0 ||
	    (map = arm64_early_ptr(eh.efh_map, eh.efh_map_bytes)) == NULL)
		return "linux,uefi-mmap-start: the memory map cannot be read";
	efi_convert_map(bi, map, eh.efh_map_bytes, eh.efh_step);
	efi_handed_tables(bi, &eh, arm64_early_ptr);
	return NULL;
}
