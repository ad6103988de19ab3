/*
 * Reading of cpio archives in the "newc" format, also of several in sequence.
 * Included by kern/ and tests/host.
 */
#ifndef KERN_FILE_CPIO_H
#define KERN_FILE_CPIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPIO_NAME_MAX 1023 /* bytes */

#define CPIO_S_IFMT  0170000
#define CPIO_S_IFREG 0100000
#define CPIO_S_IFDIR 0040000

struct cpio {
	const char *c_data;
	size_t c_len;
	size_t c_at;   /* offset of the next header */
	bool c_within; /* inside an archive: its end mark must follow */
};

/* A member of an archive.  The pointers point into the archive. */
struct cpio_file {
	const char *f_name; /* terminated; no leading "/" or "./" */
	const char *f_data;
	size_t f_bytes;
	uint32_t f_mode;
};

static inline struct cpio
cpio_open(const void *data, size_t len)
{
	return (struct cpio){ data, len, 0, false };
}

/*
 * Get the next member.  Returns 1, 0 at the end, or -1 with the error in *why;
 * c->c_at is then the offset of the bad header.
 */
int cpio_next(struct cpio *c, struct cpio_file *f, const char **why);

#endif /* KERN_FILE_CPIO_H */
