/* Calls on files and descriptors. */
#include "tests/image/hostile/alloc_fail/turns.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/image/test.h"

#define CWD ((uintptr_t)AT_FDCWD)

static char archive[] = "alloc_fail", root[] = "/", console[] = "/dev/stdout",
	    profile[] = "/dev/profile", machine[] = "/dev/machine",
	    firmware[] = "/dev/firmware", missing[] = "nonesuch",
	    tmp[] = "/tmp/turn", moved[] = "/tmp/moved",
	    meminfo[] = "/proc/meminfo", self[] = "/proc/self/exe";
static char record[] = "{\"alloc_fail\":1}\n";
static struct iovec iov[] = { { turn_buffer, 16 }, { turn_buffer + 16, 16 } };
static struct iovec record_iov[] = { { record, sizeof record - 1 } };
static struct timespec none;
static struct itimerspec never;
static struct pollfd fds[] = { { .fd = TURN_READ, .events = POLLIN } };

static void
move_descriptor(int fd, int to)
{
	EXPECT(fd >= 0 && dup2(fd, to) == to);
	close(fd);
}

void
turn_open_files(void)
{
	int end[2];

	move_descriptor(open("/dev/zero", O_RDWR), TURN_ZERO);
	move_descriptor(open("/dev/null", O_RDWR), TURN_NULL);
	move_descriptor(open(archive, O_RDONLY), TURN_ARCHIVE);
	move_descriptor(open(root, O_RDONLY), TURN_ROOT);
	move_descriptor(open("/dev/record", O_WRONLY), TURN_RECORD);
	move_descriptor(open(tmp, O_RDWR | O_CREAT | O_TRUNC, 0600), TURN_TMP);
	unlink(tmp);
	EXPECT_EQ(pipe(end), 0);
	move_descriptor(end[0], TURN_READ);
	move_descriptor(end[1], TURN_WRITE);
	memset(turn_buffer, 'x', sizeof turn_buffer);
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(write(TURN_WRITE, turn_buffer, 1024), 1024);
}

void
turn_close_files(void)
{
	for (int fd = TURN_ZERO; fd < TURN_FREE; fd++)
		close(fd);
}

void
turn_close(long r)
{
	if (r >= 0)
		close((int)r);
}

void
turn_close_both(long r)
{
	int fd[2];

	memcpy(fd, turn_buffer, sizeof fd);
	if (r == 0 && EXPECT(fd[0] > 2 && fd[1] > fd[0])) {
		close(fd[0]);
		close(fd[1]);
	}
}

/* Offsets are not compared, but each turn must start at the same ones. */
static void
rewind_files(void)
{
	lseek(TURN_ROOT, 0, SEEK_SET);
	lseek(TURN_ARCHIVE, 0, SEEK_SET);
}

/* Put back into the pipe as much as the turn read. */
static void
refill_pipe(long r)
{
	if (r > 0)
		EXPECT_EQ(write(TURN_WRITE, turn_buffer, (size_t)r), r);
}

static void
drain_pipe(long r)
{
	if (r > 0)
		EXPECT_EQ(read(TURN_READ, turn_buffer, (size_t)r), r);
}

static void
prepare_close(void)
{
	dup2(TURN_ZERO, TURN_FREE);
}

static void
close_free(long r)
{
	close(TURN_FREE);
}

static void
unmap_page(long r)
{
	if (r > 0)
		munmap((void *)r, 4096);
}

static void
make_tmp(void)
{
	close(open(tmp, O_WRONLY | O_CREAT, 0600));
}

static void
remove_tmp(long r)
{
	turn_close(r);
	unlink(tmp);
}

static void
make_tmp_dir(void)
{
	mkdir(tmp, 0700);
}

static void
remove_tmp_dir(long r)
{
	rmdir(tmp);
}

static void
remove_both(long r)
{
	unlink(tmp);
	unlink(moved);
}

static void
empty_tmp(long r)
{
	EXPECT_EQ(ftruncate(TURN_TMP, 0), 0);
}

static void
reset_umask(long r)
{
	umask((mode_t)r);
}

#define XATTR(name, number) TURN_CALL(name, number, (0), .tc_errno = ENOTSUP)

