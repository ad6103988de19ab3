/*
 * Calls that are newer ones with some arguments fixed.  Most begin at the
 * working directory.
 */
#include "kern/file/file.h"
#include "kern/sys/file/user_path.h"
#include "kern/sys/syscall.h"

#define CWD           ((uintptr_t)AT_FDCWD)
#define O_CREAT_TRUNC (O_WRONLY | O_CREAT | O_TRUNC)

#define OLD_CALL(name, newer, ...)                                             \
	intptr_t sys_##name(const uintptr_t *a)                                \
	{                                                                      \
		const uintptr_t args[6] = { __VA_ARGS__ };                     \
                                                                               \
		return sys_##newer(args);                                      \
	}
OLD_CALL(open, openat, CWD, a[0], a[1], a[2])
OLD_CALL(creat, openat, CWD, a[0], O_CREAT_TRUNC, a[1])
OLD_CALL(stat, newfstatat, CWD, a[0], a[1])
OLD_CALL(lstat, newfstatat, CWD, a[0], a[1], AT_SYMLINK_NOFOLLOW)
OLD_CALL(access, faccessat, CWD, a[0], a[1])
OLD_CALL(readlink, readlinkat, CWD, a[0], a[1], a[2])
OLD_CALL(mkdir, mkdirat, CWD, a[0], a[1])
OLD_CALL(mknod, mknodat, CWD, a[0], a[1])
OLD_CALL(unlink, unlinkat, CWD, a[0])
OLD_CALL(rmdir, unlinkat, CWD, a[0], AT_REMOVEDIR)
OLD_CALL(symlink, symlinkat, a[0], CWD, a[1])
OLD_CALL(link, linkat, CWD, a[0], CWD, a[1])
OLD_CALL(rename, renameat2, CWD, a[0], CWD, a[1])
OLD_CALL(renameat, renameat2, a[0], a[1], a[2], a[3])
OLD_CALL(chmod, fchmodat, CWD, a[0], a[1])
OLD_CALL(chown, fchownat, CWD, a[0], a[1], a[2])
OLD_CALL(lchown, fchownat, CWD, a[0], a[1], a[2], AT_SYMLINK_NOFOLLOW)
OLD_CALL(eventfd, eventfd2, a[0])
OLD_CALL(pipe, pipe2, a[0])
