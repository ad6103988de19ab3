/*
 * The files in /tmp, which programs write.  They are in memory, and go when the
 * programs of a line have ended.  Included by kern/.
 *
 * Paths are normalized (path_normalize() of archive.h), and begin with "tmp".
 */
#ifndef KERN_FILE_TMP_H
#define KERN_FILE_TMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file or directory below /tmp. */
struct tmp_node {
	struct tmp_node *tn_parent; /* NULL: this is /tmp */
	char *tn_name;
	bool tn_dir;
	unsigned tn_refs; /* open files, and 1 for the name */
	uint32_t tn_mode; /* permissions: kept, not enforced */
	uint64_t tn_ino;
	char *tn_data;
	size_t tn_bytes, tn_pages;     /* tn_pages: room in tn_data */
	struct tmp_node *tn_next;      /* in order of creation */
	struct tmp_node *tn_same_hash; /* the next with this hash of its name */
};

/* Is path /tmp or below it? */
bool tmp_owns(const char *path);
/* The file or directory at path, or NULL. */
struct tmp_node *tmp_find(const char *path);
/*
 * Make an empty file or a directory.  The caller has seen that path is free.
 * Returns 0, ENOENT or ENOTDIR for its directory, or ENOMEM.
 */
int tmp_make(const char *path, bool dir, uint32_t mode, struct tmp_node **node);
/*
 * Remove a name.  Returns 0, ENOENT, EISDIR, ENOTDIR, or ENOTEMPTY.  EBUSY is
 * for /tmp itself.
 */
int tmp_remove(const char *path, bool dir);
/*
 * Give a node another name, which is taken from another node if need be.
 * Returns 0 or an errno as tmp_remove() and tmp_make() do.
 */
int tmp_rename(const char *from, const char *to);
/* The first entry of a directory whose tn_ino is at least ino, or NULL. */
const struct tmp_node *tmp_next(const char *dir, uint64_t ino);

/*
 * Set the length of a file; new bytes are 0.  Returns 0, ENOSPC if it exceeds
 * the memory, or ENOMEM.
 */
int tmp_resize(struct tmp_node *tn, uint64_t bytes);
/* Write user memory at an offset.  Returns a length or -errno. */
intptr_t tmp_write(
    struct tmp_node *tn, uint64_t offset, uintptr_t uva, size_t len);
/* Drop a reference. */
void tmp_release(struct tmp_node *tn);

/* Remove everything.  No file is open. */
void tmp_clear(void);

#endif /* KERN_FILE_TMP_H */
