#include "boot/efi.h"

#include "lib/string.h"

/* The first bytes of kernel.bin. */
struct kernel_bin {
	char magic[8];
	uint64_t entry; /* offset of the 64-bit entry */
	uint64_t bytes; /* in memory */
};

void
efi_kernel_header(struct efi_kernel *ek)
{
	struct kernel_bin h;

	memcpy(&h, efi_kernel, sizeof h);
	if (memcmp(h.magic, "BARECPC", sizeof h.magic) != 0)
		efi_fail("the kernel in this file has no header");
	*ek = (struct efi_kernel){ .ek_entry = h.entry, .ek_bytes = h.bytes };
}

/*
 * UEFI Specification, "x64 Platforms": we are in long mode and memory is
 * mapped one to one, which is all the kernel's entry asks for.
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
