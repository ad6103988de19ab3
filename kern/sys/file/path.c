/* System calls that change names and states of files in /tmp and /dev/shm. */
#include "kern/arch.h"
#include "kern/file/file.h"
#include "kern/file/pipe.h"
#include "kern/file/tmp.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/proc.h"
#include "kern/sys/file/user_path.h"
#include "kern/sys/syscall.h"
#include "lib/string.h"

#define AT_SYMLINK_FOLLOW 0x400
#define RENAME_NOREPLACE  1

/* Look up a name that a call makes.  Returns 0 or an errno. */
static int
new_name(struct lookup *lk, int dirfd, uintptr_t upath, bool dir)
{
	int err = user_path(lk, dirfd, upath, false);

	if (err != 0)
		return err;
	if (lk->lk_exists || lk->lk_slashed)
		return EEXIST;
	if (!dir && lk->lk_last != LAST_NAME)
		return ENOENT;
	return lk->lk_parent == NULL ? EROFS : 0;
}

static intptr_t
make_node(const uintptr_t *a, uint32_t type, uint32_t bits)
{
	uint32_t mode = (uint32_t)a[2] & bits & ~proc_self()->p_umask;
	struct tmp_node *tn;
	struct lookup lk;
	int err = new_name(&lk, (int)a[0], a[1], type == S_IFDIR);

	return err != 0 ? -err
	                : -tmp_make(lk.lk_parent, lk.lk_name, type | mode, &tn);
}

intptr_t
sys_mkdirat(const uintptr_t *a)
{
	return make_node(a, S_IFDIR, 01777);
}

/* No process may make a device. */
intptr_t
sys_mknodat(const uintptr_t *a)
{
	uint32_t type = a[2] & S_IFMT;

	if (type == S_IFMT)
		return -EINVAL;
	if (type != 0 && type != S_IFREG && type != S_IFIFO)
		return -EPERM;
	return make_node(a, type != 0 ? type : S_IFREG, 07777);
}

intptr_t
sys_symlinkat(const uintptr_t *a)
{
	const char *target;
	struct tmp_node *tn;
	struct lookup lk;
	size_t len;
	intptr_t n;
	int err;

	if ((err = copyin_path(a[0], &target)) != 0)
		return -err;
	if ((len = strlen(target)) == 0)
		return -ENOENT;
	if ((err = new_name(&lk, (int)a[1], a[2], false)) != 0 ||
	    (err = tmp_make(lk.lk_parent, lk.lk_name, S_IFLNK | 0777, &tn)) !=
		0)
		return -err;
	if ((n = tmp_write(tn, 0, a[0], len)) < 0)
		tmp_remove(tn, false);
	return n < 0 ? n : 0;
}

intptr_t
sys_linkat(const uintptr_t *a)
{
	unsigned flags = (unsigned)a[4];
	struct lookup from, to;
	int err;

	if ((flags & ~AT_SYMLINK_FOLLOW) != 0)
		return -EINVAL;
	if ((err = user_file(&from, (int)a[0], a[1],
		 flags ? 0 : AT_SYMLINK_NOFOLLOW)) != 0 ||
	    (err = new_name(&to, (int)a[2], a[3], false)) != 0)
		return -err;
	if (from.lk_node == NULL || from.lk_dir)
		return from.lk_dir ? -EPERM : -EXDEV;
	return -tmp_link(from.lk_node, to.lk_parent, to.lk_name);
}

/* The errno for a directory that a path names in another way than by name. */
static int
refuse_last(const struct lookup *lk, bool dir)
{
	switch (lk->lk_last) {
	case LAST_ROOT:
		return dir ? EBUSY : EISDIR;
	case LAST_DOT:
		return dir ? EINVAL : EISDIR;
	case LAST_DOTDOT:
		return dir ? ENOTEMPTY : EISDIR;
	default:
		return lk->lk_slashed ? ENOTDIR : lookup_check(lk);
	}
}

intptr_t
sys_unlinkat(const uintptr_t *a)
{
	bool dir = a[2] != 0;
	struct lookup lk;
	int err;

	if ((a[2] & ~(uintptr_t)AT_REMOVEDIR) != 0)
		return -EINVAL;
	if ((err = user_path(&lk, (int)a[0], a[1], false)) != 0 ||
	    (err = refuse_last(&lk, dir)) != 0)
		return -err;
	return lk.lk_node == NULL ? -EROFS : -tmp_remove(lk.lk_link, dir);
}

intptr_t
sys_renameat2(const uintptr_t *a)
{
	unsigned flags = (unsigned)a[4];
	struct lookup from, to;
	int err;

	if ((flags & ~RENAME_NOREPLACE) != 0)
		return -EINVAL;
	if ((err = user_path(&from, (int)a[0], a[1], false)) != 0 ||
	    (err = user_path(&to, (int)a[2], a[3], false)) != 0)
		return -err;
	if (from.lk_slashed || to.lk_slashed)
		return -ENOTDIR;
	if (from.lk_last > LAST_SLASH || to.lk_last > LAST_SLASH)
		return -EBUSY;
	if (!from.lk_exists)
		return -ENOENT;
	if (from.lk_node == NULL || (to.lk_exists && to.lk_node == NULL))
		return -EROFS;
	if (from.lk_parent == NULL || (to.lk_node && to.lk_parent == NULL))
		return -EBUSY;
	if (to.lk_parent == NULL)
		return -EXDEV;
	if ((flags & RENAME_NOREPLACE) && to.lk_exists)
		return -EEXIST;
	/* Slashes after a name say that it is a directory's. */
	if (!from.lk_dir &&
	    (from.lk_last == LAST_SLASH || to.lk_last == LAST_SLASH))
		return -ENOTDIR;
	return -tmp_rename(from.lk_link, to.lk_parent, to.lk_name);
}

