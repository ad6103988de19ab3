/* System calls that say where LWPs run, of Linux, Solaris and illumos. */
#include "kern/sched/sched.h"
#include "include/sys/barecpc.h"
#include "kern/arch.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/cpu.h"
#include "kern/sched/klock.h"
#include "kern/sys/syscall.h"

#define CPUSET_BYTES (MAXCPU / 8)

intptr_t
sys_sched_yield(const uintptr_t *)
{
	const struct cpu *c = arch_curcpu();

	/* No LWP waits for this CPU: perhaps the caller waits for another. */
	if (c->c_runq.q_first == NULL && c->c_woken.q_first == NULL)
		kernel_lock_yield();
	sched_yield();
	return 0;
}

/* The LWP with a Linux thread id; 0: the caller.  NULL if it is not found. */
static struct lwp *
by_tid(uintptr_t tid)
{
	return tid == 0 ? lwp_self() : lwp_find((int)tid);
}

intptr_t
sys_sched_getaffinity(const uintptr_t *a)
{
	struct lwp *l = by_tid(a[0]);
	size_t bytes = a[1] < CPUSET_BYTES ? a[1] : CPUSET_BYTES;

	/* As in Linux: whole words, with room for all CPUs. */
	if (a[1] % 8 != 0 || bytes * 8 < ncpu)
		return -EINVAL;
	if (l == NULL)
		return -ESRCH;
	struct cpuset set = sched_allowed(l);
	if (copyout(a[2], &set, bytes) != 0)
		return -EFAULT;
	return (intptr_t)bytes;
}

intptr_t
sys_sched_setaffinity(const uintptr_t *a)
{
	size_t bytes = a[1] < CPUSET_BYTES ? a[1] : CPUSET_BYTES;
	struct lwp *l = by_tid(a[0]);
	struct cpuset set = { { 0 } };

	if (copyin(&set, a[2], bytes) != 0)
		return -EFAULT;
	if (l == NULL)
		return -ESRCH;
	/* The LWP may have a set of a core type, which restricts it. */
	return lwp_set_affinity(l, &set) ? 0 : -EINVAL;
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

/* processor_bind(2) and p_online(2). */

#define P_OFFLINE 1
#define P_ONLINE  2
#define P_STATUS  3

#define P_PID   1
#define P_LWPID 8
#define P_MYID  (-1)

#define PBIND_NONE  (-1)
#define PBIND_QUERY (-2)

static int
bind_one(struct lwp *l, int cpu, int *old)
{
	*old = l->l_bound >= 0 ? l->l_bound : PBIND_NONE;
	if (cpu == PBIND_QUERY)
		return 0;
	if (cpu != PBIND_NONE && (cpu < 0 || (unsigned)cpu >= ncpu ||
				     !cpuset_has(sched_cpus(), (unsigned)cpu)))
		return EINVAL;
	lwp_bind(l, cpu == PBIND_NONE ? NULL : &cpus[cpu]);
	return 0;
}

static int
bind_process(struct proc *p, int cpu, int *old)
{
	int err = 0;

	for (struct lwp *l = p->p_lwps; l != NULL && err == 0; l = l->l_sibling)
		err = bind_one(l, cpu, old);
	return err;
}

static intptr_t
processor_bind(int idtype, int id, int cpu, uintptr_t old_uva)
{
	struct proc *p = proc_self();
	struct lwp *l;
	int err, old = PBIND_NONE;

	switch (idtype) {
	case P_LWPID:
		l = id == P_MYID ? lwp_self() : lwp_by_id(p, id);
		if (l == NULL)
			return -ESRCH;
		err = bind_one(l, cpu, &old);
		break;
	case P_PID:
		if (id != P_MYID && (p = proc_find(id)) == NULL)
			return -ESRCH;
		err = bind_process(p, cpu, &old);
		break;
	default:
		return -EINVAL;
	}
	if (err != 0)
		return -err;
	return old_uva != 0 ? -copyout(old_uva, &old, sizeof old) : 0;
}

/* Returns whether the LWPs were of the lowest class, or -errno. */
static intptr_t
set_lowest(int idtype, int id, int lowest)
{
	struct proc *p = proc_self();
	struct lwp *l;

	if (idtype == P_LWPID) {
		l = id == P_MYID ? lwp_self() : lwp_by_id(p, id);
	} else if (idtype == P_PID) {
		p = id == P_MYID ? p : proc_find(id);
		l = p == NULL ? NULL : p->p_lwps;
	} else {
		return -EINVAL;
	}
	if (l == NULL)
		return -ESRCH;
	bool was = l->l_lowest;
	for (; l != NULL && lowest >= 0; l = l->l_sibling) {
		sched_set_lowest(l, lowest != 0);
		if (idtype == P_LWPID)
			break;
	}
	return was;
}

static intptr_t
p_online(int cpu, int state)
{
	int err = 0;

	if (cpu < 0 || (unsigned)cpu >= ncpu || !cpus[cpu].c_online)
		return -EINVAL;
	struct cpu *c = &cpus[cpu];
	bool was = cpuset_has(sched_cpus(), (unsigned)cpu);
	if (state == P_ONLINE && !was)
		sched_online(c);
	else if (state == P_OFFLINE && was)
		err = sched_offline(c);
	else if (state != P_ONLINE && state != P_OFFLINE && state != P_STATUS)
		err = EINVAL;
	return err != 0 ? -err : was ? P_ONLINE : P_OFFLINE;
}

intptr_t
sched_syscall(const uintptr_t *a)
{
	switch (a[0]) {
	case BARECPC_SCHED_BIND:
		return processor_bind((int)a[1], (int)a[2], (int)a[3], a[4]);
	case BARECPC_SCHED_ONLINE:
		return p_online((int)a[1], (int)a[2]);
	case BARECPC_SCHED_LOWEST:
		return set_lowest((int)a[1], (int)a[2], (int)a[3]);
	default:
		return -EINVAL;
	}
}
