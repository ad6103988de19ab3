/*
 * System calls that open, close and change descriptors.
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
#include "kern/sys/wait_files.h"

#define O_ACCMODE  3
#define O_CLOEXEC  02000000
#define O_SETTABLE (02000 | 04000) /* O_APPEND, O_NONBLOCK */

static void
set_cloexec(int fd, bool on)
{
	struct proc *p = proc_self();

	p->p_cloexec &= ~(1ULL << fd);
	p->p_cloexec |= (uint64_t)on << fd;
}

intptr_t
install_file(struct file *f, bool cloexec)
{
	int fd = file_install(f, 0);

	if (fd < 0)
		file_release(f);
	else
		set_cloexec(fd, cloexec);
	return fd;
}

static intptr_t
open_at(int dirfd, uintptr_t upath, unsigned flags, uint32_t mode)
{
	path_buf path;
	struct file *f;
	int err;

	if ((err = user_path(path, dirfd, upath)) != 0)
		return -err;
	/* Without a descriptor no file is created or truncated. */
	if (file_free_fd(0) < 0)
		return -EMFILE;
	mode &= 0777 & ~proc_self()->p_umask;
	if ((err = file_open(path, flags, mode, &f)) != 0)
		return -err;
	return install_file(f, flags & O_CLOEXEC);
}

intptr_t
sys_open(const uintptr_t *a)
{
	return open_at(AT_FDCWD, a[0], (unsigned)a[1], (uint32_t)a[2]);
}

intptr_t
sys_openat(const uintptr_t *a)
{
	return open_at((int)a[0], a[1], (unsigned)a[2], (uint32_t)a[3]);
}

intptr_t
sys_close(const uintptr_t *a)
{
	return -file_close((int)a[0]);
}

#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2

intptr_t
sys_lseek(const uintptr_t *a)
{
	struct file *f = file_get((int)a[0]);
	int64_t offset = (int64_t)a[1], base;

	if (f == NULL)
		return -EBADF;
	if (f->f_kind == FILE_CONSOLE || f->f_kind == FILE_RECORD ||
	    f->f_kind == FILE_PIPE || f->f_kind == FILE_EVENT ||
	    f->f_kind == FILE_EPOLL || f->f_kind == FILE_TIMER ||
	    f->f_kind == FILE_SIGNAL)
		return -ESPIPE;
	switch (a[2]) {
	case SEEK_SET:
		base = 0;
		break;
	case SEEK_CUR:
		base = (int64_t)f->f_offset;
		break;
	case SEEK_END:
		base = (int64_t)(f->f_kind == FILE_TMP ? f->f_tmp->tn_bytes
						       : f->f_bytes);
		break;
	default:
		return -EINVAL;
	}
	if (__builtin_add_overflow(base, offset, &offset) || offset < 0)
		return -EINVAL;
	f->f_offset = (uint64_t)offset;
	return offset;
}

intptr_t
sys_ftruncate(const uintptr_t *a)
{
	struct file *f = file_get((int)a[0]);

	if (f == NULL)
		return -EBADF;
	if (f->f_kind != FILE_TMP || (f->f_flags & O_ACCMODE) == 0 ||
	    (intptr_t)a[1] < 0)
		return -EINVAL;
	return -tmp_resize(f->f_tmp, a[1]);
}

/* All of a file is in memory, and no program can lose it. */
intptr_t
sys_fsync(const uintptr_t *a)
{
	const struct file *f = file_get((int)a[0]);

	if (f == NULL)
		return -EBADF;
	return f->f_kind == FILE_PIPE || f->f_kind == FILE_CONSOLE ? -EINVAL
	                                                           : 0;
}

static intptr_t
dup_from(int fd, int from)
{
	struct file *f = file_get(fd);
	int copy;

	if (f == NULL)
		return -EBADF;
	if (from < 0 || from >= NFD)
		return -EINVAL;
	if ((copy = file_install(f, from)) >= 0)
		f->f_refs++;
	return copy;
}

static intptr_t
dup_to(int fd, int to)
{
	if (file_get(fd) == NULL || to < 0 || to >= NFD)
		return -EBADF;
	if (fd == to)
		return to;
	file_close(to);
	return dup_from(fd, to);
}

intptr_t
sys_dup(const uintptr_t *a)
{
	return dup_from((int)a[0], 0);
}

intptr_t
sys_dup2(const uintptr_t *a)
{
	return dup_to((int)a[0], (int)a[1]);
}

intptr_t
sys_dup3(const uintptr_t *a)
{
	intptr_t fd;

	if ((int)a[0] == (int)a[1] || (a[2] & ~(uintptr_t)O_CLOEXEC) != 0)
		return -EINVAL;
	if ((fd = dup_to((int)a[0], (int)a[1])) >= 0)
		set_cloexec((int)fd, a[2] & O_CLOEXEC);
	return fd;
}

#define F_DUPFD         0
#define F_GETFD         1
#define F_SETFD         2
#define F_GETFL         3
#define F_SETFL         4
#define F_GETLK         5
#define F_SETLK         6
#define F_SETLKW        7
#define F_DUPFD_CLOEXEC 1030
#define FD_CLOEXEC      1

/* struct flock, on both machines. */
struct file_lock {
	int16_t l_type, l_whence;
	int64_t l_start, l_len;
	int32_t l_pid;
};
#define F_UNLCK 2

/*
 * Locks on parts of files: always granted, and not kept.  Programs of one image
 * that write the same file know of each other.
 */
static intptr_t
lock_file(const struct file *f, uintptr_t operation, uintptr_t uva)
{
	struct file_lock lock;

	if (copyin(&lock, uva, sizeof lock) != 0)
		return -EFAULT;
	if (f->f_kind == FILE_PIPE || f->f_kind == FILE_CONSOLE)
		return -EINVAL;
	if (operation != F_GETLK)
		return 0;
	lock.l_type = F_UNLCK;
	return -copyout(uva, &lock, sizeof lock);
}

intptr_t
sys_fcntl(const uintptr_t *a)
{
	struct file *f = file_get((int)a[0]);
	intptr_t fd;

	if (f == NULL)
		return -EBADF;
	switch (a[1]) {
	case F_DUPFD:
		return dup_from((int)a[0], (int)a[2]);
	case F_DUPFD_CLOEXEC:
		fd = dup_from((int)a[0], (int)a[2]);
		if (fd >= 0)
			set_cloexec((int)fd, true);
		return fd;
	case F_GETFD:
		return proc_self()->p_cloexec >> (int)a[0] & 1;
	case F_SETFD:
		set_cloexec((int)a[0], a[2] & FD_CLOEXEC);
		return 0;
	case F_GETFL:
		return (intptr_t)f->f_flags;
	case F_SETFL:
		f->f_flags =
		    (f->f_flags & O_ACCMODE) | ((unsigned)a[2] & O_SETTABLE);
		return 0;
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
		return lock_file(f, a[1], a[2]);
	default:
		return -EINVAL;
	}
}

#define TIOCGWINSZ 0x5413

/* stdout on a raw console is a terminal, so stdio flushes each line. */
intptr_t
sys_ioctl(const uintptr_t *a)
{
	static const uint16_t size[4] = { 25, 80, 0, 0 };
	struct file *f = file_get((int)a[0]);

	if (f == NULL)
		return -EBADF;
	if (f->f_kind != FILE_CONSOLE || a[1] != TIOCGWINSZ || cons_is_framed())
		return -ENOTTY;
	return -copyout(a[2], size, sizeof size);
}