/*
 * The file or directory in /tmp whose state changes: at a path, or with
 * FD_ITSELF that of the descriptor.  Returns 0 or an errno.
 */
#define FD_ITSELF 0x80000000u

static int
node_at(int dirfd, uintptr_t upath, unsigned flags, struct tmp_node **tn)
{
	const struct file *f = file_get(dirfd);
	struct lookup lk;
	int err;

	if ((flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | FD_ITSELF)) != 0)
		return EINVAL;
	if ((flags & FD_ITSELF) || user_path_empty(upath, flags)) {
		if (f == NULL)
			return EBADF;
		*tn = f->f_kind == FILE_TMP || f->f_kind == FILE_DIR ? f->f_tmp
		      : f->f_kind == FILE_PIPE ? pipe_node(f)
		                               : NULL;
	} else {
		if ((err = user_file(&lk, dirfd, upath, flags)) != 0)
			return err;
		*tn = lk.lk_node;
	}
	return *tn != NULL ? 0 : EROFS;
}

/* A mode, owner or group of -1 stays. */
static intptr_t
set_state(int dirfd, uintptr_t upath, unsigned flags, uintptr_t mode,
    uintptr_t uid, uintptr_t gid)
{
	struct tmp_node *tn;
	int err = node_at(dirfd, upath, flags, &tn);

	if (err != 0)
		return -err;
	if (mode != ~0UL)
		tn->tn_mode = (tn->tn_mode & S_IFMT) | (uint32_t)mode;
	/* As Linux does: a program keeps no set-id bit of another owner. */
	else if ((tn->tn_mode & S_IFMT) == S_IFREG)
		tn->tn_mode &= ~(tn->tn_mode & 010 ? 06000U : 04000U);
	if ((uint32_t)uid != UINT32_MAX)
		tn->tn_uid = (uint32_t)uid;
	if ((uint32_t)gid != UINT32_MAX)
		tn->tn_gid = (uint32_t)gid;
	tmp_touch(tn, false);
	return 0;
}

intptr_t
sys_fchmodat(const uintptr_t *a)
{
	return set_state((int)a[0], a[1], 0, a[2] & 07777, ~0UL, ~0UL);
}

intptr_t
sys_fchmod(const uintptr_t *a)
{
	return set_state((int)a[0], 0, FD_ITSELF, a[1] & 07777, ~0UL, ~0UL);
}

intptr_t
sys_fchown(const uintptr_t *a)
{
	return set_state((int)a[0], 0, FD_ITSELF, ~0UL, a[1], a[2]);
}

intptr_t
sys_fchownat(const uintptr_t *a)
{
	if (a[4] & FD_ITSELF)
		return -EINVAL;
	return set_state((int)a[0], a[1], (unsigned)a[4], ~0UL, a[2], a[3]);
}

#define UTIME_NOW  0x3fffffff
#define UTIME_OMIT 0x3ffffffe

/* Path 0 means the file of the descriptor itself; times 0, now. */
intptr_t
sys_utimensat(const uintptr_t *a)
{
	int64_t ts[2][2] = { { 0, UTIME_NOW }, { 0, UTIME_NOW } };
	unsigned flags = (unsigned)a[3];
	struct tmp_node *tn;
	int err;

	if (a[2] != 0 && copyin(ts, a[2], sizeof ts) != 0)
		return -EFAULT;
	for (unsigned i = 0; i < 2; i++) {
		if ((uint64_t)ts[i][1] >= NS_PER_S && ts[i][1] != UTIME_NOW &&
		    ts[i][1] != UTIME_OMIT)
			return -EINVAL;
	}
	if ((flags & FD_ITSELF) || (a[1] == 0 && flags != 0))
		return -EINVAL;
	if (ts[0][1] == UTIME_OMIT && ts[1][1] == UTIME_OMIT)
		return 0;
	if ((err = node_at(
		 (int)a[0], a[1], a[1] == 0 ? FD_ITSELF : flags, &tn)) != 0)
		return -err;
	tmp_touch(tn, false);
	for (unsigned i = 0; i < 2; i++) {
		if (ts[i][1] == UTIME_NOW)
			memcpy(ts[i], tn->tn_time[2], sizeof ts[i]);
		if (ts[i][1] != UTIME_OMIT)
			memcpy(tn->tn_time[i], ts[i], sizeof ts[i]);
	}
	return 0;
}

intptr_t
sys_truncate(const uintptr_t *a)
{
	struct lookup lk;
	int err = user_file(&lk, AT_FDCWD, a[0], 0);

	if (err != 0 || (intptr_t)a[1] < 0)
		return err != 0 ? -err : -EINVAL;
	if (lk.lk_node == NULL || lk.lk_dir)
		return lk.lk_dir ? -EISDIR : -EROFS;
	if ((lk.lk_node->tn_mode & S_IFMT) != S_IFREG)
		return -EINVAL;
	return -tmp_resize(lk.lk_node, a[1]);
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
	struct lookup lk;
	struct file *dir;
	int err;

	if ((err = user_file(&lk, AT_FDCWD, a[0], 0)) != 0 ||
	    (err = file_open(&lk, O_PATH | arch_o_directory, 0, &dir)) != 0)
		return -err;
	set_cwd(dir);
	return 0;
}

intptr_t
sys_fchdir(const uintptr_t *a)
{
	struct file *dir = file_get_any((int)a[0]);

	if (dir == NULL)
		return -EBADF;
	if (dir->f_kind != FILE_DIR)
		return -ENOTDIR;
	dir->f_refs++;
	set_cwd(dir);
	return 0;
}
