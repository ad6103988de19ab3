/*
 * The archives: one handed over by the boot loader, and the one inside the
 * image.  The first is searched before the second.  Included by kern/.
 */
#ifndef KERN_ARCHIVE_H
#define KERN_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "kern/cpio.h"

struct bootinfo;

/*
 * Check every member of both.  False, and one line that says which archive
 * is bad and where, if one is.
 */
bool archive_init(const struct bootinfo *bi);

/*
 * Walk all members, those that hide others first.  The walk starts with
 * *pos 0; false past the end.
 */
bool archive_next(uint64_t *pos, struct cpio_file *f);

/* The file of that name, slashes and dots resolved. */
bool archive_find(const char *path, struct cpio_file *f);

/* Of a path that names no file: the one that may have been meant, or NULL. */
const char *archive_nearest(const char *path);

/*
 * path without "." and "..", doubled slashes, and a slash at either end, in
 * out; false where it does not fit.
 */
bool path_normalize(const char *path, char *out, size_t size);

#endif /* KERN_ARCHIVE_H */
