/*
 * The system calls of the kernel.  Included by kern/, and by arch/, whose
 * arch_sysmap[] maps the machine's Linux numbers to these.
 *
 * include/sys/barecpc.h numbers the private calls, from 0x4000 on.  They are
 * the same on all machines, and not in arch_sysmap[].
 */
#ifndef KERN_SYS_SYSCALL_H
#define KERN_SYS_SYSCALL_H

#include <stdint.h>

#include "include/sys/barecpc.h"

struct proc;

/* X(name) is Linux's call `name`.  They are grouped by file of kern/. */
#define SYSCALLS(X)                                                            \
	/* file.c */                                                           \
	X(read)                                                                \
	X(write)                                                               \
	X(readv)                                                               \
	X(writev)                                                              \
	X(pread64)                                                             \
	X(pwrite64)                                                            \
	/* fd.c */                                                             \
	X(open)                                                                \
	X(openat)                                                              \
	X(creat)                                                               \
	X(close)                                                               \
	X(lseek)                                                               \
	X(ftruncate)                                                           \
	X(fsync)                                                               \
	X(dup)                                                                 \
	X(dup2)                                                                \
	X(dup3)                                                                \
	X(fcntl)                                                               \
	X(ioctl)                                                               \
	/* stat.c */                                                           \
	X(stat)                                                                \
	X(lstat)                                                               \
	X(fstat)                                                               \
	X(newfstatat)                                                          \
	X(access)                                                              \
	X(faccessat)                                                           \
	X(faccessat2)                                                          \
	X(readlink)                                                            \
	X(readlinkat)                                                          \
	X(getcwd)                                                              \
	X(getdents64)                                                          \
	X(statfs)                                                              \
	X(fstatfs)                                                             \
	/* path.c */                                                           \
	X(mkdir)                                                               \
	X(mkdirat)                                                             \
	X(rmdir)                                                               \
	X(unlink)                                                              \
	X(unlinkat)                                                            \
	X(rename)                                                              \
	X(renameat)                                                            \
	X(renameat2)                                                           \
	X(chmod)                                                               \
	X(fchmod)                                                              \
	X(fchmodat)                                                            \
	X(chown)                                                               \
	X(fchown)                                                              \
	X(fchownat)                                                            \
	X(utimensat)                                                           \
	X(umask)                                                               \
	X(chdir)                                                               \
	X(fchdir)                                                              \
	/* epoll.c, event.c, timerfd.c, signalfd.c */                          \
	X(epoll_create)                                                        \
	X(epoll_create1)                                                       \
	X(epoll_ctl)                                                           \
	X(epoll_wait)                                                          \
	X(epoll_pwait)                                                         \
	X(epoll_pwait2)                                                        \
	X(eventfd)                                                             \
	X(eventfd2)                                                            \
	X(timerfd_create)                                                      \
	X(timerfd_settime)                                                     \
	X(timerfd_gettime)                                                     \
	X(signalfd4)                                                           \
	/* mem.c */                                                            \
	X(brk)                                                                 \
	X(mmap)                                                                \
	X(munmap)                                                              \
	X(mprotect)                                                            \
	X(mremap)                                                              \
	X(madvise)                                                             \
	X(mlock)                                                               \
	X(munlock)                                                             \
	X(mlockall)                                                            \
	X(munlockall)                                                          \
	X(membarrier)                                                          \
	/* proc.c */                                                           \
	X(exit)                                                                \
	X(exit_group)                                                          \
	X(set_tid_address)                                                     \
	X(set_robust_list)                                                     \
	X(get_robust_list)                                                     \
	X(socket)                                                              \
	X(not_socket)                                                          \
	X(prctl)                                                               \
	X(getpid)                                                              \
	X(getppid)                                                             \
	X(gettid)                                                              \
	X(getuid)                                                              \
	X(capget)                                                              \
	/* group.c */                                                          \
	X(setpgid)                                                             \
	X(getpgid)                                                             \
	X(getpgrp)                                                             \
	X(getsid)                                                              \
	X(setsid)                                                              \
	/* fork.c */                                                           \
	X(clone)                                                               \
	X(clone_backwards)                                                     \
	X(fork)                                                                \
	X(vfork)                                                               \
	/* exec.c */                                                           \
	X(execve)                                                              \
	/* wait.c */                                                           \
	X(wait4)                                                               \
	X(waitid)                                                              \
	/* futex.c */                                                          \
	X(futex)                                                               \
	/* pipe.c */                                                           \
	X(pipe)                                                                \
	X(pipe2)                                                               \
	/* sched.c */                                                          \
	X(sched_yield)                                                         \
	X(sched_getaffinity)                                                   \
	X(sched_setaffinity)                                                   \
	X(getcpu)                                                              \
	/* info.c */                                                           \
	X(uname)                                                               \
	X(sysinfo)                                                             \
	X(getrandom)                                                           \
	X(prlimit64)                                                           \
	X(getrlimit)                                                           \
	/* time.c */                                                           \
	X(clock_gettime)                                                       \
	X(clock_getres)                                                        \
	X(gettimeofday)                                                        \
	X(time)                                                                \
	X(nanosleep)                                                           \
	X(clock_nanosleep)                                                     \
	/* usage.c */                                                          \
	X(getrusage)                                                           \
	X(times)                                                               \
	/* itimer.c */                                                         \
	X(getitimer)                                                           \
	X(setitimer)                                                           \
	X(alarm)                                                               \
	/* poll.c */                                                           \
	X(poll)                                                                \
	X(ppoll)                                                               \
	X(select)                                                              \
	X(pselect6)                                                            \
	/* signal.c */                                                         \
	X(rt_sigaction)                                                        \
	X(rt_sigprocmask)                                                      \
	X(rt_sigpending)                                                       \
	X(rt_sigsuspend)                                                       \
	X(pause)                                                               \
	X(rt_sigtimedwait)                                                     \
	X(rt_sigreturn)                                                        \
	X(sigaltstack)                                                         \
	X(kill)                                                                \
	X(tkill)                                                               \
	X(tgkill)                                                              \
	X(rt_sigqueueinfo)                                                     \
	X(rt_tgsigqueueinfo)

/*
 * Y(name, other): Linux's call `name`, which sys_other() serves.  sys_absent()
 * returns ENOSYS.  Callers try such a call first and then do without, so the
 * console does not report it as unknown.
 */
#define SYSCALLS_SHARED(Y)                                                     \
	Y(rseq, absent)                                                        \
	Y(clone3, absent)                                                      \
	Y(personality, absent)                                                 \
	/* Copies in the kernel: callers read and write instead. */            \
	Y(sendfile, absent)                                                    \
	Y(copy_file_range, absent)                                             \
	Y(geteuid, getuid)                                                     \
	Y(getgid, getuid)                                                      \
	Y(getegid, getuid)

/* SYS_none is 0: a number that arch_sysmap[] leaves out is unknown. */
#define SYSCALL_ENUM(name)               SYS_##name,
#define SYSCALL_ENUM_SHARED(name, other) SYS_##name,
enum syscall {
	SYS_none,
	SYSCALLS(SYSCALL_ENUM) SYSCALLS_SHARED(SYSCALL_ENUM_SHARED) NSYSCALL
};

/* proc_files.c: register the files of /proc and /sys.  Once, at boot. */
void proc_files_init(void);

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

#define SYSCALL_DECLARE(name) syscall_fn sys_##name;
SYSCALLS(SYSCALL_DECLARE)

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

#endif /* KERN_SYS_SYSCALL_H */
