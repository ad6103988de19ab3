/*
 * The file /dev/firmware: the tables that firmware left, byte for byte, each
 * after a struct barecpc_firmware.  The program `board` reads it.
 */
#include "kern/main.h"

#include "include/sys/barecpc.h"
#include "kern/arch.h"
#include "kern/file/file.h"
#include "kern/mm/page.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/entry_budget.h"
#include "kern/platform/errno.h"
#include "kern/platform/firmware/acpi.h"
#include "kern/platform/firmware/smbios.h"
#include "lib/printf.h"
#include "lib/string.h"

/* Devicetree Specification, "Flattened Devicetree (DTB) Format", "Header". */
#define FDT_MAGIC      "\xd0\x0d\xfe\xed"
#define FDT_TOTAL_SIZE 4
#define FDT_BYTES_MAX  (4U << 20)

static struct {
	uint64_t fdt;
	struct bootmem *map;
	size_t map_bytes;
} boot;

/* All pieces.  In the first pass there is no buffer. */
struct pieces {
	char *buf;
	size_t bytes;
};

static void
add_piece(void *arg, const char *name, uint64_t pa, const unsigned char *bytes,
    size_t n)
{
	struct pieces *all = arg;
	struct barecpc_firmware head = { .bf_pa = pa, .bf_bytes = n };

	memcpy(head.bf_name, name, sizeof head.bf_name);
	if (all->buf != NULL) {
		memcpy(all->buf + all->bytes, &head, sizeof head);
		memcpy(all->buf + all->bytes + sizeof head, bytes, n);
	}
	all->bytes += sizeof head + n;
}

static void
add_fdt(struct pieces *all)
{
	const unsigned char *fdt = pa_to_va(boot.fdt);

	if (boot.fdt == 0 || memcmp(fdt, FDT_MAGIC, 4) != 0)
		return;
	uint32_t n = __builtin_bswap32(acpi_u32(fdt + FDT_TOTAL_SIZE));
	if (n <= FDT_BYTES_MAX)
		add_piece(all, "FDT ", boot.fdt, fdt, n);
}

static void
add_all(struct pieces *all)
{
	all->bytes = 0;
	add_piece(
	    all, "MAP ", 0, (const unsigned char *)boot.map, boot.map_bytes);
	add_fdt(all);
	acpi_each(add_piece, all);
	smbios_each(add_piece, all);
}

static int
firmware_open(struct file *f)
{
	struct pieces all = { 0 };

	add_all(&all);
	if ((all.buf = kmalloc(all.bytes)) == NULL)
		return ENOMEM;
	entry_budget_add(all.bytes >> PAGE_SHIFT);
	add_all(&all);
	f->f_data = all.buf;
	f->f_bytes = all.bytes;
	return 0;
}

/* The map is copied, because the loader's memory need not stay. */
void
firmware_init(const struct bootinfo *bi)
{
	static const struct device_ops ops = { firmware_open, text_release };

	boot.fdt = bi->bi_fdt;
	boot.map_bytes = bi->bi_nmem * sizeof bi->bi_mem[0];
	boot.map = kmalloc(boot.map_bytes);
	if (boot.map == NULL)
		panic("mem: no memory for a copy of the memory map");
	memcpy(boot.map, bi->bi_mem, boot.map_bytes);
	file_register(FILE_FIRMWARE, &ops);
}
