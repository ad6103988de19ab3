/* A bad pointer gives EFAULT from each call, and the program continues. */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <fcntl.h>
#include <payload.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define PAGE ((size_t)4096)
#define BAD  UINTPTR_MAX /* replaced by the pointer under test */

enum {
	NULL_IS_LEGAL = 1,
	OUT = 2,  /* the kernel writes to the memory */
	PATH = 4, /* a string, which may end before a hole */
};

struct call {
	const char *c_name;
	long c_number;
	unsigned c_flags;
	uintptr_t c_arg[6];
};

#define CWD     ((uintptr_t)AT_FDCWD)
#define SCRATCH ((uintptr_t)scratch)
#define SELF    ((uintptr_t) "/hostile")
#define TMP     ((uintptr_t) "/tmp/file")
#define SIGSET  8 /* bytes */

static char scratch[64];
static uint32_t capabilities[2] = { 0x20080522, 0 }; /* version 3, self */
static struct epoll_event ready = { .events = EPOLLIN };
static struct timespec no_time;
static struct itimerspec soon = { .it_value = { 0, 1 } };

/*
 * The calls use descriptors 20 to 27: this program's file, /dev/zero, the root
 * directory, a set of epoll(7), its only file, a timer, both ready.  Then a
 * file in /tmp, and a FIFO with text.
 */
