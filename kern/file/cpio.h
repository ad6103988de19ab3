/*
 * Reading cpio archives of the "newc" format, one or several one behind the
 * other.  Included by kern/ and tests/host.
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
	size_t c_at;   /* the next header */
	bool c_within; /* members came, and no end mark since */
};

/* A member; pointers go into the archive. */
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
 * The next member.  Returns 1, 0 at the end, or -1 with *why; c->c_at is
 * then where the bad header begins.
 */
int cpio_next(struct cpio *c, struct cpio_file *f, const char **why);

#endif /* KERN_FILE_CPIO_H */
