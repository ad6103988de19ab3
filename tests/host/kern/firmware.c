/*
 * Run as `firmware ARCH FILE...`.  Each file has pieces of /dev/firmware.
 * Prints what the kernel's parsers find in them.
 * tests/cli/boot/board_reports.py compares it with what the kernel found on
 * that machine.  The pieces are at their physical addresses, so that the
 * tables' own addresses lead to them.
 */
#include "tests/lib/host/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arm64/machine.h"
#include "dev/uart/uart.h"
#include "include/sys/barecpc.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/firmware/acpi.h"
#include "kern/platform/firmware/acpi_uart.h"
#include "kern/platform/firmware/acpi_watchdog.h"
#include "kern/platform/firmware/smbios.h"
#include "kern/platform/firmware/watchdog.h"
#include "lib/text.h"
#include "tests/lib/host/physical.h"

#define FILE_BYTES (16 << 20)
#define NPIECE     256

char *const arch_direct = PHYSICAL;

int fake_printf(const char *fmt, ...);

int
fake_printf(const char *fmt, ...)
{
	return 0;
}

static struct barecpc_firmware piece[NPIECE];
static unsigned npiece;

static void
stop(const char *why)
{
	fprintf(stderr, "firmware: %s\n", why);
	exit(1);
}

/* Only pieces can be read. */
static const void *
map_piece(uint64_t pa, size_t bytes)
{
	for (unsigned i = 0; i < npiece; i++) {
		if (pa >= piece[i].bf_pa &&
		    pa - piece[i].bf_pa < piece[i].bf_bytes)
			return bytes <=
			               piece[i].bf_bytes - (pa - piece[i].bf_pa)
			           ? PHYSICAL + pa
			           : NULL;
	}
	return NULL;
}

static void
take_piece(
    struct bootinfo *bi, const struct barecpc_firmware *p, const char *bytes)
{
	if (memcmp(p->bf_name, "MAP ", 4) == 0) {
		if (p->bf_bytes > sizeof bi->bi_mem)
			stop("the memory map is too long");
		memcpy(bi->bi_mem, bytes, p->bf_bytes);
		bi->bi_nmem = (uint32_t)(p->bf_bytes / sizeof bi->bi_mem[0]);
		return;
	}
	if (memcmp(p->bf_name, "CPUI", 4) == 0)
		return;
	if (npiece == NPIECE)
		stop("too many pieces");
	piece[npiece++] = *p;
	if (!physical_put(p->bf_pa, bytes, p->bf_bytes))
		stop("a piece cannot be mapped");
	if (memcmp(p->bf_name, "RSDP", 4) == 0)
		bi->bi_rsdp = p->bf_pa;
	else if (memcmp(p->bf_name, "FDT ", 4) == 0)
		bi->bi_fdt = p->bf_pa;
	else if (memcmp(p->bf_name, "SMEP", 4) == 0)
		bi->bi_smbios = p->bf_pa;
}

static void
read_pieces(const char *name, struct bootinfo *bi)
{
	char *all = malloc(FILE_BYTES);
	FILE *f = fopen(name, "rb");
	struct barecpc_firmware head;

	if (all == NULL || f == NULL)
		stop(name);
	size_t n = fread(all, 1, FILE_BYTES, f);
	fclose(f);
	for (size_t at = 0; at < n; at += head.bf_bytes) {
		if (n - at < sizeof head)
			stop("a piece is cut");
		memcpy(&head, all + at, sizeof head);
		at += sizeof head;
		if (head.bf_bytes > n - at)
			stop("a piece is cut");
		take_piece(bi, &head, all + at);
	}
	free(all);
}

static void
print_piece(void *arg, const char *name, uint64_t pa,
    const unsigned char *bytes, size_t n)
{
	unsigned char sum = 0;

	for (size_t i = 0; i < n; i++)
		sum = (unsigned char)(sum + bytes[i]);
	printf("%s %.4s %#lx %zu %u\n", (const char *)arg, name,
	    (unsigned long)pa, n, sum);
}

static void
print_smbios(void)
{
	static char buf[1 << 16];
	struct text t = { buf, sizeof buf, 0 };

	buf[0] = '\0';
	smbios_describe(&t);
	printf("smbios %s\n", buf);
}

/* The map that the kernel made at its start is sorted and disjoint. */
static void
print_memory(const struct bootinfo *bi)
{
	uint64_t free = 0, ram = 0, end = 0;

	for (unsigned i = 0; i < bi->bi_nmem; i++) {
		const struct bootmem *m = &bi->bi_mem[i];

		if (m->bm_base < end || m->bm_len == 0)
			stop("the memory map is not sorted and disjoint");
		end = m->bm_base + m->bm_len;
		free += m->bm_type == BOOTMEM_FREE ? m->bm_len : 0;
		ram +=
		    bootinfo_is_ram(bi, m->bm_base, m->bm_len) ? m->bm_len : 0;
	}
	printf("memory ranges=%u free=%#lx ram=%#lx end=%#lx\n", bi->bi_nmem,
	    (unsigned long)free, (unsigned long)ram, (unsigned long)end);
}

static void
print_console(void)
{
	struct uart u = { 0 };
	const char *table = acpi_uart(&u);

	if (table != NULL)
		printf("console table=%s uart=%s address=%#lx baud=%u\n", table,
		    uart_types[u.u_kind].ut_name, (unsigned long)u.u_addr,
		    u.u_baud);
}

bool
acpi_reg_read(const struct acpi_gas *at, unsigned bytes, uint32_t *v)
{
	printf("watchdog register=%#lx bytes=%u\n", (unsigned long)at->ag_addr,
	    bytes);
	return false;
}

bool
acpi_reg_write(const struct acpi_gas *at, unsigned bytes, uint32_t v)
{
	stop("a watchdog whose register cannot be read is written");
	return false;
}

void
watchdog_found(const char *kind, enum watchdog_state state)
{
	printf("watchdog kind=%s state=%d\n", kind, (int)state);
}

static void
print_arm64(struct bootinfo *bi)
{
	memset(&machine, 0, sizeof machine);
	if (!machine_from_fdt(bi) && !machine_from_acpi(bi))
		stop("no GIC in a device tree, and no ACPI tables");
	printf("machine tables=%s gic=%u cpus=%u psci=%u uart=%s timer=%u\n",
	    machine.m_tables, machine.m_gic, machine_ncpu(), machine.m_psci,
	    uart_types[machine.m_uart.u_kind].ut_name, machine.m_timer_intid);
}

static void
print_machine(const char *arch, const char *name)
{
	struct bootinfo *bi = calloc(1, sizeof *bi);

	if (bi == NULL)
		stop("no memory");
	read_pieces(name, bi);
	printf("report %s\n", name);
	acpi_init(bi->bi_rsdp, map_piece);
	acpi_each(print_piece, "piece");
	smbios_init(bi->bi_smbios, map_piece);
	smbios_each(print_piece, "piece");
	print_smbios();
	print_memory(bi);
	print_console();
	acpi_watchdog_init();
	if (strcmp(arch, "arm64") == 0)
		print_arm64(bi);
	physical_clear();
	npiece = 0;
	free(bi);
}

int
main(int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		print_machine(argv[1], argv[i]);
	return 0;
}
