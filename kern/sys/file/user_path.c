/* Gets the paths of system calls from programs, and follows them. */
#include "kern/sys/file/user_path.h"

#include "kern/file/file.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/proc.h"

int
copyin_path(uintptr_t upath, const char **path)
{
	/* The kernel lock protects it. */
	static char text[PATH_MAX];

	*path = text;
	return copyinstr(text, upath, sizeof text);
}

int
lookup_at(struct lookup *lk, int dirfd, const char *path, bool last)
{
	const struct file *dir = proc_self()->p_cwd; /* NULL: the root */

	if (path[0] != '/' && path[0] != '\0' && dirfd != AT_FDCWD) {
		if ((dir = file_get_any(dirfd)) == NULL)
			return EBADF;
		if (dir->f_kind != FILE_DIR)
			return ENOTDIR;
	}
	return lookup(lk, dir != NULL ? dir->f_dir : "", path, last);
}

int
user_path(struct lookup *lk, int dirfd, uintptr_t upath, bool last)
{
	const char *path;
	int err = copyin_path(upath, &path);

	return err != 0 ? err : lookup_at(lk, dirfd, path, last);
}

int
user_file(struct lookup *lk, int dirfd, uintptr_t upath, unsigned flags)
{
	int err = user_path(lk, dirfd, upath, !(flags & AT_SYMLINK_NOFOLLOW));

	return err != 0 ? err : lookup_check(lk);
}

bool
user_path_empty(uintptr_t upath, unsigned flags)
{
	char first;

	return (flags & AT_EMPTY_PATH) && copyin(&first, upath, 1) == 0 &&
	       first == '\0';
}
