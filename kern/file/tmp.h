/*
 * The files in /tmp, which programs write.  They are in memory, and go when the
 * programs of a line have ended.  Included by kern/.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file or directory below /tmp. */
struct tmp_node {
	struct tmp_node *tn_parent; /* NULL: this is /tmp or /dev/shm */
	char *tn_name;
	bool tn_dir;
	unsigned tn_refs;  /* open files, and the names */
	unsigned tn_links; /* the names */
	/* Another name, by link(2), of this node, which has the rest. */
	struct tmp_node *tn_of;
	/* Type, permissions and owner; the latter two are not enforced. */
	uint32_t tn_mode, tn_uid, tn_gid;
	int64_t tn_time[3][2]; /* as fi_time of struct file_info */
	uint64_t tn_ino;       /* of /tmp itself: 0 */
	/* Its copy of tmp_program(), until its content may change. */
	const struct archive_entry *tn_program;
	struct pipe *tn_pipe; /* of a FIFO that is open, or NULL */
	char *tn_data;
	size_t tn_bytes, tn_pages;       /* tn_pages: room in tn_data */
	struct shared_memory *tn_memory; /* has tn_data, or NULL */
	struct tmp_node *tn_next;        /* in order of creation */
	struct tmp_node *tn_same_hash; /* the next with this hash of its name */
};

extern struct tmp_node tmp_root, shm_root; /* /tmp, /dev/shm */

/* Note that the content of a file, or only the rest of its state, changed. */
void tmp_touch(struct tmp_node *tn, bool content);
/* The file or directory of this name in a directory, or NULL. */
struct tmp_node *tmp_child(const struct tmp_node *dir, const char *name);
/*
 * Make an empty file of a type, or a directory.  No other has the name. Returns
 * 0 or ENOMEM.
 */
int tmp_make(struct tmp_node *dir, const char *name, uint32_t mode,
    struct tmp_node **node);
/*
 * Remove a name.  Returns 0, EISDIR, ENOTDIR, or ENOTEMPTY.  EBUSY is for /tmp
 * or /dev/shm itself.
 */
int tmp_remove(struct tmp_node *tn, bool dir);
/*
 * Give a node another name in a directory, which is taken from another node if
 * need be.  Returns 0 or an errno as tmp_remove() and tmp_make() do.
 */
int tmp_rename(struct tmp_node *tn, struct tmp_node *dir, const char *name);
/* Give a file another name, which is free.  Returns 0 or ENOMEM. */
int tmp_link(struct tmp_node *tn, struct tmp_node *dir, const char *name);
/* The node with the content of a name's node, which may be NULL. */
static inline struct tmp_node *
tmp_content(struct tmp_node *tn)
{
	return tn != NULL && tn->tn_of != NULL ? tn->tn_of : tn;
}
/* The first entry of a directory whose tn_ino is at least ino, or NULL. */
const struct tmp_node *tmp_next(const struct tmp_node *dir, uint64_t ino);

/*
 * Set the length of a file; new bytes are 0.  Returns 0, ENOSPC if it exceeds
 * the memory, or ENOMEM.
 */
int tmp_resize(struct tmp_node *tn, uint64_t bytes);
/* Write user memory at an offset.  Returns a length or -errno. */
intptr_t tmp_write(
    struct tmp_node *tn, uint64_t offset, uintptr_t uva, size_t len);
/*
 * Keep the content in tn_memory, for mappings up to this offset.  Returns as
 * tmp_resize(); while a mapping is there, a file that grows beyond its room
 * gives ENOSPC, too.
 */
int tmp_share(struct tmp_node *tn, uint64_t end);
/*
 * The file at a path as a program: a copy, which stays until tmp_clear().
 * Returns NULL and *err: EACCES, or ENOMEM.
 */
const struct archive_entry *tmp_program(
    struct tmp_node *tn, const char *path, int *err);
/* Drop a reference. */
void tmp_release(struct tmp_node *tn);

/* Remove everything, and make /tmp as it was.  No file is open. */
void tmp_clear(void);
