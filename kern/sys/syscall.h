/*
 * The system calls the kernel knows.  Included by kern/, and by arch/ whose
 * arch_sysmap[] turns the machine's Linux numbers into these.
 *
 * The private calls (0x4000 and up) are numbered in include/sys/barecpc.h,
 * alike on all machines, and are not in arch_sysmap[].
 */
#ifndef KERN_SYS_SYSCALL_H
#define KERN_SYS_SYSCALL_H

#include <stdint.h>

#include "include/sys/barecpc.h"

/* In the groups of kern/sys_*.c; X(name) stands for Linux's call `name`. */
#define SYSCALLS(X)                                                            \
	/* sys_file.c */                                                       \
	X(read)                                                                \
	X(write)                                                               \
	X(readv)                                                               \
	X(writev)                                                              \
	X(pread64)                                                             \
	/* sys_fd.c */                                                         \
	X(open)                                                                \
	X(openat)                                                              \
	X(close)                                                               \
	X(lseek)                                                               \
	X(dup)                                                                 \
	X(dup2)                                                                \
	X(dup3)                                                                \
	X(fcntl)                                                               \
	X(ioctl)                                                               \
	/* sys_stat.c */                                                       \
	X(stat)                                                                \
	X(lstat)                                                               \
	X(fstat)                                                               \
	X(newfstatat)                                                          \
	X(access)                                                              \
	X(faccessat)                                                           \
	X(readlink)                                                            \
	X(readlinkat)                                                          \
	X(getcwd)                                                              \
	X(getdents64)                                                          \
	/* sys_mem.c */                                                        \
	X(brk)                                                                 \
	X(mmap)                                                                \
	X(munmap)                                                              \
	X(mprotect)                                                            \
	X(mremap)                                                              \
	X(madvise)                                                             \
	/* sys_proc.c */                                                       \
	X(exit)                                                                \
	X(exit_group)                                                          \
	X(set_tid_address)                                                     \
	X(set_robust_list)                                                     \
	X(rseq)                                                                \
	X(getpid)                                                              \
	X(getppid)                                                             \
	X(gettid)                                                              \
	X(getuid)                                                              \
	X(geteuid)                                                             \
	X(getgid)                                                              \
	X(getegid)                                                             \
	/* fork.c */                                                           \
	X(clone)                                                               \
	X(clone_backwards)                                                     \
	X(fork)                                                                \
	X(vfork)                                                               \
	/* sys_exec.c */                                                       \
	X(execve)                                                              \
	/* sys_wait.c */                                                       \
	X(wait4)                                                               \
	X(waitid)                                                              \
	/* futex.c */                                                          \
	X(futex)                                                               \
	/* pipe.c */                                                           \
	X(pipe)                                                                \
	X(pipe2)                                                               \
	/* sys_sched.c */                                                      \
	X(sched_yield)                                                         \
	X(sched_getaffinity)                                                   \
	X(sched_setaffinity)                                                   \
	X(getcpu)                                                              \
	/* sys_info.c */                                                       \
	X(uname)                                                               \
	X(sysinfo)                                                             \
	X(getrandom)                                                           \
	X(prlimit64)                                                           \
	X(getrlimit)                                                           \
	X(getrusage)                                                           \
	/* sys_time.c */                                                       \
	X(clock_gettime)                                                       \
	X(clock_getres)                                                        \
	X(gettimeofday)                                                        \
	X(time)                                                                \
	X(nanosleep)                                                           \
	X(clock_nanosleep)                                                     \
	/* sys_itimer.c */                                                     \
	X(getitimer)                                                           \
	X(setitimer)                                                           \
	X(alarm)                                                               \
	/* sys_poll.c */                                                       \
	X(poll)                                                                \
	X(ppoll)                                                               \
	/* sys_sig.c */                                                        \
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

/* SYS_none is 0: what arch_sysmap[] does not mention is unknown. */
#define SYSCALL_ENUM(name) SYS_##name,
enum syscall { SYS_none, SYSCALLS(SYSCALL_ENUM) NSYSCALL };

/* sys_sched.c: the private call BARECPC_SYS_SCHED. */
intptr_t sched_syscall(const uintptr_t *a);

/* test_hooks.c: the private call BARECPC_SYS_TEST. */
intptr_t test_hooks_syscall(const uintptr_t *a);

/* A call's arguments are a[0..5]; the result is a value or -errno. */
typedef intptr_t syscall_fn(const uintptr_t *a);

#define SYSCALL_DECLARE(name) syscall_fn sys_##name;
SYSCALLS(SYSCALL_DECLARE)

/*
 * By the machine's numbers, and by those of private calls, from
 * BARECPC_SYS_CPC on.  Where there is no such call, there is one that says so.
 */
#define SYSCALL_NLINUX   512
#define SYSCALL_NPRIVATE 6
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

/* What the console calls it. */
const char *syscall_name(unsigned sysno);

/* Fill the table, and note what is in use before the first program. */
void syscall_init(void);

#endif /* KERN_SYS_SYSCALL_H */
