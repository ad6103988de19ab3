/* p_online(2), processor_bind(2) refuse wrong CPU IDs and form no pointer. */
#include "tests/lib/host/support.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "include/sys/barecpc.h"
#include "kern/arch.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/lock.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/cpu.h"
#include "kern/sched/sched.h"
#include "kern/sys/syscall.h"

/* The kernel's sched_yield() under its name in kernel_names.h. */
void kern_sched_yield(void);

#define P_ONLINE 2
#define P_STATUS 3
#define P_LWPID  8
#define P_MYID   (-1)

/* A machine with two CPUs; the second one never came up. */
struct cpu cpus[MAXCPU];
unsigned ncpu = 2;
static struct lwp self;

struct cpu *
arch_curcpu(void)
{
	cpus[0].c_lwp = &self;
	return &cpus[0];
}

const struct cpuset *
sched_cpus(void)
{
	static const struct cpuset first = { { 1 } };

	return &first;
}

/* These are never called with a refused ID. */

void
sched_online(struct cpu *c)
{
	assert_ptr_equal(c, NULL);
}

void
kernel_lock_yield(void)
{
}

void
sched_set_lowest(struct lwp *l, bool lowest)
{
}

int
sched_offline(struct cpu *c)
{
	assert_ptr_equal(c, NULL);
	return 0;
}

void
lwp_bind(struct lwp *l, struct cpu *c)
{
	assert_ptr_equal(c, NULL);
}

bool
lwp_set_affinity(struct lwp *l, const struct cpuset *wanted)
{
	return false;
}

/* Other functions that the file calls. */

struct spinlock klock;

void
kernel_lock_wait(void)
{
}

void
kern_sched_yield(void)
{
}

void
sched_move(struct lwp *l)
{
}

struct cpuset
sched_allowed(const struct lwp *l)
{
	return (struct cpuset){ { 1 } };
}

struct lwp *
lwp_find(int tid)
{
	return NULL;
}

struct proc *
proc_find(int pid)
{
	return NULL;
}

int
copyin(void *dst, uintptr_t uva, size_t len)
{
	memcpy(dst, (const void *)uva, len);
	return 0;
}

int
copyout(uintptr_t uva, const void *src, size_t len)
{
	memcpy((void *)uva, src, len);
	return 0;
}

static const int wild[] = { 1, 2, 3, MAXCPU - 1, MAXCPU, MAXCPU + 1, 4096,
	INT_MAX, INT_MAX - 1, -1, -2, -64, INT_MIN, INT_MIN + 1 };
#define NWILD (sizeof wild / sizeof *wild)

static intptr_t
call(uintptr_t op, int a, int b, int c)
{
	const uintptr_t args[6] = { op, (uintptr_t)a, (uintptr_t)b,
		(uintptr_t)c };

	return sched_syscall(args);
}

TEST(p_online_refuses_wild_ids)
{
	cpus[0].c_online = true;
	assert_int_equal(call(BARECPC_SCHED_ONLINE, 0, P_STATUS, 0), P_ONLINE);
	for (unsigned i = 0; i < NWILD; i++) {
		for (int op = 0; op < 5; op++)
			assert_int_equal(
			    call(BARECPC_SCHED_ONLINE, wild[i], op, 0),
			    -EINVAL);
	}
}

TEST(processor_bind_refuses_wild_ids)
{
	self.l_bound = -1;
	for (unsigned i = 0; i < NWILD; i++) {
		if (wild[i] == -1 || wild[i] == -2)
			continue; /* PBIND_NONE, PBIND_QUERY */
		assert_int_equal(
		    call(BARECPC_SCHED_BIND, P_LWPID, P_MYID, wild[i]),
		    -EINVAL);
	}
}
