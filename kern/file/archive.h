/*
 * The archives: one handed over by the boot loader, and the one inside the
 * image.  The first is searched before the second.  Included by kern/.
 */
#ifndef KERN_FILE_ARCHIVE_H
#define KERN_FILE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/file/cpio.h"

struct bootinfo;

/* A file or directory of the archives. */
struct archive_entry {
	const char *ae_path; /* normalized; a file's ends with a NUL */
	uint16_t ae_len;
	uint16_t ae_name;  /* where its last component begins */
	uint32_t ae_order; /* in the archives */
	uint32_t ae_mode;
	size_t ae_bytes;
	const char *ae_data;
};

static inline bool
archive_is_dir(const struct archive_entry *ae)
{
	return (ae->ae_mode & CPIO_S_IFMT) == CPIO_S_IFDIR;
}

/*
 * Check every member of both, and make an index of them.  False, and one line
 * that says what is wrong and where, if something is.
 */
bool archive_init(const struct bootinfo *bi);

/*
 * All entries, those of a directory one after the other in the order of their
 * names.  What another one hides is not among them.
 */
const struct archive_entry *archive_all(size_t *n);

/* The entry of that name, slashes and dots resolved; or NULL. */
const struct archive_entry *archive_find(const char *path);
/* The same of a path without any. */
const struct archive_entry *archive_find_normal(const char *path);
/* The nth entry of a directory; NULL past the end. */
const struct archive_entry *archive_child(const char *dir, uint64_t n);

/* Of a path that names no file: the one that may have been meant, or NULL. */
const char *archive_nearest(const char *path);

/*
 * path without "." and "..", doubled slashes, and a slash at either end, in
 * out; false where it does not fit.
 */
bool path_normalize(const char *path, char *out, size_t size);

#endif /* KERN_FILE_ARCHIVE_H */
