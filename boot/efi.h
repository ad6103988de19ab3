/*
 * The UEFI application's own parts.  Included by boot/efi*.c only.
 *
 * "UEFI" in comments is the UEFI Specification, with the section's title.
 */
#ifndef BOOT_EFI_H
#define BOOT_EFI_H

#include <stddef.h>
#include <stdint.h>

#include <efi.h>

#include "kern/platform/bootinfo.h"

extern EFI_SYSTEM_TABLE *efi_st;
extern EFI_BOOT_SERVICES *efi_bs;
extern EFI_LOADED_IMAGE_PROTOCOL *efi_self; /* this application, as loaded */

/* boot/efi_image.S: the kernel's flat image, its archive included. */
extern const char efi_kernel[], efi_kernel_end[];

/*
 * Say in one line why there is no way on, give it time to be read, power
 * off.  Before ExitBootServices.
 */
_Noreturn void efi_fail(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

/* A line for the reader of the firmware's console; cut where it is long. */
void efi_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Pages for bytes, aligned, below 4 GiB where there is room: the kernel's
 * first page tables need not reach further.  Fails by efi_fail(), for what.
 */
void *efi_alloc(
    EFI_MEMORY_TYPE type, size_t bytes, size_t align, const char *what);

/* 4 KiB, on every machine. */
#define EFI_PAGE 4096ULL

#define EFI_PATH_MAX 256 /* characters of a path */

/*
 * Read a file from the folder this application came from, or else from the
 * root of that volume; from the root alone where the name begins with a
 * separator, / or \.  Returns NULL where there is no volume (booted over the
 * network, say) or no such file, or it is empty.
 */
void *efi_read_file(const char *name, size_t *bytes);

/*
 * The command line: load options with a word of ours, else barecpc.cfg, else
 * load options of other words, else none.
 */
void efi_find_cmdline(struct bootinfo *bi);
/* What initrd=PATH names there, or "". */
extern char efi_initrd[EFI_PATH_MAX];
/*
 * The second archive: a boot loader's initrd, else the file of initrd=PATH,
 * else barecpc.cpio, else none.
 */
void efi_find_archive(struct bootinfo *bi);

/*
 * boot/efi_tables.c: what the firmware knows
 */
void efi_find_tables(struct bootinfo *bi);
void efi_find_framebuffer(struct bootinfo *bi);
/* ExitBootServices.  On return nothing of efi_bs may be used. */
void efi_exit(EFI_HANDLE image, struct bootinfo *bi);

/*
 * boot/efi_x86.c, boot/efi_arm64.c: the kernel's image and its entry
 */
struct efi_kernel {
	uint64_t ek_offset; /* from a 2 MiB boundary to where it is placed */
	uint64_t
	    ek_entry; /* from where it is placed to its first instruction */
	uint64_t ek_bytes; /* in memory, .bss included */
};

/* Read the image's header; fails by efi_fail(). */
void efi_kernel_header(struct efi_kernel *ek);
/* After efi_exit(). */
_Noreturn void efi_enter(const struct bootinfo *bi, uint64_t entry);

#endif /* BOOT_EFI_H */
