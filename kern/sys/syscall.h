/*
 * The system calls of the kernel.  Included by kern/, and by arch/, whose
 * arch_sysmap[] maps the machine's Linux numbers to these by this list.
 *
 * include/sys/barecpc.h numbers the private calls, from 0x4000 on.  They are
 * the same on all machines, and not in arch_sysmap[].
 */
#pragma once

#include <stdint.h>

#include "include/sys/barecpc.h"

struct proc;

/*
 * X(name, x86, arm64) is Linux's call `name`, with its numbers.  O(name, x86)
 * is an old call, which arm64 lacks.  They are grouped by file of kern/.
 *
 * Linux, arch/x86/entry/syscalls/syscall_64.tbl; include/uapi/asm-generic/
 * unistd.h.
 */
#define SYSCALLS(X, O)                                                         \
	/* file.c */                                                           \
	X(read, 0, 63)                                                         \
	X(write, 1, 64)                                                        \
	X(readv, 19, 65)                                                       \
	X(writev, 20, 66)                                                      \
	X(pread64, 17, 67)                                                     \
	X(preadv, 295, 69)                                                     \
	X(pwritev, 296, 70)                                                    \
	X(pwrite64, 18, 68)                                                    \
	/* fd.c */                                                             \
	O(open, 2)                                                             \
	X(openat, 257, 56)                                                     \
	O(creat, 85)                                                           \
	X(close, 3, 57)                                                        \
	X(lseek, 8, 62)                                                        \
	X(ftruncate, 77, 46)                                                   \
	X(fallocate, 285, 47)                                                  \
	X(fadvise64, 221, 223)                                                 \
	X(fsync, 74, 82)                                                       \
	X(dup, 32, 23)                                                         \
	O(dup2, 33)                                                            \
	X(dup3, 292, 24)                                                       \
	X(fcntl, 72, 25)                                                       \
	X(ioctl, 16, 29)                                                       \
	/* stat.c */                                                           \
	O(stat, 4)                                                             \
	O(lstat, 6)                                                            \
	X(fstat, 5, 80)                                                        \
	X(newfstatat, 262, 79)                                                 \
	X(statx, 332, 291)                                                     \
	X(no_xattr, 188, 5) /* setxattr; more in sysmap.c */                   \
	O(access, 21)                                                          \
	X(faccessat, 269, 48)                                                  \
	X(faccessat2, 439, 439)                                                \
	O(readlink, 89)                                                        \
	X(readlinkat, 267, 78)                                                 \
	X(getcwd, 79, 17)                                                      \
	X(getdents64, 217, 61)                                                 \
	X(statfs, 137, 43)                                                     \
	X(fstatfs, 138, 44)                                                    \
	/* path.c */                                                           \
	O(mkdir, 83)                                                           \
	X(mkdirat, 258, 34)                                                    \
	O(mknod, 133)                                                          \
	X(mknodat, 259, 33)                                                    \
	O(symlink, 88)                                                         \
	X(symlinkat, 266, 36)                                                  \
	O(link, 86)                                                            \
	X(linkat, 265, 37)                                                     \
	O(lchown, 94)                                                          \
	O(rmdir, 84)                                                           \
	O(unlink, 87)                                                          \
	X(unlinkat, 263, 35)                                                   \
	O(rename, 82)                                                          \
	X(renameat, 264, 38)                                                   \
	X(renameat2, 316, 276)                                                 \
	O(chmod, 90)                                                           \
	X(fchmod, 91, 52)                                                      \
	X(fchmodat, 268, 53)                                                   \
	O(chown, 92)                                                           \
	X(fchown, 93, 55)                                                      \
	X(fchownat, 260, 54)                                                   \
	X(utimensat, 280, 88)                                                  \
	X(truncate, 76, 45)                                                    \
	X(umask, 95, 166)                                                      \
	X(chdir, 80, 49)                                                       \
	X(fchdir, 81, 50)                                                      \
	X(perf_event_open, 298, 241)                                           \
	/* epoll.c, event.c, timerfd.c, signalfd.c */                          \
	O(epoll_create, 213)                                                   \
	X(epoll_create1, 291, 20)                                              \
	X(epoll_ctl, 233, 21)                                                  \
	O(epoll_wait, 232)                                                     \
	X(epoll_pwait, 281, 22)                                                \
	X(epoll_pwait2, 441, 441)                                              \
	O(eventfd, 284)                                                        \
	X(eventfd2, 290, 19)                                                   \
	X(timerfd_create, 283, 85)                                             \
	X(timerfd_settime, 286, 86)                                            \
	X(timerfd_gettime, 287, 87)                                            \
	X(signalfd4, 289, 74)                                                  \
	/* mem.c */                                                            \
	X(brk, 12, 214)                                                        \
	X(mmap, 9, 222)                                                        \
	X(munmap, 11, 215)                                                     \
	X(mprotect, 10, 226)                                                   \
	X(mremap, 25, 216)                                                     \
	X(madvise, 28, 233)                                                    \
	X(mlock, 149, 228)                                                     \
	X(munlock, 150, 229)                                                   \
	X(msync, 26, 227)                                                      \
	X(mlockall, 151, 230)                                                  \
	X(munlockall, 152, 231)                                                \
	X(membarrier, 324, 283)                                                \
	/* proc.c */                                                           \
	X(exit, 60, 93)                                                        \
	X(exit_group, 231, 94)                                                 \
	X(set_tid_address, 218, 96)                                            \
	X(set_robust_list, 273, 99)                                            \
	X(get_robust_list, 274, 100)                                           \
	X(socket, 41, 198)                                                     \
	X(not_socket, 288, 242) /* accept4; more in sysmap.c */                \
	X(prctl, 157, 167)                                                     \
	X(getpid, 39, 172)                                                     \
	X(getppid, 110, 173)                                                   \
	X(gettid, 186, 178)                                                    \
	X(setresuid, 117, 147)                                                 \
	X(getresuid, 118, 148)                                                 \
	X(getgroups, 115, 158)                                                 \
	X(getuid, 102, 174)                                                    \
	X(capget, 125, 90)                                                     \
	/* group.c */                                                          \
	X(setpgid, 109, 154)                                                   \
	X(getpgid, 121, 155)                                                   \
	O(getpgrp, 111)                                                        \
	X(getsid, 124, 156)                                                    \
	X(setsid, 112, 157)                                                    \
	/* fork.c */                                                           \
	X(clone, 56, 220)                                                      \
	O(fork, 57)                                                            \
	O(vfork, 58)                                                           \
	/* exec.c */                                                           \
	X(execve, 59, 221)                                                     \
	/* wait.c */                                                           \
	X(wait4, 61, 260)                                                      \
	X(waitid, 247, 95)                                                     \
	/* futex.c */                                                          \
	X(futex, 202, 98)                                                      \
	/* pipe.c */                                                           \
	O(pipe, 22)                                                            \
	X(pipe2, 293, 59)                                                      \
	/* sched.c */                                                          \
	X(sched_yield, 24, 124)                                                \
	X(sched_getaffinity, 204, 123)                                         \
	X(sched_setaffinity, 203, 122)                                         \
	X(getcpu, 309, 168)                                                    \
	/* info.c */                                                           \
	X(uname, 63, 160)                                                      \
	X(sysinfo, 99, 179)                                                    \
	X(getrandom, 318, 278)                                                 \
	X(prlimit64, 302, 261)                                                 \
	X(getrlimit, 97, 163)                                                  \
	/* time.c */                                                           \
	X(clock_gettime, 228, 113)                                             \
	X(clock_getres, 229, 114)                                              \
	X(gettimeofday, 96, 169)                                               \
	O(time, 201)                                                           \
	X(nanosleep, 35, 101)                                                  \
	X(clock_nanosleep, 230, 115)                                           \
	/* usage.c */                                                          \
	X(getrusage, 98, 165)                                                  \
	X(times, 100, 153)                                                     \
	/* itimer.c */                                                         \
	X(getitimer, 36, 102)                                                  \
	X(setitimer, 38, 103)                                                  \
	O(alarm, 37)                                                           \
	/* poll.c */                                                           \
	O(poll, 7)                                                             \
	X(ppoll, 271, 73)                                                      \
	O(select, 23)                                                          \
	X(pselect6, 270, 72)                                                   \
	/* signal.c */                                                         \
	X(rt_sigaction, 13, 134)                                               \
	X(rt_sigprocmask, 14, 135)                                             \
	X(rt_sigpending, 127, 136)                                             \
	X(rt_sigsuspend, 130, 133)                                             \
	O(pause, 34)                                                           \
	X(rt_sigtimedwait, 128, 137)                                           \
	X(rt_sigreturn, 15, 139)                                               \
	X(sigaltstack, 131, 132)                                               \
	X(kill, 62, 129)                                                       \
	X(tkill, 200, 130)                                                     \
	X(tgkill, 234, 131)                                                    \
	X(rt_sigqueueinfo, 129, 138)                                           \
	X(rt_tgsigqueueinfo, 297, 240)

