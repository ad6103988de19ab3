/* System calls that ask for information about files. */
#include "kern/arch.h"
#include "kern/file/archive.h"
#include "kern/file/file.h"
#include "kern/file/tmp.h"
#include "kern/mm/page.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/proc.h"
#include "kern/sys/file/user_path.h"
#include "kern/sys/syscall.h"
#include "lib/string.h"

#define AT_NO_AUTOMOUNT    0x800
#define AT_EACCESS         0x200
#define AT_STATX_SYNC_TYPE 0x6000
#define X_OK               1
#define W_OK               2
#define ANY_OK             7

/* Copy the status in the machine's form, which its headers have. */
static intptr_t
stat_out(uintptr_t uva, const struct file_info *fi)
{
	struct linux_stat st = {
		.st_dev = 1,
		.st_ino = fi->fi_ino,
		.st_mode = fi->fi_mode,
		.st_uid = fi->fi_uid,
		.st_gid = fi->fi_gid,
		.st_nlink = fi->fi_nlink,
		.st_rdev = fi->fi_rdev,
		.st_size = (int64_t)fi->fi_bytes,
		.st_blksize = PAGE_SIZE,
		.st_blocks = (int64_t)(fi->fi_bytes + 511) / 512,
	};

	memcpy(st.st_times, fi->fi_time, sizeof st.st_times);
	return -copyout(uva, &st, sizeof st);
}

intptr_t
sys_fstat(const uintptr_t *a)
{
	struct file *f = file_get_any((int)a[0]);
	struct file_info fi;

	if (f == NULL)
		return -EBADF;
	file_stat(f, &fi);
	return stat_out(a[1], &fi);
}

/* The state at a path, or with AT_EMPTY_PATH that of the descriptor itself. */
static int
stat_at(int dirfd, uintptr_t upath, unsigned flags, struct file_info *fi)
{
	struct file *f = file_get_any(dirfd);
	struct lookup lk;
	int err;

	if ((flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH |
			 AT_STATX_SYNC_TYPE)) != 0)
		return EINVAL;
	if (user_path_empty(upath, flags) && dirfd != AT_FDCWD) {
		if (f != NULL)
			file_stat(f, fi);
		return f != NULL ? 0 : EBADF;
	}
	if ((err = user_file(&lk, dirfd, upath, flags)) == 0)
		file_stat_lookup(&lk, fi);
	return err;
}

intptr_t
sys_newfstatat(const uintptr_t *a)
{
	struct file_info fi;
	int err = stat_at((int)a[0], a[1], (unsigned)a[3], &fi);

	return err != 0 ? -err : stat_out(a[2], &fi);
}

/* Linux, include/uapi/linux/stat.h: struct statx. */
struct statx {
	uint32_t stx_mask, stx_blksize;
	uint64_t stx_attributes;
	uint32_t stx_nlink, stx_uid, stx_gid;
	uint16_t stx_mode;
	uint64_t stx_ino, stx_size, stx_blocks, stx_attributes_mask;
	struct {
		int64_t sec, nsec; /* nsec is the lower half */
	} stx_atime, stx_btime, stx_ctime, stx_mtime;
	uint32_t stx_rdev_major, stx_rdev_minor, stx_dev_major, stx_dev_minor;
	uint64_t stx_rest[14];
};
_Static_assert(sizeof(struct statx) == 256, "Linux's struct statx");
#define STATX_BASIC_STATS 0x7ff

