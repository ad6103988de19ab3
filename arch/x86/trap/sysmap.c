/*
 * The map from Linux's numbers of system calls on x86-64 to the kernel's own
 * numbers, and arch_prctl(2), which only x86 has.
 *
 * Linux, arch/x86/entry/syscalls/syscall_64.tbl.
 */
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/sys/syscall.h"

const int16_t arch_sysmap[] = {
	[0] = SYS_read,
	[1] = SYS_write,
	[2] = SYS_open,
	[3] = SYS_close,
	[4] = SYS_stat,
	[5] = SYS_fstat,
	[6] = SYS_lstat,
	[7] = SYS_poll,
	[8] = SYS_lseek,
	[9] = SYS_mmap,
	[10] = SYS_mprotect,
	[11] = SYS_munmap,
	[12] = SYS_brk,
	[13] = SYS_rt_sigaction,
	[14] = SYS_rt_sigprocmask,
	[15] = SYS_rt_sigreturn,
	[16] = SYS_ioctl,
	[17] = SYS_pread64,
	[18] = SYS_pwrite64,
	[19] = SYS_readv,
	[20] = SYS_writev,
	[21] = SYS_access,
	[22] = SYS_pipe,
	[23] = SYS_select,
	[24] = SYS_sched_yield,
	[25] = SYS_mremap,
	[28] = SYS_madvise,
	[32] = SYS_dup,
	[33] = SYS_dup2,
	[34] = SYS_pause,
	[35] = SYS_nanosleep,
	[36] = SYS_getitimer,
	[37] = SYS_alarm,
	[38] = SYS_setitimer,
	[39] = SYS_getpid,
	[40] = SYS_sendfile,
	[41] = SYS_socket,
	[42 ... 52] = SYS_not_socket,
	[53] = SYS_socket, /* socketpair */
	[54 ... 55] = SYS_not_socket,
	[56] = SYS_clone,
	[57] = SYS_fork,
	[58] = SYS_vfork,
	[59] = SYS_execve,
	[60] = SYS_exit,
	[61] = SYS_wait4,
	[62] = SYS_kill,
	[63] = SYS_uname,
	[72] = SYS_fcntl,
	[74] = SYS_fsync,
	[75] = SYS_fsync,
	[77] = SYS_ftruncate,
	[79] = SYS_getcwd,
	[80] = SYS_chdir,
	[81] = SYS_fchdir,
	[82] = SYS_rename,
	[83] = SYS_mkdir,
	[84] = SYS_rmdir,
	[85] = SYS_creat,
	[87] = SYS_unlink,
	[89] = SYS_readlink,
	[90] = SYS_chmod,
	[91] = SYS_fchmod,
	[92] = SYS_chown,
	[93] = SYS_fchown,
	[94] = SYS_chown, /* lchown */
	[95] = SYS_umask,
	[96] = SYS_gettimeofday,
	[97] = SYS_getrlimit,
	[98] = SYS_getrusage,
	[99] = SYS_sysinfo,
	[100] = SYS_times,
	[102] = SYS_getuid,
	[104] = SYS_getgid,
	[107] = SYS_geteuid,
	[108] = SYS_getegid,
	[109] = SYS_setpgid,
	[110] = SYS_getppid,
	[111] = SYS_getpgrp,
	[112] = SYS_setsid,
	[121] = SYS_getpgid,
	[124] = SYS_getsid,
	[125] = SYS_capget,
	[127] = SYS_rt_sigpending,
	[128] = SYS_rt_sigtimedwait,
	[129] = SYS_rt_sigqueueinfo,
	[130] = SYS_rt_sigsuspend,
	[131] = SYS_sigaltstack,
	[135] = SYS_personality,
	[137] = SYS_statfs,
	[138] = SYS_fstatfs,
	[149] = SYS_mlock,
	[150] = SYS_munlock,
	[151] = SYS_mlockall,
	[152] = SYS_munlockall,
	[157] = SYS_prctl,
	[186] = SYS_gettid,
	[200] = SYS_tkill,
	[201] = SYS_time,
	[202] = SYS_futex,
	[203] = SYS_sched_setaffinity,
	[204] = SYS_sched_getaffinity,
	[213] = SYS_epoll_create,
	[217] = SYS_getdents64,
	[218] = SYS_set_tid_address,
	[228] = SYS_clock_gettime,
	[229] = SYS_clock_getres,
	[230] = SYS_clock_nanosleep,
	[231] = SYS_exit_group,
	[232] = SYS_epoll_wait,
	[233] = SYS_epoll_ctl,
	[234] = SYS_tgkill,
	[247] = SYS_waitid,
	[257] = SYS_openat,
	[258] = SYS_mkdirat,
	[260] = SYS_fchownat,
	[262] = SYS_newfstatat,
	[263] = SYS_unlinkat,
	[264] = SYS_renameat,
	[267] = SYS_readlinkat,
	[268] = SYS_fchmodat,
	[269] = SYS_faccessat,
	[270] = SYS_pselect6,
	[271] = SYS_ppoll,
	[273] = SYS_set_robust_list,
	[274] = SYS_get_robust_list,
	[280] = SYS_utimensat,
	[281] = SYS_epoll_pwait,
	[283] = SYS_timerfd_create,
	[284] = SYS_eventfd,
	[286] = SYS_timerfd_settime,
	[287] = SYS_timerfd_gettime,
	[288] = SYS_not_socket, /* accept4 */
	[289] = SYS_signalfd4,
	[290] = SYS_eventfd2,
	[291] = SYS_epoll_create1,
	[292] = SYS_dup3,
	[293] = SYS_pipe2,
	[297] = SYS_rt_tgsigqueueinfo,
	[302] = SYS_prlimit64,
	[309] = SYS_getcpu,
	[316] = SYS_renameat2,
	[318] = SYS_getrandom,
	[324] = SYS_membarrier,
	[326] = SYS_copy_file_range,
	[334] = SYS_rseq,
	[435] = SYS_clone3,
	[439] = SYS_faccessat2,
	[441] = SYS_epoll_pwait2,
};
const unsigned arch_sysmap_len = sizeof arch_sysmap / sizeof arch_sysmap[0];

/* Linux, include/uapi/linux/eventpoll.h: `data` is packed. */
const unsigned arch_epoll_data = 4;
/* Linux, include/uapi/asm-generic/fcntl.h. */
const unsigned arch_o_directory = 0200000;

#define SYS_ARCH_PRCTL 158
#define ARCH_SET_GS    0x1001
#define ARCH_SET_FS    0x1002
#define ARCH_GET_FS    0x1003
#define ARCH_GET_GS    0x1004

static intptr_t
arch_prctl(unsigned code, uintptr_t arg)
{
	uintptr_t base;

	switch (code) {
	case ARCH_SET_FS:
	case ARCH_SET_GS:
		/* entry.S takes an upper address for the kernel's base. */
		if (arg >= USER_TOP)
			return -EPERM;
		if (code == ARCH_SET_FS)
			arch_set_tls(arg);
		else
			x86_set_gs(arg);
		return 0;
	case ARCH_GET_FS:
	case ARCH_GET_GS:
		base = code == ARCH_GET_FS ? arch_get_tls() : x86_get_gs();
		return -copyout(arg, &base, sizeof base);
	default:
		return -EINVAL;
	}
}

intptr_t
arch_syscall(unsigned sysno, const uintptr_t *a)
{
	if (sysno != SYS_ARCH_PRCTL)
		return -ENOSYS;
	return arch_prctl((unsigned)a[0], a[1]);
}