static const struct call calls[] = {
	{ "read", SYS_read, OUT, { 20, BAD, 64 } },
	{ "read zero", SYS_read, OUT, { 21, BAD, 64 } },
	{ "write", SYS_write, 0, { 1, BAD, 64 } },
	{ "write stderr", SYS_write, 0, { 2, BAD, 64 } },
	{ "pread64", SYS_pread64, OUT, { 20, BAD, 64, 0 } },
	{ "readv", SYS_readv, 0, { 20, BAD, 1 } },
	{ "writev", SYS_writev, 0, { 1, BAD, 1 } },
	{ "preadv", SYS_preadv, 0, { 20, BAD, 1, 0 } },
	{ "openat", SYS_openat, PATH, { CWD, BAD, O_RDONLY } },
	{ "newfstatat path", SYS_newfstatat, PATH, { CWD, BAD, 0, 0 } },
	{ "newfstatat", SYS_newfstatat, OUT, { CWD, SELF, BAD, 0 } },
	{ "fstat", SYS_fstat, OUT, { 20, BAD } },
	{ "statx path", SYS_statx, PATH, { CWD, BAD, 0, 0, SCRATCH } },
	{ "statx", SYS_statx, OUT, { CWD, SELF, 0, 0, BAD } },
	{ "symlinkat", SYS_symlinkat, PATH, { BAD, CWD, SELF } },
	{ "symlinkat name", SYS_symlinkat, PATH, { SELF, CWD, BAD } },
	{ "linkat", SYS_linkat, PATH, { CWD, BAD, CWD, SELF, 0 } },
	{ "linkat name", SYS_linkat, PATH, { CWD, SELF, CWD, BAD, 0 } },
	{ "mknodat", SYS_mknodat, PATH, { CWD, BAD, 0010600 } },
	{ "truncate", SYS_truncate, PATH, { BAD, 0 } },
	{ "mkdirat", SYS_mkdirat, PATH, { CWD, BAD, 0700 } },
	{ "unlinkat", SYS_unlinkat, PATH, { CWD, BAD, 0 } },
	{ "renameat2", SYS_renameat2, PATH, { CWD, BAD, CWD, SELF, 0 } },
	{ "renameat2 name", SYS_renameat2, PATH, { CWD, TMP, CWD, BAD, 0 } },
	{ "fchmodat", SYS_fchmodat, PATH, { CWD, BAD, 0700 } },
	{ "execve", SYS_execve, PATH, { BAD, 0, 0 } },
	{ "execve words", SYS_execve, NULL_IS_LEGAL, { SELF, BAD, 0 } },
	{ "execve variables", SYS_execve, NULL_IS_LEGAL, { SELF, 0, BAD } },
	{ "pwrite64", SYS_pwrite64, 0, { 26, BAD, 64, 0 } },
	{ "pwritev", SYS_pwritev, 0, { 26, BAD, 1, 0 } },
	{ "fcntl lock", SYS_fcntl, 0, { 26, F_SETLK, BAD } },
	{ "read FIFO", SYS_read, OUT, { 27, BAD, 64 } },
	{ "write FIFO", SYS_write, 0, { 27, BAD, 64 } },
	{ "ioctl FIFO", SYS_ioctl, OUT, { 27, 0x541b, BAD } },
	{ "pipe2", SYS_pipe2, OUT, { BAD, 0 } },
	{ "prctl set", SYS_prctl, PATH, { 15, BAD } },
	{ "prctl get", SYS_prctl, OUT, { 16, BAD } },
	{ "get_robust_list", SYS_get_robust_list, OUT, { 0, SCRATCH, BAD } },
	{ "ppoll", SYS_ppoll, OUT, { BAD, 1, (uintptr_t)&no_time, 0, 0 } },
	{ "rt_sigpending", SYS_rt_sigpending, OUT, { BAD, SIGSET } },
	{ "rt_sigsuspend", SYS_rt_sigsuspend, 0, { BAD, SIGSET } },
	{ "getitimer", SYS_getitimer, OUT, { 0, BAD } },
	{ "setitimer", SYS_setitimer, NULL_IS_LEGAL, { 0, BAD, 0 } },
	{ "faccessat", SYS_faccessat, PATH, { CWD, BAD, F_OK } },
	{ "readlinkat", SYS_readlinkat, PATH, { CWD, BAD, SCRATCH, 64 } },
	{ "getcwd", SYS_getcwd, OUT, { BAD, PAGE } },
	{ "chdir", SYS_chdir, PATH, { BAD } },
	{ "epoll_ctl", SYS_epoll_ctl, 0, { 23, EPOLL_CTL_ADD, 24, BAD } },
	{ "epoll_pwait", SYS_epoll_pwait, OUT, { 23, BAD, 1, 0, 0, SIGSET } },
	{ "epoll_pwait2", SYS_epoll_pwait2, OUT, { 23, BAD, 1, 0, 0, SIGSET } },
	{ "epoll_pwait2 time", SYS_epoll_pwait2, NULL_IS_LEGAL,
	    { 23, SCRATCH, 1, BAD, 0, SIGSET } },
	{ "epoll_pwait2 mask", SYS_epoll_pwait2, NULL_IS_LEGAL,
	    { 23, SCRATCH, 1, 0, BAD, SIGSET } },
	{ "read eventfd", SYS_read, OUT, { 24, BAD, 8 } },
	{ "write eventfd", SYS_write, 0, { 24, BAD, 8 } },
	{ "read timer", SYS_read, OUT, { 25, BAD, 8 } },
	{ "timerfd_settime new", SYS_timerfd_settime, 0, { 25, 0, BAD, 0 } },
	{ "timerfd_settime old", SYS_timerfd_settime, OUT | NULL_IS_LEGAL,
	    { 25, 0, (uintptr_t)&soon, BAD } },
	{ "timerfd_gettime", SYS_timerfd_gettime, OUT, { 25, BAD } },
	{ "signalfd4", SYS_signalfd4, 0, { (uintptr_t)-1, BAD, SIGSET, 0 } },
	{ "getdents64", SYS_getdents64, OUT, { 22, BAD, PAGE } },
	{ "utimensat path", SYS_utimensat, PATH | NULL_IS_LEGAL,
	    { CWD, BAD, 0, 0 } },
	{ "utimensat", SYS_utimensat, NULL_IS_LEGAL, { CWD, SELF, BAD, 0 } },
	{ "fchownat", SYS_fchownat, PATH, { CWD, BAD, 0, 0, 0 } },
	{ "ioctl", SYS_ioctl, OUT, { 20, 0x541b, BAD } },
	{ "statfs path", SYS_statfs, PATH, { BAD, SCRATCH } },
	{ "statfs", SYS_statfs, OUT, { SELF, BAD } },
	{ "fstatfs", SYS_fstatfs, OUT, { 20, BAD } },
	{ "sched_getaffinity", SYS_sched_getaffinity, OUT, { 0, 128, BAD } },
	{ "getcpu", SYS_getcpu, OUT | NULL_IS_LEGAL, { BAD, 0, 0 } },
	{ "getresuid", SYS_getresuid, OUT, { SCRATCH, SCRATCH, BAD } },
	{ "capget head", SYS_capget, OUT, { BAD, 0 } },
	{ "capget", SYS_capget, OUT | NULL_IS_LEGAL,
	    { (uintptr_t)capabilities, BAD } },
	{ "uname", SYS_uname, OUT, { BAD } },
	{ "sysinfo", SYS_sysinfo, OUT, { BAD } },
	{ "getrandom", SYS_getrandom, OUT, { BAD, 64, 0 } },
	{ "prlimit64", SYS_prlimit64, OUT | NULL_IS_LEGAL,
	    { 0, RLIMIT_STACK, 0, BAD } },
	{ "getrusage", SYS_getrusage, OUT, { 0, BAD } },
	{ "clock_gettime", SYS_clock_gettime, OUT, { CLOCK_MONOTONIC, BAD } },
	{ "clock_getres", SYS_clock_getres, OUT | NULL_IS_LEGAL,
	    { CLOCK_MONOTONIC, BAD } },
	{ "gettimeofday", SYS_gettimeofday, OUT | NULL_IS_LEGAL, { BAD, 0 } },
	{ "times", SYS_times, OUT | NULL_IS_LEGAL, { BAD } },
	{ "nanosleep", SYS_nanosleep, 0, { BAD, 0 } },
	{ "clock_nanosleep", SYS_clock_nanosleep, 0,
	    { CLOCK_MONOTONIC, 0, BAD, 0 } },
	{ "rt_sigaction new", SYS_rt_sigaction, NULL_IS_LEGAL,
	    { SIGUSR1, BAD, 0, SIGSET } },
	{ "rt_sigaction old", SYS_rt_sigaction, OUT | NULL_IS_LEGAL,
	    { SIGUSR1, 0, BAD, SIGSET } },
	{ "rt_sigprocmask new", SYS_rt_sigprocmask, NULL_IS_LEGAL,
	    { SIG_BLOCK, BAD, 0, SIGSET } },
	{ "rt_sigprocmask old", SYS_rt_sigprocmask, OUT | NULL_IS_LEGAL,
	    { SIG_BLOCK, 0, BAD, SIGSET } },
	{ "sigaltstack old", SYS_sigaltstack, OUT | NULL_IS_LEGAL, { 0, BAD } },
	{ "sigaltstack new", SYS_sigaltstack, NULL_IS_LEGAL, { BAD, 0 } },
	{ "getrlimit", SYS_getrlimit, OUT, { RLIMIT_STACK, BAD } },
	{ "sched_setaffinity", SYS_sched_setaffinity, 0, { 0, 128, BAD } },
	{ "barecpc stat", BARECPC_SYS_STAT, OUT, { BAD } },
	{ "barecpc interrupts", BARECPC_SYS_INTERRUPTS, OUT, { BAD } },
	{ "barecpc phys", BARECPC_SYS_PHYS, 0, { BAD } },
	{ "perf_event_open", SYS_perf_event_open, 0,
	    { BAD, 0, (uintptr_t)-1, (uintptr_t)-1, 0 } },
};
#define NCALL (sizeof calls / sizeof calls[0])

