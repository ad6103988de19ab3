/*
 * Firmware that has started the application from a TFTP server with one file.
 * As EDK II, it copies nothing to a buffer that is too small.  Included by host
 * tests and fuzz targets.
 */
#pragma once

#include "boot/efi/efi.h"

/* The server. */
struct fake_tftp {
	const char *file;    /* its name; NULL: any name */
	const void *content; /* NULL: there is no file */
	size_t bytes;
	unsigned char asked[4]; /* the address of the last request */
	size_t name_bytes;      /* of the name that it asked for */
};
extern struct fake_tftp fake_tftp;
extern EFI_PXE_BASE_CODE_MODE fake_pxe_mode;

/* Firmware has started, without packets. */
void fake_pxe_start(void);
