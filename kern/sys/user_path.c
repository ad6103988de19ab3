/*
 * Gets the paths of system calls from programs, and makes them absolute.
 */
#include "kern/sys/user_path.h"

#include "kern/file/archive.h"
#include "kern/file/file.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/proc.h"

int
resolve_path(path_buf path, int dirfd, const char *text)
{
	const struct file *dir = NULL; /* the root */

	if (text[0] == '\0')
		return ENOENT;
	if (text[0] != '/' && dirfd != AT_FDCWD) {
		if ((dir = file_get(dirfd)) == NULL)
			return EBADF;
		if (dir->f_kind != FILE_DIR)
			return ENOTDIR;
	} else if (text[0] != '/') {
		dir = proc_self()->p_cwd;
	}
	path[0] = '/';
	return path_join(dir != NULL ? dir->f_dir : "", text, path + 1,
		   sizeof(path_buf) - 1)
	           ? 0
	           : ENAMETOOLONG;
}

int
user_path(path_buf path, int dirfd, uintptr_t upath)
{
	char text[CPIO_NAME_MAX + 1];
	int err = copyinstr(text, upath, sizeof text);

	return err != 0 ? err : resolve_path(path, dirfd, text);
}
