/* Following a path to the file or directory there.  Included by kern/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Linux's limits, in bytes: a path with its NUL, and a name in a directory. */
#define PATH_MAX 4096
#define NAME_MAX 255

struct lookup {
	/* How the path ended: in a name, slashes after it, "." or "..". */
	enum {
		LAST_NAME,
		LAST_SLASH,
		LAST_ROOT,
		LAST_DOT,
		LAST_DOTDOT
	} lk_last;
	bool lk_exists, lk_dir;
	bool lk_slashed; /* the last name was a link, with slashes after it */
	/* Normalized: no slash at either end, "" is the root. */
	const char *lk_path;
	const char *lk_name; /* the last name in lk_path */
	/* One of these is there, or a directory without any of them. */
	const struct device *lk_device;
	const struct text_file *lk_text;
	const struct archive_entry *lk_entry;
	struct tmp_node *lk_node;
	/* The name in /tmp: one of those of lk_node, or NULL. */
	struct tmp_node *lk_link;
	/* A symbolic link that was not followed: where to, without a NUL. */
	const char *lk_target;
	size_t lk_target_len;
	/* The directory in /tmp where the name is or can be made, or NULL. */
	struct tmp_node *lk_parent;
};

/*
 * Follow a path.  If it is relative, it starts at the directory `dir`, a
 * normalized path.  Only the last name may be missing.  lk_path is there until
 * the next call.  Symbolic links are followed; the last name only if `last`.
 * Returns 0, ENOENT, ENOTDIR, ENAMETOOLONG or ELOOP.
 */
int lookup(struct lookup *lk, const char *dir, const char *path, bool last);
/* Must exist, and be a directory if the path says so.  0, ENOENT or ENOTDIR. */
int lookup_check(const struct lookup *lk);