intptr_t
sys_statx(const uintptr_t *a)
{
	struct file_info fi = { 0 };
	/* Linux keeps the mask's upper bit for what it does not know yet. */
	int err = a[3] & 0x80000000
	              ? EINVAL
	              : stat_at((int)a[0], a[1], (unsigned)a[2], &fi);
	const struct statx st = { .stx_mask = STATX_BASIC_STATS,
		.stx_blksize = PAGE_SIZE,
		.stx_nlink = fi.fi_nlink,
		.stx_uid = fi.fi_uid,
		.stx_gid = fi.fi_gid,
		.stx_mode = (uint16_t)fi.fi_mode,
		.stx_ino = fi.fi_ino,
		.stx_size = fi.fi_bytes,
		.stx_blocks = (fi.fi_bytes + 511) / 512,
		.stx_atime = { fi.fi_time[0][0], fi.fi_time[0][1] },
		.stx_ctime = { fi.fi_time[2][0], fi.fi_time[2][1] },
		.stx_mtime = { fi.fi_time[1][0], fi.fi_time[1][1] },
		.stx_rdev_major = (uint32_t)(fi.fi_rdev >> 8),
		.stx_rdev_minor = fi.fi_rdev & 255,
		.stx_dev_minor = 1 };

	return err != 0 ? -err : -copyout(a[4], &st, sizeof st);
}

/* As Linux for user 0: a program needs an X bit, and writers no W bit. */
static intptr_t
access_at(const uintptr_t *a, unsigned flags)
{
	unsigned mode = (unsigned)a[2];
	struct file_info fi;
	struct lookup lk;
	int err;

	if ((mode & ~ANY_OK) != 0)
		return -EINVAL;
	if ((err = user_file(&lk, (int)a[0], a[1], flags)) != 0)
		return -err;
	if ((mode & W_OK) && lk.lk_node == NULL && lk.lk_device == NULL)
		return -EROFS;
	file_stat_lookup(&lk, &fi);
	return (mode & X_OK) && !lk.lk_dir && !(fi.fi_mode & 0111) ? -EACCES
	                                                           : 0;
}

intptr_t
sys_faccessat(const uintptr_t *a)
{
	return access_at(a, 0);
}