const struct turn_call turn_files[] = {
	TURN_CALL("mmap of a file", SYS_mmap,
	    (0, 4096, PROT_READ, MAP_PRIVATE, TURN_ARCHIVE),
	    .tc_undo = unmap_page, .tc_least = 2),
	TURN_CALL("mmap of a file, shared", SYS_mmap,
	    (0, 4096, PROT_READ, MAP_SHARED, TURN_ARCHIVE),
	    .tc_undo = unmap_page, .tc_least = 1),
	TURN_CALL("read", SYS_read, (TURN_ZERO, TURN_P, 64)),
	TURN_CALL("read of a pipe", SYS_read, (TURN_READ, TURN_P, 64),
	    .tc_undo = refill_pipe),
	TURN_CALL("read of the archive", SYS_read, (TURN_ARCHIVE, TURN_P, 64),
	    .tc_prepare = rewind_files),
	TURN_CALL("write", SYS_write, (TURN_NULL, TURN_P, 64)),
	TURN_CALL("write to a pipe", SYS_write, (TURN_WRITE, TURN_P, 64),
	    .tc_undo = drain_pipe),
	TURN_CALL("write of a record", SYS_write,
	    (TURN_RECORD, (uintptr_t)record, sizeof record - 1), .tc_least = 1),
	TURN_CALL(
	    "readv", SYS_readv, (TURN_ZERO, (uintptr_t)iov, 2), .tc_least = 1),
	TURN_CALL("readv of a pipe", SYS_readv, (TURN_READ, (uintptr_t)iov, 2),
	    .tc_undo = refill_pipe, .tc_least = 1),
	TURN_CALL("writev", SYS_writev, (TURN_WRITE, (uintptr_t)iov, 2),
	    .tc_undo = drain_pipe, .tc_least = 1),
	TURN_CALL("writev of a record", SYS_writev,
	    (TURN_RECORD, (uintptr_t)record_iov, 1), .tc_least = 2),
	TURN_CALL("pread64", SYS_pread64, (TURN_ARCHIVE, TURN_P, 64, 4096)),
	TURN_CALL("preadv", SYS_preadv, (TURN_ARCHIVE, (uintptr_t)iov, 2, 0),
	    .tc_least = 1),
	TURN_CALL("pwritev", SYS_pwritev, (TURN_TMP, (uintptr_t)iov, 2, 0),
	    .tc_undo = empty_tmp, .tc_least = 2),
	TURN_CALL("fallocate", SYS_fallocate, (TURN_TMP, 0, 0, 100),
	    .tc_undo = empty_tmp, .tc_least = 1),
	TURN_CALL("fadvise64", SYS_fadvise64, (TURN_ARCHIVE, 0, 0, 0)),
	TURN_CALL("statx", SYS_statx, (CWD, (uintptr_t)archive, 0, 0, TURN_P)),
	XATTR("setxattr", SYS_setxattr),
	XATTR("lsetxattr", SYS_lsetxattr),
	XATTR("fsetxattr", SYS_fsetxattr),
	XATTR("getxattr", SYS_getxattr),
	XATTR("lgetxattr", SYS_lgetxattr),
	XATTR("fgetxattr", SYS_fgetxattr),
	XATTR("listxattr", SYS_listxattr),
	XATTR("llistxattr", SYS_llistxattr),
	XATTR("flistxattr", SYS_flistxattr),
	XATTR("removexattr", SYS_removexattr),
	XATTR("lremovexattr", SYS_lremovexattr),
	XATTR("fremovexattr", SYS_fremovexattr),
	TURN_CALL("symlinkat", SYS_symlinkat,
	    ((uintptr_t)archive, CWD, (uintptr_t)tmp), .tc_undo = remove_both,
	    .tc_least = 2),
	TURN_CALL("linkat", SYS_linkat,
	    (CWD, (uintptr_t)tmp, CWD, (uintptr_t)moved, 0),
	    .tc_prepare = make_tmp, .tc_undo = remove_both, .tc_least = 1),
	TURN_CALL("mknodat", SYS_mknodat, (CWD, (uintptr_t)tmp, S_IFIFO | 0600),
	    .tc_undo = remove_both, .tc_least = 2),
	TURN_CALL("truncate", SYS_truncate, ((uintptr_t)tmp, 100),
	    .tc_prepare = make_tmp, .tc_undo = remove_both, .tc_least = 1),
	TURN_CALL("openat", SYS_openat, (CWD, (uintptr_t)archive, O_RDONLY),
	    .tc_undo = turn_close, .tc_least = 1),
	TURN_CALL("openat of a directory", SYS_openat,
	    (CWD, (uintptr_t)root, O_RDONLY | O_CLOEXEC), .tc_undo = turn_close,
	    .tc_least = 2),
	TURN_CALL("openat of the console", SYS_openat,
	    (CWD, (uintptr_t)console, O_WRONLY), .tc_undo = turn_close,
	    .tc_least = 1),
	TURN_CALL("openat of a profile", SYS_openat,
	    (CWD, (uintptr_t)profile, O_RDONLY), .tc_undo = turn_close,
	    .tc_least = 2),
	TURN_CALL("openat of the machine", SYS_openat,
	    (CWD, (uintptr_t)machine, O_RDONLY), .tc_undo = turn_close,
	    .tc_least = 2),
	TURN_CALL("openat of firmware's tables", SYS_openat,
	    (CWD, (uintptr_t)firmware, O_RDONLY), .tc_undo = turn_close,
	    .tc_least = 2),
	TURN_CALL("openat of nothing", SYS_openat, (CWD, (uintptr_t)missing, 0),
	    .tc_errno = ENOENT),
	TURN_CALL("openat of a new file", SYS_openat,
	    (CWD, (uintptr_t)tmp, O_WRONLY | O_CREAT, 0600),
	    .tc_undo = remove_tmp, .tc_least = 3),
	TURN_CALL("openat of a text", SYS_openat,
	    (CWD, (uintptr_t)meminfo, O_RDONLY), .tc_undo = turn_close,
	    .tc_least = 2),
	TURN_CALL("pwrite64", SYS_pwrite64, (TURN_TMP, TURN_P, 64, 0),
	    .tc_undo = empty_tmp, .tc_least = 1),
	TURN_CALL("ftruncate", SYS_ftruncate, (TURN_TMP, 100),
	    .tc_undo = empty_tmp, .tc_least = 1),
	TURN_CALL("fsync", SYS_fsync, (TURN_TMP)),
	TURN_CALL("fdatasync", SYS_fdatasync, (TURN_TMP)),
	TURN_CALL("fchmod", SYS_fchmod, (TURN_TMP, 0600)),
	TURN_CALL("fchmodat", SYS_fchmodat, (CWD, (uintptr_t)tmp, 0600),
	    .tc_prepare = make_tmp, .tc_undo = remove_both),
	TURN_CALL("fchown", SYS_fchown, (TURN_TMP, 0, 0)),
	TURN_CALL("fchownat", SYS_fchownat, (CWD, (uintptr_t)tmp, 0, 0, 0),
	    .tc_prepare = make_tmp, .tc_undo = remove_both),
	TURN_CALL("utimensat", SYS_utimensat, (CWD, (uintptr_t)tmp, 0, 0),
	    .tc_prepare = make_tmp, .tc_undo = remove_both),
	TURN_CALL("mkdirat", SYS_mkdirat, (CWD, (uintptr_t)tmp, 0700),
	    .tc_undo = remove_tmp_dir, .tc_least = 2),
	TURN_CALL("unlinkat", SYS_unlinkat, (CWD, (uintptr_t)tmp, 0),
	    .tc_prepare = make_tmp),
	TURN_CALL("unlinkat of a directory", SYS_unlinkat,
	    (CWD, (uintptr_t)tmp, AT_REMOVEDIR), .tc_prepare = make_tmp_dir),
	TURN_CALL("renameat2", SYS_renameat2,
	    (CWD, (uintptr_t)tmp, CWD, (uintptr_t)moved, 0),
	    .tc_prepare = make_tmp, .tc_undo = remove_both, .tc_least = 1),
	TURN_CALL("renameat", SYS_renameat,
	    (CWD, (uintptr_t)tmp, CWD, (uintptr_t)moved),
	    .tc_prepare = make_tmp, .tc_undo = remove_both, .tc_least = 1),
	TURN_CALL("umask", SYS_umask, (022), .tc_undo = reset_umask),
	TURN_CALL("readlinkat of the program", SYS_readlinkat,
	    (CWD, (uintptr_t)self, TURN_P, 64)),
	TURN_CALL("pselect6", SYS_pselect6, (0, 0, 0, 0, (uintptr_t)&none)),
	TURN_CALL("close", SYS_close, (TURN_FREE), .tc_prepare = prepare_close),
	TURN_CALL("lseek", SYS_lseek, (TURN_ARCHIVE, 100, SEEK_SET)),
	TURN_CALL("dup", SYS_dup, (TURN_ZERO), .tc_undo = turn_close),
	TURN_CALL("dup3", SYS_dup3, (TURN_ZERO, TURN_FREE, O_CLOEXEC),
	    .tc_undo = close_free),
	TURN_CALL("fcntl", SYS_fcntl, (TURN_ZERO, F_DUPFD_CLOEXEC, 50),
	    .tc_undo = turn_close),
	TURN_CALL("ioctl", SYS_ioctl, (TURN_ZERO, TIOCGWINSZ, TURN_P),
	    .tc_errno = ENOTTY),
	TURN_CALL("fstat", SYS_fstat, (TURN_ARCHIVE, TURN_P)),
	TURN_CALL("fstatfs", SYS_fstatfs, (TURN_ARCHIVE, TURN_P)),
	TURN_CALL("statfs", SYS_statfs, ((uintptr_t)archive, TURN_P)),
	TURN_CALL(
	    "newfstatat", SYS_newfstatat, (CWD, (uintptr_t)archive, TURN_P, 0)),
	TURN_CALL("newfstatat of a directory", SYS_newfstatat,
	    (CWD, (uintptr_t)root, TURN_P, 0)),
	TURN_CALL(
	    "faccessat", SYS_faccessat, (CWD, (uintptr_t)archive, R_OK, 0)),
	TURN_CALL(
	    "faccessat2", 439, (CWD, (uintptr_t)archive, R_OK, AT_EACCESS)),
	TURN_CALL("readlinkat", SYS_readlinkat,
	    (CWD, (uintptr_t)archive, TURN_P, 64), .tc_errno = EINVAL),
	TURN_CALL("getcwd", SYS_getcwd, (TURN_P, 64)),
	TURN_CALL("chdir", SYS_chdir, ((uintptr_t)root), .tc_least = 2),
	TURN_CALL("fchdir", SYS_fchdir, (TURN_ROOT)),
	TURN_CALL("epoll_create1", SYS_epoll_create1, (0),
	    .tc_undo = turn_close, .tc_least = 2),
	TURN_CALL("epoll_ctl", SYS_epoll_ctl,
	    (TURN_READ, EPOLL_CTL_ADD, TURN_WRITE, TURN_P), .tc_errno = EINVAL),
	TURN_CALL("epoll_pwait", SYS_epoll_pwait, (TURN_READ, TURN_P, 1, 0, 0),
	    .tc_errno = EINVAL),
	TURN_CALL("epoll_pwait2", SYS_epoll_pwait2,
	    (TURN_READ, TURN_P, 1, (uintptr_t)&none, 0), .tc_errno = EINVAL),
	TURN_CALL("eventfd2", SYS_eventfd2, (1, 0), .tc_undo = turn_close,
	    .tc_least = 1),
	TURN_CALL("timerfd_create", SYS_timerfd_create, (CLOCK_MONOTONIC, 0),
	    .tc_undo = turn_close, .tc_least = 2),
	TURN_CALL("timerfd_settime", SYS_timerfd_settime,
	    (TURN_READ, 0, (uintptr_t)&never, 0), .tc_errno = EINVAL),
	TURN_CALL("timerfd_gettime", SYS_timerfd_gettime, (TURN_READ, TURN_P),
	    .tc_errno = EINVAL),
	TURN_CALL("signalfd4", SYS_signalfd4,
	    ((uintptr_t)-1, (uintptr_t)&none, 8, 0), .tc_undo = turn_close,
	    .tc_least = 1),
	TURN_CALL("getdents64", SYS_getdents64,
	    (TURN_ROOT, TURN_P, TURN_BUFFER), .tc_prepare = rewind_files),
	TURN_CALL("pipe2", SYS_pipe2, (TURN_P, O_CLOEXEC),
	    .tc_undo = turn_close_both, .tc_least = 3),
	TURN_CALL("ppoll", SYS_ppoll, ((uintptr_t)fds, 1, 0, 0, 8)),
	{ 0 },
};
