/*
 * Paths that programs give to system calls.  Included by kern/sys/.
 */
#ifndef KERN_SYS_USER_PATH_H
#define KERN_SYS_USER_PATH_H

#include <stdint.h>

#include "kern/file/cpio.h"

#define AT_FDCWD (-100)

/* A slash, a normalized path, and a NUL. */
typedef char path_buf[CPIO_NAME_MAX + 2];

/*
 * Get a path from user memory.  If it is relative, it starts at the directory
 * of descriptor dirfd, or for AT_FDCWD at the working directory.  Returns 0 or
 * an errno.
 */
int user_path(path_buf path, int dirfd, uintptr_t upath);
/* The same for a path in kernel memory. */
int resolve_path(path_buf path, int dirfd, const char *text);

#endif /* KERN_SYS_USER_PATH_H */
