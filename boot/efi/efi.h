/*
 * The parts of the UEFI application.  Included by boot/efi/efi*.c only.
 *
 * "UEFI" in comments is the UEFI Specification, with the section's title.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <efi.h>

#include "kern/platform/bootinfo.h"

extern EFI_SYSTEM_TABLE *efi_st;
extern EFI_BOOT_SERVICES *efi_bs;
extern EFI_LOADED_IMAGE_PROTOCOL *efi_self; /* this application, as loaded */

/*
 * Print one line that says why the boot fails, leave time to read it, and power
 * off.  Before ExitBootServices.
 */
_Noreturn void efi_fail(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

/* Leave time to read the console, and end: power off, or reset. */
_Noreturn void efi_stop(EFI_RESET_TYPE how);

/* Print a line on the firmware's console.  A long line is truncated. */
void efi_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Allocate aligned pages, below 4 GiB if possible, because the kernel's first
 * page tables may not reach further.  A failure calls efi_fail() with `what`.
 */
void *efi_alloc(
    EFI_MEMORY_TYPE type, size_t bytes, size_t align, const char *what);

/* 4 KiB, on every machine. */
#define EFI_PAGE 4096ULL

#define EFI_PATH_MAX 256 /* characters of a path */

/*
 * Read a file from the folder of this application, or else from the root of its
 * volume.  A name that begins with / or \ is only looked for in the root.
 * Without a volume, the TFTP server that the application came from is asked.
 * Returns NULL if there is no such file, or it is empty.
 */
void *efi_read_file(const char *name, size_t *bytes);
/* boot/efi/efi_net.c: the same from the TFTP server only. */
void *efi_fetch_file(const char *name, size_t *bytes);

/*
 * boot/efi/efi_write.c: a place for files.  A file is new or
 * replaced.  eh_write returns NULL, or why it failed.  eh_read returns the
 * bytes read, up to room, or 0.
 */
struct efi_home {
	bool (*eh_has)(const char *name);
	size_t (*eh_read)(const char *name, char *to, size_t room);
	const char *(*eh_write)(const char *name, const void *data, size_t n);
};

/* The root of this application's volume, to read; or NULL. */
EFI_FILE_PROTOCOL *efi_open_root(void);
/*
 * The root of this application's volume.  NULL if it cannot be written, with
 * the reason in *why; that is NULL if no disk has the volume.
 */
const struct efi_home *efi_volume_home(const char **why);

struct kept_head;
/*
 * boot/efi/efi_variables.c: results in UEFI variables.  `to` has room for all
 * of them; the result says whether there is one.
 */
bool efi_read_variables(struct kept_head *to);
void efi_drop_variables(void);
/* The bytes that they may take; 0: none. */
size_t efi_variable_room(void);

/*
 * Find the command line: load options with a word of barecpc, else barecpc.cfg,
 * else other load options, else none.
 */
void efi_find_cmdline(struct bootinfo *bi);
/*
 * Copy the value of the command line's last word NAME=VALUE to value.  Without
 * one it stays.  After efi_find_cmdline().
 */
void efi_word_value(
    const struct bootinfo *bi, const char *name, char *value, size_t size);
/* The value of initrd=PATH in the load options, or "". */
extern char efi_initrd[EFI_PATH_MAX];
/*
 * Find the second archive: a boot loader's initrd, else the file of
 * initrd=PATH, else barecpc.cpio, else none.
 */
void efi_find_archive(struct bootinfo *bi);

/*
 * Write the results of the last run, if memory keeps some, to files; then do
 * what then= says.  Reserve memory for the results of this run.  After
 * efi_find_cmdline().
 */
void efi_kept(struct bootinfo *bi);

/* boot/efi/efi_tables.c: the firmware's tables and memory map. */
void efi_find_tables(struct bootinfo *bi);
void efi_find_framebuffers(struct bootinfo *bi);
/* ExitBootServices.  Afterwards efi_bs must not be used. */
void efi_exit(EFI_HANDLE image, struct bootinfo *bi);

/* boot/efi/efi_x86.c, efi_arm64.c: the kernel's image and its entry. */
struct efi_kernel {
	uint64_t efk_offset; /* from a 2 MiB boundary to where it is placed */
	uint64_t
	    efk_entry; /* from where it is placed to its first instruction */
	uint64_t efk_bytes; /* in memory, .bss included */
};

/*
 * The kernel's flat image, which scripts/build/mkefi puts before this
 * application's code into the PE file.
 */
const char *efi_kernel(void);
/* Read the image's header.  A bad one calls efi_fail(). */
void efi_kernel_header(struct efi_kernel *ek);
/* Enter the kernel.  After efi_exit(). */
_Noreturn void efi_enter(const struct bootinfo *bi, uint64_t entry);