/*
 * Y(name, other, x86, arm64): Linux's call `name`, which sys_other() serves.
 * sys_absent() returns ENOSYS.  Callers try such a call first and then do
 * without, so the console does not report it as unknown.
 */
#define SYSCALLS_SHARED(Y)                                                     \
	Y(rseq, absent, 334, 293)                                              \
	Y(clone3, absent, 435, 435)                                            \
	Y(personality, absent, 135, 92)                                        \
	/* Copies in the kernel: callers read and write instead. */            \
	Y(sendfile, absent, 40, 71)                                            \
	Y(copy_file_range, absent, 326, 285)                                   \
	Y(fdatasync, fsync, 75, 83)                                            \
	Y(setresgid, setresuid, 119, 149)                                      \
	Y(getresgid, getresuid, 120, 150)                                      \
	Y(socketpair, socket, 53, 199)                                         \
	Y(geteuid, getuid, 107, 175)                                           \
	Y(getgid, getuid, 104, 176)                                            \
	Y(getegid, getuid, 108, 177)

/* SYS_none is 0: a number that arch_sysmap[] leaves out is unknown. */
#define SYSCALL_ENUM(name, ...) SYS_##name,
enum syscall {
	SYS_none,
	SYSCALLS(SYSCALL_ENUM, SYSCALL_ENUM) SYSCALLS_SHARED(SYSCALL_ENUM)
	    NSYSCALL
};

