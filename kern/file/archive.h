/*
 * The archives: the boot loader's and the one in the image.  Names are looked
 * up in the boot loader's first.  Included by kern/.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/file/cpio.h"

struct bootinfo;

/* A file or directory of the archives. */
struct archive_entry {
	const char *ae_path; /* normalized; of a file: NUL-terminated */
	uint16_t ae_len;
	uint16_t ae_name;  /* offset of the path's last component */
	uint32_t ae_order; /* position in the archives */
	uint32_t ae_mode;
	uint32_t ae_nlink; /* 0 for a directory that no member names */
	struct cpio_inode ae_inode;
	size_t ae_bytes;
	const char *ae_data;
};

static inline bool
archive_is_dir(const struct archive_entry *ae)
{
	return (ae->ae_mode & CPIO_S_IFMT) == CPIO_S_IFDIR;
}

/*
 * Check every member of both archives, and build the index.  On failure prints
 * what is wrong at which byte, and returns false.
 */
bool archive_init(const struct bootinfo *bi);

/*
 * All entries, grouped by directory and sorted by name.  A path that
 * occurs twice has only its first entry here.
 */
const struct archive_entry *archive_all(size_t *n);

/* The entry at path, or NULL.  Slashes and dots in path are resolved. */
const struct archive_entry *archive_find(const char *path);
/* The same for a path that path_normalize() returned. */
const struct archive_entry *archive_find_normal(const char *path);
/* The nth entry of a directory; NULL past the end. */
const struct archive_entry *archive_child(const char *dir, uint64_t n);

/* The file whose path is most similar to `path`, or NULL. */
const char *archive_nearest(const char *path);

/*
 * Copy path to out without ".", "..", doubled slashes, and slashes at either
 * end.  Returns false if it does not fit.
 */
bool path_normalize(const char *path, char *out, size_t size);
