/*
 * System calls that ask for information about files.
 */
#include "kern/arch.h"
#include "kern/file/archive.h"
#include "kern/file/file.h"
#include "kern/mm/page.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/proc.h"
#include "kern/sys/syscall.h"
#include "kern/sys/user_path.h"
#include "lib/printf.h"
#include "lib/string.h"

#define AT_EMPTY_PATH 0x1000
#define W_OK          2

#define S_IFMT  0170000u
#define S_IFDIR 0040000u

static intptr_t
stat_out(uintptr_t uva, const struct file_info *fi)
{
	char st[ARCH_STAT_MAX];
	size_t n = arch_stat(st, fi);

	return -copyout(uva, st, n);
}

/* Get the stat(2) results of a path in user memory.  Returns 0 or an errno. */
static int
stat_user_path(int dirfd, uintptr_t upath, struct file_info *fi)
{
	path_buf path;
	int err = user_path(path, dirfd, upath);

	return err != 0 ? err : file_stat_path(path, fi);
}

static intptr_t
stat_path(int dirfd, uintptr_t upath, uintptr_t uva)
{
	struct file_info fi;
	int err = stat_user_path(dirfd, upath, &fi);

	return err != 0 ? -err : stat_out(uva, &fi);
}

intptr_t
sys_stat(const uintptr_t *a)
{
	return stat_path(AT_FDCWD, a[0], a[1]);
}

intptr_t
sys_lstat(const uintptr_t *a)
{
	return stat_path(AT_FDCWD, a[0], a[1]);
}

intptr_t
sys_fstat(const uintptr_t *a)
{
	struct file *f = file_get((int)a[0]);
	struct file_info fi;

	if (f == NULL)
		return -EBADF;
	file_stat(f, &fi);
	return stat_out(a[1], &fi);
}

intptr_t
sys_newfstatat(const uintptr_t *a)
{
	uintptr_t fstat_args[] = { a[0], a[2] };
	char first;

	if (a[3] & AT_EMPTY_PATH) {
		if (copyin(&first, a[1], 1) != 0)
			return -EFAULT;
		if (first == '\0')
			return sys_fstat(fstat_args);
	}
	return stat_path((int)a[0], a[1], a[2]);
}

static intptr_t
access_path(int dirfd, uintptr_t upath, unsigned mode)
{
	struct file_info fi;
	int err = stat_user_path(dirfd, upath, &fi);

	if (err != 0)
		return -err;
	return (mode & W_OK) && !(fi.fi_mode & 0200) ? -EROFS : 0;
}

intptr_t
sys_access(const uintptr_t *a)
{
	return access_path(AT_FDCWD, a[0], (unsigned)a[1]);
}

intptr_t
sys_faccessat(const uintptr_t *a)
{
	return access_path((int)a[0], a[1], (unsigned)a[2]);
}

/*
 * Only /proc/self/exe is a link: symbolic links of the archives count as files.
 */
static intptr_t
readlink_path(int dirfd, uintptr_t upath, uintptr_t uva, size_t len)
{
	path_buf path, to;
	struct file_info fi;
	size_t n;
	int err;

	if ((err = user_path(path, dirfd, upath)) != 0 ||
	    (err = file_stat_path(path, &fi)) != 0)
		return -err;
	if (strcmp(path, "/proc/self/exe") != 0)
		return -EINVAL;
	n = (size_t)snprintf(
	    to, sizeof to, "/%s", proc_self()->p_program->ae_path);
	if (n > len)
		n = len;
	return copyout(uva, to, n) != 0 ? -EFAULT : (intptr_t)n;
}

intptr_t
sys_readlink(const uintptr_t *a)
{
	return readlink_path(AT_FDCWD, a[0], a[1], a[2]);
}

intptr_t
sys_readlinkat(const uintptr_t *a)
{
	return readlink_path((int)a[0], a[1], a[2], a[3]);
}

intptr_t
sys_getcwd(const uintptr_t *a)
{
	const struct file *dir = proc_self()->p_cwd;
	path_buf path;
	size_t n = (size_t)snprintf(path, sizeof path, "/%s",
		       dir != NULL ? dir->f_dir : "") +
	           1;

	if (a[1] < n)
		return -ERANGE;
	return copyout(a[0], path, n) != 0 ? -EFAULT : (intptr_t)n;
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

/* As dir_entry(); the first two are "." and "..". */
static bool
entry_at(const char *dir, uint64_t *offset, struct dir_entry *de)
{
	static const char dots[] = "..";
	uint64_t n = *offset, pos = n - 2;
	bool found = true;

	if (n >= 2)
		found = dir_entry(dir, &pos, de);
	else
		*de = (struct dir_entry){ dots, n + 1, n + 1, S_IFDIR };
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
	while (next = f->f_offset, entry_at(f->f_dir, &next, &de)) {
		intptr_t n = put_dirent(&de, next, a[1] + done, room - done);

		if (n < 0)
			return n;
		if (n == 0)
			return done > 0 ? (intptr_t)done : -EINVAL;
		done += (size_t)n;
		f->f_offset = next;
	}
	return (intptr_t)done;
}

/* Linux's struct statfs. */
struct statfs {
	int64_t f_type;
	int64_t f_bsize;
	uint64_t f_blocks;
	uint64_t f_bfree;
	uint64_t f_bavail;
	uint64_t f_files;
	uint64_t f_ffree;
	int32_t f_fsid[2];
	int64_t f_namelen;
	int64_t f_frsize;
	int64_t f_flags;
	int64_t f_spare[4];
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
		.f_namelen = CPIO_NAME_MAX,
		.f_frsize = PAGE_SIZE };

	return -copyout(uva, &st, sizeof st);
}

intptr_t
sys_statfs(const uintptr_t *a)
{
	struct file_info fi;
	int err = stat_user_path(AT_FDCWD, a[0], &fi);

	return err != 0 ? -err : statfs_out(a[1]);
}

intptr_t
sys_fstatfs(const uintptr_t *a)
{
	return file_get((int)a[0]) == NULL ? -EBADF : statfs_out(a[1]);
}
