/*
 * Entry from a Linux Image's loader: make struct bootinfo from a device tree,
 * or take the UEFI application's, and call kern_main().  The lower half maps
 * both one to one here, for reading.
 */
#include <libfdt.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/fdt/dt.h"
#include "boot/image.h"
#include "kern/platform/bootinfo.h"
#include "lib/printf.h"
#include "lib/string.h"

extern char _start[], __kern_end[];

_Noreturn void image_main(uint64_t handed_over);

static struct bootinfo boot_info;

/* Add each range of this node's "reg" to the map. */
static void
add_ranges(struct bootinfo *bi, const struct dt *dt, enum bootmem_type type)
{
	uint64_t base, bytes;

	for (unsigned n = 0; dt_reg(dt, n, &base, &bytes); n++)
		bootinfo_add(bi, base, bytes, type);
}

static bool
has_string(const struct dt *dt, const char *name, const char *value)
{
	int len;
	const char *s =
	    dt_getprop(dt->dt_fdt, dt->dt_path[dt->dt_depth], name, &len);

	return s != NULL && (size_t)len == strlen(value) + 1 &&
	       memcmp(s, value, (size_t)len) == 0;
}

/* Linux, Documentation/devicetree/bindings/chosen.txt */
static void
read_initrd(struct bootinfo *bi, const void *fdt, int node)
{
	uint64_t start = dt_number(fdt, node, "linux,initrd-start", 0);
	uint64_t end = dt_number(fdt, node, "linux,initrd-end", 0);

	if (start != 0 && end > start) {
		bi->bi_archive = start;
		bi->bi_archive_bytes = end - start;
	}
}

static void
read_chosen(struct bootinfo *bi, const void *fdt, int node)
{
	int len;
	const char *args = dt_getprop(fdt, node, "bootargs", &len);

	if (args != NULL && len > 0) {
		bi->bi_cmdline = (uint64_t)args; /* mapped as itself */
		bi->bi_cmdline_bytes = strnlen(args, (size_t)len);
	}
	read_initrd(bi, fdt, node);
}

/* Memory that must not be mapped is added as a device's. */
static void
reserved_memory(struct bootinfo *bi, const struct dt *dt, int node)
{
	bool no_map = dt_getprop(dt->dt_fdt, node, "no-map", NULL) != NULL;

	add_ranges(bi, dt, no_map ? BOOTMEM_DEVICE : BOOTMEM_KEEP);
}

void
image_from_fdt(struct bootinfo *bi, const void *fdt)
{
	bool reserved = false; /* inside /reserved-memory */
	uint64_t base, bytes;
	struct dt dt;
	int node;

	bi->bi_fdt = (uint64_t)fdt;
	bootinfo_add(bi, bi->bi_fdt, fdt_totalsize(fdt), BOOTMEM_KEEP);
	for (int i = 0; i < fdt_num_mem_rsv(fdt); i++) {
		if (fdt_get_mem_rsv(fdt, i, &base, &bytes) == 0)
			bootinfo_add(bi, base, bytes, BOOTMEM_KEEP);
	}
	dt_start(&dt, fdt);
	while ((node = dt_next(&dt)) >= 0) {
		if (dt.dt_depth > 2 || dt.dt_depth < 1)
			continue;
		if (dt.dt_depth == 2) {
			if (reserved && dt_enabled(fdt, node))
				reserved_memory(bi, &dt, node);
			continue;
		}
		const char *name = dt_name(fdt, node);
		reserved = strcmp(name, "reserved-memory") == 0;
		if (strcmp(name, "chosen") == 0)
			read_chosen(bi, fdt, node);
		else if (name[0] == 'm' &&
			 has_string(&dt, "device_type", "memory"))
			add_ranges(bi, &dt, BOOTMEM_FREE);
	}
}

/* GRUB starts the UEFI application with an initrd that only the tree names. */
static void
late_initrd(struct bootinfo *bi)
{
	const void *fdt = arm64_early_ptr(bi->bi_fdt, ARM64_HANDED_MAX);

	if (bi->bi_archive != 0 || fdt == NULL || fdt_check_header(fdt) != 0)
		return;
	int node = dt_child(fdt, 0, "chosen", 6);
	if (node >= 0)
		read_initrd(bi, fdt, node);
}

void
image_main(uint64_t handed_over)
{
	const void *p = (const void *)handed_over;
	struct bootinfo *bi = &boot_info;
	const char *wrong = NULL;

	if (*(const uint64_t *)p == BOOTINFO_MAGIC) {
		memcpy(bi, p, sizeof *bi);
		late_initrd(bi);
	} else {
		bi->bi_magic = BOOTINFO_MAGIC;
		bi->bi_via = BOOT_LINUX_IMAGE;
		if (fdt_check_header(p) != 0)
			panic("boot: no device tree at x0 %#lx: boot the file "
			      "Image, not the ELF",
			    (unsigned long)handed_over);
		image_from_fdt(bi, p);
		wrong = image_from_uefi(bi, p);
	}
	if (wrong != NULL)
		panic("boot: /chosen: %s", wrong);
	bi->bi_kern = arm64_image_pa(_start);
	bi->bi_kern_bytes = (uint64_t)(__kern_end - _start);
	bootinfo_add(bi, bi->bi_kern, bi->bi_kern_bytes, BOOTMEM_KEEP);
	kern_main(bi);
}
