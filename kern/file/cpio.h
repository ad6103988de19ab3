/*
 * Reading of cpio archives in the "newc" format, also of several in sequence.
 * Included by kern/ and tests/host.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPIO_NAME_MAX 1023 /* bytes */

#define CPIO_S_IFMT  0170000
#define CPIO_S_IFREG 0100000
#define CPIO_S_IFLNK 0120000
#define CPIO_S_IFDIR 0040000

struct cpio {
	const char *c_data;
	size_t c_len;
	size_t c_at;        /* offset of the next header */
	bool c_within;      /* inside an archive: its end mark must follow */
	uint32_t c_archive; /* how many archives ended before c_at */
};

/* Identifies a file in one boot module.  Its hard links have the same. */
struct cpio_inode {
	uint32_t nd_archive, nd_major, nd_minor, nd_ino;
};

/*
 * A member of an archive.  The pointers point into the archive.  If f_nlink is
 * not 1, the member may be a hard link: only one link of a file has its data.
 */
struct cpio_file {
	const char *f_name; /* terminated; no leading "/" or "./" */
	const char *f_data;
	size_t f_bytes;
	uint32_t f_mode, f_nlink;
	struct cpio_inode f_inode;
};

static inline struct cpio
cpio_open(const void *data, size_t len)
{
	return (struct cpio){ data, len, 0, false, 0 };
}

/*
 * Get the next member.  Returns 1, 0 at the end, or -1 with the error in *why;
 * c->c_at is then the offset of the bad header.
 */
int cpio_next(struct cpio *c, struct cpio_file *f, const char **why);