static void __attribute__((constructor)) open_files(void)
{
	dup2(open("/hostile", O_RDONLY), 20);
	dup2(open("/dev/zero", O_RDWR), 21);
	dup2(open("/", O_RDONLY | O_DIRECTORY), 22);
	dup2(epoll_create1(0), 23);
	dup2(eventfd(1, EFD_NONBLOCK), 24);
	epoll_ctl(23, EPOLL_CTL_ADD, 24, &ready);
	dup2(timerfd_create(CLOCK_MONOTONIC, 0), 25);
	timerfd_settime(25, 0, &soon, NULL);
	dup2(open("/tmp/file", O_RDWR | O_CREAT, 0600), 26);
	mkfifo("/tmp/fifo", 0600);
	dup2(open("/tmp/fifo", O_RDWR), 27);
	write(26, "some text", 9); /* the file has its page now */
	write(27, "some text", 9);
}

static long
make_call(const struct call *c, uintptr_t bad)
{
	uintptr_t a[6];

	for (unsigned i = 0; i < 6; i++)
		a[i] = c->c_arg[i] == BAD ? bad : c->c_arg[i];
	return syscall(c->c_number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Make every call that has all flags of `only` and none of `except`. */
static void
make_all_calls(uintptr_t bad, unsigned only, unsigned except)
{
	long got;

	for (unsigned i = 0; i < NCALL; i++) {
		if ((calls[i].c_flags & only) != only ||
		    (calls[i].c_flags & except) != 0)
			continue;
		got = make_call(&calls[i], bad);
		if (!EXPECT_ERRNO(got, EFAULT))
			test_note(
			    "%s of %#lx", calls[i].c_name, (unsigned long)bad);
	}
}

TEST(pointers_to_nothing)
{
	make_all_calls(0, 0, NULL_IS_LEGAL);
	make_all_calls(8, 0, 0);
	make_all_calls(0xffff, 0, 0);
	make_all_calls((uintptr_t)1 << 45, 0, 0);
}

TEST(pointers_to_the_kernel)
{
	make_all_calls(0xffffffff80000000, 0, 0);
	make_all_calls(0xffffffff80200000, 0, 0);
	make_all_calls(0xffff800000000000, 0, 0);
	make_all_calls(0xffff000000000000, 0, 0);
	make_all_calls((uintptr_t)-8, 0, 0);
	make_all_calls((uintptr_t)-4096, 0, 0);
}

TEST(pointers_outside_the_address_space)
{
	make_all_calls(0x0000800000000000, 0, 0);
	make_all_calls(0x00007ffffffffff8, 0, 0);
	make_all_calls(0x8000000000000000, 0, 0);
	make_all_calls(0x1234567812345678, 0, 0);
}

TEST(pointers_to_unmapped_memory)
{
	char *p = test_map(PAGE, PROT_READ | PROT_WRITE);

	REQUIRE(p != NULL);
	EXPECT_EQ(munmap(p, PAGE), 0);
	make_all_calls((uintptr_t)p, 0, 0);
}

TEST(pointers_to_unreadable_memory)
{
	char *p = test_map(PAGE, PROT_NONE);

	REQUIRE(p != NULL);
	/* Calls without a flag are left out: phys may find a page here. */
	make_all_calls((uintptr_t)p, OUT, 0);
	make_all_calls((uintptr_t)p, PATH, 0);
	EXPECT_EQ(munmap(p, PAGE), 0);
}

TEST(pointers_to_unwritable_memory)
{
	char *p = test_map(PAGE, PROT_READ);

	REQUIRE(p != NULL);
	make_all_calls((uintptr_t)p, OUT, 0);
	make_all_calls((uintptr_t)&make_all_calls, OUT, 0);
	make_all_calls((uintptr_t) "a constant", OUT, 0);
	EXPECT_EQ(munmap(p, PAGE), 0);
}

/* An object ends outside memory: EFAULT, or the part that has room. */
TEST(objects_that_end_in_a_hole)
{
	char *p = test_map(2 * PAGE, PROT_READ | PROT_WRITE);
	long got;

	REQUIRE(p != NULL);
	EXPECT_EQ(munmap(p + PAGE, PAGE), 0);
	for (unsigned i = 0; i < NCALL; i++) {
		memset(p, 'a', PAGE);
		if (calls[i].c_number == BARECPC_SYS_PHYS)
			continue;
		got = make_call(&calls[i], (uintptr_t)p + PAGE - 3);
		if (!EXPECT((got == -1 && errno == EFAULT) ||
			    (got >= 0 && got <= 3)))
			test_note("%s returned %ld", calls[i].c_name, got);
	}
	EXPECT_EQ(munmap(p, PAGE), 0);
}

TEST(vectors_of_bad_pointers)
{
	struct iovec iov[] = { { (void *)8, 64 },
		{ (void *)0xffffffff80000000, 64 } };

	EXPECT_ERRNO(readv(20, iov, 1), EFAULT);
	EXPECT_ERRNO(writev(1, iov, 1), EFAULT);
	EXPECT_ERRNO(readv(20, iov + 1, 1), EFAULT);
	EXPECT_ERRNO(writev(1, iov + 1, 1), EFAULT);
	iov[1].iov_len = SIZE_MAX;
	EXPECT(readv(20, iov + 1, 1) == -1);
	EXPECT(writev(1, iov + 1, 1) == -1);
}

TEST(futexes_at_bad_addresses)
{
	const int wait = 0; /* FUTEX_WAIT */
	struct timespec *bad = (struct timespec *)8;
	int word = 1;

	EXPECT_ERRNO(syscall(SYS_futex, 8, wait, 0, NULL), EFAULT);
	EXPECT_ERRNO(
	    syscall(SYS_futex, 0xffffffff80000000, wait, 0, NULL), EFAULT);
	/* The kernel reads the timeout first, whatever the word holds. */
	EXPECT_ERRNO(syscall(SYS_futex, &word, wait, 1, bad), EFAULT);
	EXPECT_ERRNO(syscall(SYS_futex, &word, wait, 0, bad), EFAULT);
	EXPECT_ERRNO(syscall(SYS_futex, &word, wait, 0, NULL), EAGAIN);
}

TEST(lengths_that_leave_the_address_space)
{
	char *p = test_map(2 * PAGE, PROT_READ | PROT_WRITE);
	long got;

	REQUIRE(p != NULL);
	EXPECT_EQ(munmap(p + PAGE, PAGE), 0);
	/* Refused as a whole, or done as far as there is room. */
	got = read(21, p, (size_t)1 << 47);
	EXPECT((got == -1 && errno == EFAULT) || (size_t)got <= PAGE);
	EXPECT_EQ(munmap(p, PAGE), 0);
	EXPECT_ERRNO(write(1, (void *)-16, 32), EFAULT);
	EXPECT(pwrite(26, scratch, (size_t)1 << 47, 0) == -1);
	EXPECT(pwrite(26, scratch, 1, INT64_MAX) == -1);
	EXPECT(ftruncate(26, INT64_MAX) == -1);
	EXPECT(posix_fallocate(26, INT64_MAX - 1, 1) != 0);
	EXPECT_ERRNO(mlock((void *)PAGE, -2 * PAGE), ENOMEM);
	EXPECT_ERRNO(msync((void *)PAGE, -2 * PAGE, MS_SYNC), ENOMEM);
}

TEST(the_program_continues)
{
	struct timespec ts;

	EXPECT_EQ(clock_gettime(CLOCK_MONOTONIC, &ts), 0);
	EXPECT_EQ(write(STDOUT_FILENO, "# alive\n", 8), 8);
}
