/* The x86-64 part of the UEFI application: the kernel's header and entry. */
#include "boot/efi/efi.h"

#include "lib/string.h"

/* The header at the start of the flat kernel: boot/linux_x86.S. */
struct kernel_bin {
	char jump[8];
	char magic[8];
	uint64_t entry; /* offset of the 64-bit entry */
	uint64_t bytes; /* in memory */
};

/* The page before the kernel is boot/linux_setup.S. */
const char *
efi_kernel(void)
{
	return (const char *)efi_self->ImageBase + EFI_PAGE;
}

void
efi_kernel_header(struct efi_kernel *ek)
{
	struct kernel_bin h;

	memcpy(&h, efi_kernel(), sizeof h);
	if (memcmp(h.magic, "BARECPC", sizeof h.magic) != 0)
		efi_fail("the kernel in this file has no header: copy the file "
			 "again");
	*ek = (struct efi_kernel){ .efk_entry = h.entry, .efk_bytes = h.bytes };
}

/*
 * UEFI Specification, "x64 Platforms": the CPU is in long mode and memory is
 * mapped one to one, with four levels of page tables or five.  The kernel's
 * entry needs no more.
 */
void
efi_enter(const struct bootinfo *bi, uint64_t entry)
{
	__asm__ volatile("cli; cld; jmp *%0"
			 :
			 : "r"(entry), "D"(bi)
			 : "memory");
	__builtin_unreachable();
}