/* proc_files.c: register the files of /proc and /sys.  Once, at boot. */
void proc_files_init(void);
/* perf_event.c: register its files, and what kcpc calls.  Once, at boot. */
void perf_event_init(void);

/* sched.c: the private call BARECPC_SYS_SCHED. */
intptr_t sched_syscall(const uintptr_t *a);

/* control.c: the private call BARECPC_SYS_CONTROL. */
intptr_t control_syscall(const uintptr_t *a);
/* kern/sys/screen.c */
intptr_t screen_syscall(const uintptr_t *a);

/* test_hooks.c: the private call BARECPC_SYS_TEST. */
intptr_t test_hooks_syscall(const uintptr_t *a);

/* A call gets its arguments in a[0..5], and returns a value or -errno. */
typedef intptr_t syscall_fn(const uintptr_t *a);

#define SYSCALL_DECLARE(name, ...) syscall_fn sys_##name;
SYSCALLS(SYSCALL_DECLARE, SYSCALL_DECLARE)

/*
 * The calls by the machine's Linux numbers, and the private calls from
 * BARECPC_SYS_CPC on.  Entries without a call hold syscall_unknown().
 */
#define SYSCALL_NLINUX   512
#define SYSCALL_NPRIVATE 11
extern syscall_fn *syscall_linux[SYSCALL_NLINUX];
extern syscall_fn *const syscall_private[SYSCALL_NPRIVATE];
syscall_fn syscall_unknown;

static inline syscall_fn *
syscall_find(unsigned sysno)
{
	if (sysno < SYSCALL_NLINUX)
		return syscall_linux[sysno];
	if (sysno - BARECPC_SYS_CPC < SYSCALL_NPRIVATE)
		return syscall_private[sysno - BARECPC_SYS_CPC];
	return syscall_unknown;
}

/* The name of a call on the console. */
const char *syscall_name(unsigned sysno);

/* Fill the table.  Called before the first program, to record memory in use. */
void syscall_init(void);

/* progress.c: a program, or a line of joined programs, starts. */
void progress_program(const char *name);
/* The system call progress(done, total) of <sys/barecpc.h>. */
syscall_fn sys_progress;

/*
 * usage.c: write the struct rusage of an ended child; NULL: of none.  An
 * address of 0 is skipped.  Returns 0 or EFAULT.
 */
int usage_copyout(uintptr_t uva, const struct proc *child);
