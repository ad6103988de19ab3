/* Paths that programs give to system calls.  Included by kern/sys/. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kern/file/lookup.h"

#define AT_FDCWD            (-100)
#define AT_SYMLINK_NOFOLLOW 0x100
#define AT_REMOVEDIR        0x200
#define AT_EMPTY_PATH       0x1000

/*
 * Get a path from user memory.  *path is there until the next call.  Returns 0,
 * EFAULT or ENAMETOOLONG.
 */
int copyin_path(uintptr_t upath, const char **path);
/*
 * Follow a path.  If it is relative, it starts at the directory of descriptor
 * dirfd, or for AT_FDCWD at the working directory.  Symbolic links and result
 * are as in lookup(), and EBADF.
 */
int lookup_at(struct lookup *lk, int dirfd, const char *path, bool last);
/* The same for a path in user memory. */
int user_path(struct lookup *lk, int dirfd, uintptr_t upath, bool last);
/*
 * The same; what the path leads to must exist, through a link at its end unless
 * the flags have AT_SYMLINK_NOFOLLOW.
 */
int user_file(struct lookup *lk, int dirfd, uintptr_t upath, unsigned flags);
/* Is the path empty, and does AT_EMPTY_PATH mean the descriptor then? */
bool user_path_empty(uintptr_t upath, unsigned flags);
