/*
 * System calls that change names: only those in /tmp can change.
 */
#include "kern/arch.h"
#include "kern/file/archive.h"
#include "kern/file/file.h"
#include "kern/file/tmp.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/proc.h"
#include "kern/sys/syscall.h"
#include "lib/string.h"

#define AT_FDCWD         (-100)
#define AT_REMOVEDIR     0x200
#define RENAME_NOREPLACE 1

typedef char path_buf[CPIO_NAME_MAX + 1];

/*
 * Get a normalized path from user memory.  The working directory is the root.
 * Returns 0 or an errno.
 */
static int
get_path(path_buf path, int dirfd, uintptr_t upath)
{
	path_buf text;
	int err;

	if ((err = copyinstr(text, upath, sizeof text)) != 0)
		return err;
	if (text[0] == '\0')
		return ENOENT;
	if (text[0] != '/' && dirfd != AT_FDCWD)
		return file_get(dirfd) == NULL ? EBADF : ENOTDIR;
	return path_normalize(text, path, sizeof text) ? 0 : ENAMETOOLONG;
}

/* Is something at the path that cannot change, or could nothing be there? */
static int
outside_tmp(const char *path)
{
	struct file_info fi;
	path_buf text = "/";

	strlcpy(text + 1, path, sizeof text - 1);
	return file_stat_path(text, &fi) == ENOENT ? ENOENT : EROFS;
}

static intptr_t
make_dir(int dirfd, uintptr_t upath, uint32_t mode)
{
	struct tmp_node *tn;
	struct file_info fi;
	path_buf path, text = "/";
	int err;

	if ((err = get_path(path, dirfd, upath)) != 0)
		return -err;
	strlcpy(text + 1, path, sizeof text - 1);
	if (file_stat_path(text, &fi) == 0)
		return -EEXIST;
	if (!tmp_owns(path))
		return -EROFS;
	mode &= 0777 & ~proc_self()->p_umask;
	return -tmp_make(path, true, mode, &tn);
}

intptr_t
sys_mkdir(const uintptr_t *a)
{
	return make_dir(AT_FDCWD, a[0], (uint32_t)a[1]);
}

intptr_t
sys_mkdirat(const uintptr_t *a)
{
	return make_dir((int)a[0], a[1], (uint32_t)a[2]);
}

static intptr_t
remove_path(int dirfd, uintptr_t upath, bool dir)
{
	path_buf path;
	int err;

	if ((err = get_path(path, dirfd, upath)) != 0)
		return -err;
	return -(tmp_owns(path) ? tmp_remove(path, dir) : outside_tmp(path));
}

intptr_t
sys_unlink(const uintptr_t *a)
{
	return remove_path(AT_FDCWD, a[0], false);
}

intptr_t
sys_rmdir(const uintptr_t *a)
{
	return remove_path(AT_FDCWD, a[0], true);
}

intptr_t
sys_unlinkat(const uintptr_t *a)
{
	if ((a[2] & ~(uintptr_t)AT_REMOVEDIR) != 0)
		return -EINVAL;
	return remove_path((int)a[0], a[1], a[2] != 0);
}

static intptr_t
rename_path(const uintptr_t *a, unsigned flags)
{
	path_buf from, to;
	int err;

	if ((flags & ~RENAME_NOREPLACE) != 0)
		return -EINVAL;
	if ((err = get_path(from, (int)a[0], a[1])) != 0 ||
	    (err = get_path(to, (int)a[2], a[3])) != 0)
		return -err;
	if (!tmp_owns(from))
		return -outside_tmp(from);
	if (!tmp_owns(to))
		return -EXDEV;
	if ((flags & RENAME_NOREPLACE) && tmp_find(to) != NULL)
		return -EEXIST;
	return -tmp_rename(from, to);
}

intptr_t
sys_rename(const uintptr_t *a)
{
	const uintptr_t at[] = { (uintptr_t)AT_FDCWD, a[0], (uintptr_t)AT_FDCWD,
		a[1] };

	return rename_path(at, 0);
}

intptr_t
sys_renameat(const uintptr_t *a)
{
	return rename_path(a, 0);
}

intptr_t
sys_renameat2(const uintptr_t *a)
{
	return rename_path(a, (unsigned)a[4]);
}

static intptr_t
change_mode(int dirfd, uintptr_t upath, uint32_t mode)
{
	struct tmp_node *tn;
	path_buf path;
	int err;

	if ((err = get_path(path, dirfd, upath)) != 0)
		return -err;
	if ((tn = tmp_find(path)) == NULL)
		return -outside_tmp(path);
	tn->tn_mode = mode & 0777;
	return 0;
}

intptr_t
sys_chmod(const uintptr_t *a)
{
	return change_mode(AT_FDCWD, a[0], (uint32_t)a[1]);
}

intptr_t
sys_fchmodat(const uintptr_t *a)
{
	return change_mode((int)a[0], a[1], (uint32_t)a[2]);
}

intptr_t
sys_fchmod(const uintptr_t *a)
{
	const struct file *f = file_get((int)a[0]);

	if (f == NULL)
		return -EBADF;
	if (f->f_kind != FILE_TMP)
		return -EROFS;
	f->f_tmp->tn_mode = a[1] & 0777;
	return 0;
}

intptr_t
sys_umask(const uintptr_t *a)
{
	uint32_t was = proc_self()->p_umask;

	proc_self()->p_umask = a[0] & 0777;
	return was;
}
