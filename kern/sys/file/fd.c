/* System calls that open, close and change descriptors. */
#include "kern/arch.h"
#include "kern/file/file.h"
#include "kern/file/pipe.h"
#include "kern/file/tmp.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/proc.h"
#include "kern/sys/file/user_path.h"
#include "kern/sys/file/wait_files.h"
#include "kern/sys/syscall.h"

#define O_SETTABLE (O_APPEND | O_NONBLOCK)

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

intptr_t
sys_openat(const uintptr_t *a)
{
	uint32_t mode = (uint32_t)a[3] & 07777 & ~proc_self()->p_umask;
	unsigned flags = (unsigned)a[2];
	struct lookup lk;
	struct file *f;
	int err;

	/* O_NOFOLLOW is the bit above O_DIRECTORY, on both machines. */
	bool last = !(flags & arch_o_directory << 1) &&
	            (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
	if ((err = user_path(&lk, (int)a[0], a[1], last)) != 0)
		return -err;
	/* Without a descriptor no file is created or truncated. */
	if (file_free_fd(0) < 0)
		return -EMFILE;
	if ((err = file_open(&lk, flags, mode, &f)) != 0)
		return -err;
	return install_file(f, flags & O_CLOEXEC);
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
	if (f->f_kind >= FILE_STREAMS)
		return -ESPIPE;
	switch (a[2]) {
	case SEEK_SET:
		base = 0;
		break;
	case SEEK_CUR:
		base = (int64_t)f->f_offset;
		break;
	case SEEK_END:
		base = (int64_t)file_bytes(f);
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

#define FALLOC_FL_KEEP_SIZE 1

intptr_t
sys_fallocate(const uintptr_t *a)
{
	struct file *f = file_get((int)a[0]);
	int64_t end;

	if (f == NULL || (f->f_flags & O_ACCMODE) == 0)
		return -EBADF;
	if ((int64_t)a[2] < 0 || (int64_t)a[3] <= 0)
		return -EINVAL;
	if (__builtin_add_overflow((int64_t)a[2], (int64_t)a[3], &end))
		return -EFBIG;
	if (f->f_kind != FILE_TMP)
		return f->f_kind == FILE_PIPE ? -ESPIPE : -ENODEV;
	if ((a[1] & ~(uintptr_t)FALLOC_FL_KEEP_SIZE) != 0)
		return -ENOTSUP;
	if (a[1] != 0 || (uint64_t)end <= f->f_tmp->tn_bytes)
		return 0;
	return -tmp_resize(f->f_tmp, (uint64_t)end);
}

/* Advice changes nothing: all files are in memory. */
intptr_t
sys_fadvise64(const uintptr_t *a)
{
	const struct file *f = file_get((int)a[0]);

	if (f == NULL)
		return -EBADF;
	if (f->f_kind == FILE_PIPE)
		return -ESPIPE;
	return (intptr_t)a[2] < 0 || a[3] > 5 ? -EINVAL : 0;
}

/* No file has extended attributes. */
intptr_t
sys_no_xattr(const uintptr_t *a)
{
	(void)a;
	return -ENOTSUP;
}

/* All of a file is in memory, and no program can lose it. */
intptr_t
sys_fsync(const uintptr_t *a)
{
	const struct file *f = file_get((int)a[0]);

	if (f == NULL)
		return -EBADF;
	return f->f_kind == FILE_ARCHIVE || f->f_kind == FILE_DIR ||
	               f->f_kind == FILE_TMP
	           ? 0
	           : -EINVAL;
}

static intptr_t
dup_from(int fd, int from)
{
	struct file *f = file_get_any(fd);
	int copy;

	if (f == NULL)
		return -EBADF;
	if (from < 0 || from >= file_limit())
		return -EINVAL;
	if ((copy = file_install(f, from)) >= 0)
		f->f_refs++;
	return copy;
}

static intptr_t
dup_to(int fd, int to)
{
	if (file_get_any(fd) == NULL || to < 0 || to >= file_limit())
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
#define F_GETPIPE_SZ    1032
#define FD_CLOEXEC      1

/* struct flock, on both machines. */
struct file_lock {
	int16_t l_type, l_whence;
	int64_t l_start, l_len;
	int32_t l_pid;
};
#define F_RDLCK 0
#define F_WRLCK 1
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
	if (f->f_kind == FILE_PIPE || f->f_kind == FILE_CONSOLE ||
	    (uint16_t)lock.l_type > F_UNLCK || (uint16_t)lock.l_whence > 2)
		return -EINVAL;
	if (operation != F_GETLK)
		return (lock.l_type == F_RDLCK && !can_read(f)) ||
		               (lock.l_type == F_WRLCK && !can_write(f))
		           ? -EBADF
		           : 0;
	lock.l_type = F_UNLCK;
	return -copyout(uva, &lock, sizeof lock);
}

intptr_t
sys_fcntl(const uintptr_t *a)
{
	struct file *f = file_get_any((int)a[0]);
	bool duplicates = a[1] == F_DUPFD || a[1] == F_DUPFD_CLOEXEC;
	intptr_t fd;

	if (f == NULL ||
	    ((f->f_flags & O_PATH) != 0 && !duplicates && a[1] > F_GETFL))
		return -EBADF;
	switch (a[1]) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		fd = dup_from((int)a[0], (int)a[2]);
		if (fd >= 0 && a[1] == F_DUPFD_CLOEXEC)
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
		if (f->f_kind == FILE_PERF)
			perf_async(f, (int)a[0], (a[2] & O_ASYNC) != 0);
		return 0;
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
		return lock_file(f, a[1], a[2]);
	case F_GETPIPE_SZ:
		return f->f_kind == FILE_PIPE ? (intptr_t)PIPE_BYTES : -EBADF;
	default:
		return f->f_kind == FILE_PERF ? perf_fcntl(f, a[1], a[2])
		                              : -EINVAL;
	}
}

/* Linux, include/uapi/asm-generic/ioctls.h. */
#define TCGETS     0x5401
#define TIOCGWINSZ 0x5413
#define FIONREAD   0x541b
#define FIONBIO    0x5421
#define FIONCLEX   0x5450
#define FIOCLEX    0x5451

/*
 * Linux's struct termios, as a new terminal has it.  TTY_DRIVER(9),
 * tty_std_termios: input CR as NL, output NL as CR NL, 38400 baud, 8 bits,
 * lines with echo and editing.
 */
static const struct {
	uint32_t c_iflag, c_oflag, c_cflag, c_lflag;
	uint8_t c_line, c_cc[19];
} terminal = { 0x500, 0x5, 0x4bf, 0x8a3b, 0,
	{ 3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26, 0, 18, 15, 23, 22, 0 } };

/*
 * The bytes that a read returns without waiting.  As on Linux, the number is
 * negative beyond the end of a file.  Returns false if there is no such number.
 */
static bool
bytes_ready(const struct file *f, int32_t *bytes)
{
	switch (f->f_kind) {
	case FILE_PIPE:
		*bytes = (int32_t)pipe_bytes(f);
		return true;
	case FILE_ARCHIVE:
	case FILE_TEXT:
	case FILE_TMP:
		*bytes = (int32_t)(file_bytes(f) - f->f_offset);
		return true;
	default:
		return false;
	}
}

/* stdout on a raw console is a terminal, so stdio flushes each line. */
static intptr_t
ioctl_console(const uintptr_t *a)
{
	static const uint16_t size[4] = { 25, 80, 0, 0 };
	static const int32_t none;

	switch (a[1]) {
	case TCGETS:
		return -copyout(a[2], &terminal, sizeof terminal);
	case TIOCGWINSZ:
		return -copyout(a[2], size, sizeof size);
	case FIONREAD:
		return -copyout(a[2], &none, sizeof none);
	default:
		return -ENOTTY;
	}
}

intptr_t
sys_ioctl(const uintptr_t *a)
{
	struct file *f = file_get((int)a[0]);
	int32_t word;

	if (f == NULL)
		return -EBADF;
	switch (a[1]) {
	case FIOCLEX:
	case FIONCLEX:
		set_cloexec((int)a[0], a[1] == FIOCLEX);
		return 0;
	case FIONBIO:
		if (copyin(&word, a[2], sizeof word) != 0)
			return -EFAULT;
		f->f_flags &= ~O_NONBLOCK;
		f->f_flags |= word != 0 ? O_NONBLOCK : 0;
		return 0;
	}
	if (f->f_kind == FILE_CONSOLE && !cons_is_framed())
		return ioctl_console(a);
	if (f->f_kind == FILE_PERF)
		return perf_ioctl(f, (unsigned)a[1], a[2]);
	if (a[1] != FIONREAD || !bytes_ready(f, &word))
		return -ENOTTY;
	return -copyout(a[2], &word, sizeof word);
}
