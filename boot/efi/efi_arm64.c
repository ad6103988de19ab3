/* The arm64 part of the UEFI application: the kernel's header and entry. */
#include "boot/efi/efi.h"

#include "lib/string.h"

/*
 * The header of a Linux Image.  Linux, "Booting AArch64 Linux", "Call the
 * kernel image"; its first word is the first instruction.
 */
struct linux_image {
	uint32_t code[2];
	uint64_t text_offset;
	uint64_t image_size;
	uint64_t flags;
	uint64_t reserved[3];
	char magic[4];
	uint32_t pe_offset;
};

/* boot/efi/efi_enter_arm64.S */
_Noreturn void efi_arm64_enter(const struct bootinfo *bi, uint64_t entry);
extern const char efi_arm64_enter_end[];

/* The Image's first page is the PE file's header, too. */
const char *
efi_kernel(void)
{
	return efi_self->ImageBase;
}

void
efi_kernel_header(struct efi_kernel *ek)
{
	struct linux_image h;

	memcpy(&h, efi_kernel(), sizeof h);
	if (memcmp(h.magic, "ARM\x64", sizeof h.magic) != 0)
		efi_fail("the kernel in this file has no header: copy the file "
			 "again");
	*ek = (struct efi_kernel){ .efk_offset = h.text_offset,
		.efk_bytes = h.image_size };
}

/*
 * Clean and invalidate the cache lines of [base, base + bytes).  Reads with the
 * caches off then see the data, and no old line overwrites it later.
 * Arm ARM (DDI 0487), "CTR_EL0" (DminLine: log2 of words) and "DC CIVAC".
 */
static void
clean_range(uint64_t base, uint64_t bytes)
{
	uint64_t ctr, line;

	if (bytes == 0)
		return;
	__asm__ volatile("mrs %0, ctr_el0" : "=r"(ctr));
	line = 4ULL << (ctr >> 16 & 0xf);
	for (uint64_t a = base & -line; a < base + bytes; a += line)
		__asm__ volatile("dc civac, %0" : : "r"(a) : "memory");
	__asm__ volatile("dsb sy" : : : "memory");
}

void
efi_enter(const struct bootinfo *bi, uint64_t entry)
{
	uint64_t code = (uintptr_t)efi_arm64_enter;

	clean_range(bi->bi_kern, bi->bi_kern_bytes);
	clean_range((uintptr_t)bi, sizeof *bi);
	clean_range(bi->bi_cmdline, bi->bi_cmdline_bytes);
	clean_range(bi->bi_archive, bi->bi_archive_bytes);
	if (bi->bi_fdt != 0) {
		const uint32_t *fdt = (const void *)(uintptr_t)bi->bi_fdt;

		clean_range(bi->bi_fdt, __builtin_bswap32(fdt[1]));
	}
	/* efi_arm64_enter() runs its last instructions with the MMU off. */
	clean_range(code, (uintptr_t)efi_arm64_enter_end - code);
	efi_arm64_enter(bi, entry);
}
