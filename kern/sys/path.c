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
#include "kern/sys/user_path.h"
#include "lib/string.h"

#define AT_REMOVEDIR     0x200
#define RENAME_NOREPLACE 1

/* Is something at the path that cannot change, or could nothing be there? */
static int
outside_tmp(const char *path)
{
	struct file_info fi;

	return file_stat_path(path, &fi) == ENOENT ? ENOENT : EROFS;
}

static intptr_t
make_dir(int dirfd, uintptr_t upath, uint32_t mode)
{
	struct tmp_node *tn;
	struct file_info fi;
	path_buf path;
	int err;

	if ((err = user_path(path, dirfd, upath)) != 0)
		return -err;
	if (file_stat_path(path, &fi) == 0)
		return -EEXIST;
	if (!tmp_owns(path + 1))
		return -EROFS;
	mode &= 0777 & ~proc_self()->p_umask;
	return -tmp_make(path + 1, true, mode, &tn);
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

	if ((err = user_path(path, dirfd, upath)) != 0)
		return -err;
	return -(
	    tmp_owns(path + 1) ? tmp_remove(path + 1, dir) : outside_tmp(path));
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
	if ((err = user_path(from, (int)a[0], a[1])) != 0 ||
	    (err = user_path(to, (int)a[2], a[3])) != 0)
		return -err;
	if (!tmp_owns(from + 1))
		return -outside_tmp(from);
	if (!tmp_owns(to + 1))
		return -EXDEV;
	if ((flags & RENAME_NOREPLACE) && tmp_find(to + 1) != NULL)
		return -EEXIST;
	return -tmp_rename(from + 1, to + 1);
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

	if ((err = user_path(path, dirfd, upath)) != 0)
		return -err;
	if ((tn = tmp_find(path + 1)) == NULL)
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

/* The process keeps the directory open, in place of another one. */
static void
set_cwd(struct file *dir)
{
	struct proc *p = proc_self();

	if (p->p_cwd != NULL)
		file_release(p->p_cwd);
	p->p_cwd = dir;
	if (dir->f_dir[0] == '\0') {
		file_release(dir);
		p->p_cwd = NULL;
	}
}

intptr_t
sys_chdir(const uintptr_t *a)
{
	path_buf path;
	struct file *dir;
	int err;

	if ((err = user_path(path, AT_FDCWD, a[0])) != 0 ||
	    (err = file_open(path, 0, 0, &dir)) != 0)
		return -err;
	if (dir->f_kind != FILE_DIR) {
		file_release(dir);
		return -ENOTDIR;
	}
	set_cwd(dir);
	return 0;
}

intptr_t
sys_fchdir(const uintptr_t *a)
{
	struct file *dir = file_get((int)a[0]);

	if (dir == NULL)
		return -EBADF;
	if (dir->f_kind != FILE_DIR)
		return -ENOTDIR;
	dir->f_refs++;
	set_cwd(dir);
	return 0;
}
