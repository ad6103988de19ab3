/*
 * Reads the device tree that Linux's UEFI stub, and kexec of a Linux started by
 * UEFI, pass.  It has the addresses of UEFI's tables and no memory.
 *
 * Linux, Documentation/arch/arm/uefi.rst, "UEFI kernel support on ARM".
 */
#include <libfdt.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/dt.h"
#include "boot/efi_handed.h"
#include "boot/efi_memmap.h"
#include "boot/image.h"
#include "kern/platform/bootinfo.h"

void
image_from_uefi(struct bootinfo *bi, const void *fdt)
{
	int node = fdt_path_offset(fdt, "/chosen");
	struct efi_handed eh;
	const void *map;

	if (node < 0)
		return;
	eh = (struct efi_handed){
		.efh_systab =
		    dt_number(fdt, node, "linux,uefi-system-table", 0),
		.efh_map = dt_number(fdt, node, "linux,uefi-mmap-start", 0),
		.efh_map_bytes =
		    dt_number(fdt, node, "linux,uefi-mmap-size", 0),
		.efh_step =
		    dt_number(fdt, node, "linux,uefi-mmap-desc-size", 0),
	};
	if (eh.efh_systab == 0 || eh.efh_map == 0 ||
	    eh.efh_step < sizeof(struct efi_descriptor) ||
	    (map = arm64_early_ptr(eh.efh_map, eh.efh_map_bytes)) == NULL)
		return;
	efi_convert_map(bi, map, eh.efh_map_bytes, eh.efh_step);
	efi_handed_tables(bi, &eh, arm64_early_ptr);
}