intptr_t
sys_faccessat2(const uintptr_t *a)
{
	unsigned flags = (unsigned)a[3];

	if ((flags & ~(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0)
		return -EINVAL;
	if (user_path_empty(a[1], flags))
		return file_get_any((int)a[0]) != NULL ? 0 : -EBADF;
	return access_at(a, flags);
}

intptr_t
sys_readlinkat(const uintptr_t *a)
{
	const char *to = proc_self()->p_program->ae_path;
	const struct file *f = file_get_any((int)a[0]);
	size_t n = strlen(to), slash = 1;
	struct lookup lk;
	int err;

	if (f != NULL && f->f_symlink && user_path_empty(a[1], AT_EMPTY_PATH)) {
		to = file_data(f);
		n = file_bytes(f);
		slash = 0;
	} else if ((err = user_file(
			&lk, (int)a[0], a[1], AT_SYMLINK_NOFOLLOW)) != 0) {
		return -err;
	} else if (lk.lk_target != NULL) {
		to = lk.lk_target;
		n = lk.lk_target_len;
		slash = 0;
	} else if (strcmp(lk.lk_path, "proc/self/exe") != 0) {
		return -EINVAL;
	}
	if (a[3] == 0)
		return -EINVAL;
	if (n > a[3] - slash)
		n = a[3] - slash;
	return copyout(a[2], "/", slash) != 0 ||
	               copyout(a[2] + slash, to, n) != 0
	           ? -EFAULT
	           : (intptr_t)(slash + n);
}

intptr_t
sys_getcwd(const uintptr_t *a)
{
	const struct file *dir = proc_self()->p_cwd;
	const char *path = dir != NULL ? dir->f_dir : "";
	size_t n = strlen(path) + 1;

	if (a[1] < n + 1)
		return -ERANGE;
	return copyout(a[0], "/", 1) != 0 || copyout(a[0] + 1, path, n) != 0
	           ? -EFAULT
	           : (intptr_t)n + 1;
}

/* struct linux_dirent64 of getdents64(2), up to its name. */
struct dirent {
	uint64_t d_ino;
	int64_t d_off;
	uint16_t d_reclen;
	uint8_t d_type; /* the file type bits of the mode, shifted down */
} __attribute__((packed));

/* The most bytes that one call returns. */
#define GETDENTS_MAX (4UL << 10)

/* Write an entry if there is room.  Returns its length, 0, or -errno. */
static intptr_t
put_dirent(
    const struct dir_entry *de, uint64_t next, uintptr_t uva, size_t room)
{
	size_t len = (sizeof(struct dirent) + de->de_len + 1 + 7) & ~7UL;
	struct dirent d = { de->de_ino, (int64_t)next, (uint16_t)len,
		(uint8_t)((de->de_mode & S_IFMT) >> 12) };

	if (len > room)
		return 0;
	if (copyout(uva, &d, sizeof d) != 0 ||
	    copyout(uva + sizeof d, de->de_name, de->de_len) != 0 ||
	    copyzero(
		uva + sizeof d + de->de_len, len - sizeof d - de->de_len) != 0)
		return -EFAULT;
	return (intptr_t)len;
}

/* The number of a directory (up: the one above it), as stat(2) has it. */
static uint64_t
dir_number(const struct file *dir, bool up)
{
	const struct tmp_node *tn = dir->f_tmp;
	const char *slash = strrchr(dir->f_dir, '/');

	if (tn != NULL && up)
		tn = tn->tn_parent;
	if (tn != NULL && tn->tn_ino != 0)
		return tn->tn_ino;
	return path_ino(dir->f_dir, !up ? strlen(dir->f_dir)
				    : slash == NULL
					? 0
					: (size_t)(slash - dir->f_dir));
}

/* As dir_entry(); the first two are "." and "..". */
static bool
entry_at(const struct file *dir, uint64_t *offset, struct dir_entry *de)
{
	static const char dots[] = "..";
	uint64_t n = *offset, pos = n - 2;
	bool found = true;

	if (n >= 2)
		found = dir_entry(dir, &pos, de);
	else
		*de = (struct dir_entry){ dots, n + 1, dir_number(dir, n == 1),
			S_IFDIR };
	*offset = n < 2 ? n + 1 : pos + 2;
	return found;
}

intptr_t
sys_getdents64(const uintptr_t *a)
{
	struct file *f = file_get((int)a[0]);
	struct dir_entry de;
	uint64_t next;
	size_t done = 0, room = a[2] < GETDENTS_MAX ? a[2] : GETDENTS_MAX;

	if (f == NULL)
		return -EBADF;
	if (f->f_kind != FILE_DIR)
		return -ENOTDIR;
	while (next = f->f_offset, entry_at(f, &next, &de)) {
		intptr_t n = put_dirent(&de, next, a[1] + done, room - done);

		if (n <= 0 && done == 0)
			return n < 0 ? n : -EINVAL;
		if (n <= 0)
			break;
		done += (size_t)n;
		f->f_offset = next;
	}
	return (intptr_t)done;
}

/* Linux's struct statfs. */
struct statfs {
	int64_t f_type, f_bsize;
	uint64_t f_blocks, f_bfree, f_bavail, f_files, f_ffree;
	int32_t f_fsid[2];
	int64_t f_namelen, f_frsize, f_flags, f_spare[4];
};

#define TMPFS_MAGIC 0x01021994

/* All files are in memory. */
static intptr_t
statfs_out(uintptr_t uva)
{
	const struct statfs st = { .f_type = TMPFS_MAGIC,
		.f_bsize = PAGE_SIZE,
		.f_blocks = page_ntotal(),
		.f_bfree = page_nfree(),
		.f_bavail = page_nfree(),
		.f_files = page_ntotal(),
		.f_ffree = page_nfree(),
		.f_namelen = NAME_MAX,
		.f_frsize = PAGE_SIZE };

	return -copyout(uva, &st, sizeof st);
}

intptr_t
sys_statfs(const uintptr_t *a)
{
	struct lookup lk;
	int err = user_file(&lk, AT_FDCWD, a[0], 0);

	return err != 0 ? -err : statfs_out(a[1]);
}

intptr_t
sys_fstatfs(const uintptr_t *a)
{
	return file_get_any((int)a[0]) == NULL ? -EBADF : statfs_out(a[1]);
}
