/*
 * System calls on processes and LWPs.
 */
#include "kern/arch.h"
#include "kern/cpu.h"
#include "kern/errno.h"
#include "kern/lwp.h"
#include "kern/proc.h"
#include "kern/syscall.h"
#include "kern/usercopy.h"

intptr_t
sys_exit_group(const uintptr_t *a)
{
	proc_kill(proc_self(), (int)a[0]);
	return 0; /* trap_return() lets the LWP exit */
}

/* A process has one LWP. */
intptr_t
sys_exit(const uintptr_t *a)
{
	return sys_exit_group(a);
}

static intptr_t
tid(void)
{
	/* As in Linux the first LWP has its process's number. */
	return proc_self()->p_pid + lwp_self()->l_id - 1;
}

intptr_t
sys_set_tid_address(const uintptr_t *a)
{
	lwp_self()->l_clear_tid = a[0];
	return tid();
}

/* Robust futexes matter to other processes, and nobody shares memory. */
intptr_t
sys_set_robust_list(const uintptr_t *a)
{
	return a[1] == 24 ? 0 : -EINVAL;
}

/* Restartable sequences are an option; C libraries do without. */
intptr_t
sys_rseq(const uintptr_t *a)
{
	(void)a;
	return -ENOSYS;
}

intptr_t
sys_getpid(const uintptr_t *a)
{
	(void)a;
	return proc_self()->p_pid;
}

intptr_t
sys_getppid(const uintptr_t *a)
{
	(void)a;
	return 0;
}

intptr_t
sys_gettid(const uintptr_t *a)
{
	(void)a;
	return tid();
}

/* There is one user, and it is root. */
intptr_t
sys_getuid(const uintptr_t *a)
{
	(void)a;
	return 0;
}

intptr_t
sys_geteuid(const uintptr_t *a)
{
	return sys_getuid(a);
}

intptr_t
sys_getgid(const uintptr_t *a)
{
	return sys_getuid(a);
}

intptr_t
sys_getegid(const uintptr_t *a)
{
	return sys_getuid(a);
}

#define FUTEX_WAIT        0
#define FUTEX_WAKE        1
#define FUTEX_WAIT_BITSET 9
#define FUTEX_WAKE_BITSET 10
#define FUTEX_CMD_MASK    0x7f

/*
 * With one LWP in a process nobody waits and nobody will wake: a wait ends
 * at its timeout, and one without a timeout is a deadlock.
 */
static intptr_t
futex_sleep(uint64_t deadline)
{
	struct waitq wq = { 0 };
	int err;

	lock_acquire(&wq.wq_lock);
	err = waitq_sleep(&wq, deadline);
	lock_release(&wq.wq_lock);
	return -err;
}

static intptr_t
futex_wait(const uintptr_t *a, bool absolute)
{
	int64_t ts[2];
	uint32_t value;
	hrtime_t ns;
	uint64_t deadline;

	if (copyin(&value, a[0], sizeof value) != 0)
		return -EFAULT;
	if (value != (uint32_t)a[2])
		return -EAGAIN;
	if (a[3] == 0)
		return futex_sleep(~0ULL); /* only its end ends it */
	if (copyin(ts, a[3], sizeof ts) != 0)
		return -EFAULT;
	if (ts[0] < 0 || ts[1] < 0 || ts[1] >= 1000000000)
		return -EINVAL;
	ns = ts[0] > INT64_MAX / 2000000000 ? INT64_MAX
	                                    : ts[0] * 1000000000 + ts[1];
	deadline = ns_to_tick(ns);
	if (!absolute &&
	    __builtin_add_overflow(deadline, arch_tick(), &deadline))
		deadline = ~0ULL;
	return futex_sleep(deadline);
}

intptr_t
sys_futex(const uintptr_t *a)
{
	switch (a[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
		return futex_wait(a, false);
	case FUTEX_WAIT_BITSET:
		return futex_wait(a, true);
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		return 0;
	default:
		return -ENOSYS;
	}
}

intptr_t
sys_sched_yield(const uintptr_t *a)
{
	(void)a;
	sched_yield();
	return 0;
}

#define CPUSET_BYTES (MAXCPU / 8)

/* An LWP runs where it was put: its own CPU is the whole of its set. */
intptr_t
sys_sched_getaffinity(const uintptr_t *a)
{
	uint64_t set = 1ULL << lwp_self()->l_cpu->c_id;

	if (a[1] < CPUSET_BYTES || a[1] % 8 != 0)
		return -EINVAL;
	if (copyout(a[2], &set, sizeof set) != 0)
		return -EFAULT;
	return CPUSET_BYTES;
}

intptr_t
sys_sched_setaffinity(const uintptr_t *a)
{
	size_t bytes = a[1] < CPUSET_BYTES ? a[1] : CPUSET_BYTES;
	uint64_t set = 0;

	if (copyin(&set, a[2], bytes) != 0)
		return -EFAULT;
	return set >> lwp_self()->l_cpu->c_id & 1 ? 0 : -EINVAL;
}

intptr_t
sys_getcpu(const uintptr_t *a)
{
	uint32_t cpu = arch_curcpu()->c_id, node = 0;

	if (a[0] != 0 && copyout(a[0], &cpu, sizeof cpu) != 0)
		return -EFAULT;
	if (a[1] != 0 && copyout(a[1], &node, sizeof node) != 0)
		return -EFAULT;
	return 0;
}
