/* Cross-calls between CPUs, and waiting for the kernel lock. */
#include "kern/sched/xcall.h"

#include <stddef.h>

#include "kern/arch.h"
#include "kern/sched/cpu.h"
#include "kern/sched/klock.h"
#include "kern/sched/timer.h"

const struct entry_watch *entry_watch;

/* The pending call.  There is only one: callers hold the kernel lock. */
static struct {
	struct cpu *cpu; /* the CPU to run it; NULL when done */
	void (*fn)(void *);
	void *arg;
	bool again; /* run it again while this is true */
} call;

void
xcall_start(struct cpu *c, void (*fn)(void *), void *arg, bool again)
{
	call.fn = fn;
	call.arg = arg;
	call.again = again;
	__atomic_store_n(&call.cpu, c, __ATOMIC_RELEASE);
	arch_ipi(c, IPI_CALL);
}

void
xcall_end(void)
{
	__atomic_store_n(&call.again, false, __ATOMIC_RELAXED);
	while (__atomic_load_n(&call.cpu, __ATOMIC_ACQUIRE) != NULL)
		arch_relax();
}

void
xcall(struct cpu *c, void (*fn)(void *), void *arg)
{
	xcall_start(c, fn, arg, false);
	xcall_end();
}

static void
poll_call(void)
{
	if (__atomic_load_n(&call.cpu, __ATOMIC_ACQUIRE) != arch_curcpu())
		return;
	do
		call.fn(call.arg);
	while (__atomic_load_n(&call.again, __ATOMIC_RELAXED));
	__atomic_store_n(&call.cpu, NULL, __ATOMIC_RELEASE);
}

bool klock_wanted;

/* How long a CPU waits for the lock before it demands it. */
#define PATIENCE_NS 1000000

/*
 * Interrupt the other CPUs: on their way to user code they give the lock up, in
 * ipi_intr().
 */
static void
demand_lock(void)
{
	const struct cpu *self = arch_curcpu();

	__atomic_store_n(&klock_wanted, true, __ATOMIC_RELAXED);
	for (struct cpu *c = cpus; c < cpus + ncpu; c++) {
		if (c != self && c->c_lwp != c->c_idle)
			arch_ipi(c, IPI_RESCHED);
	}
}

void
kernel_lock_wait(void)
{
	if (entry_watch != NULL) { /* there is no other CPU */
		entry_watch->enter();
		return;
	}
	uint64_t since = arch_tick();
	do {
		arch_relax();
		poll_call();
		if (arch_tick() - since > ns_to_tick(PATIENCE_NS)) {
			demand_lock();
			since = arch_tick();
		}
	} while (!lock_try(&klock));
	__atomic_store_n(&klock_wanted, false, __ATOMIC_RELAXED);
}

void
kernel_lock_yield(void)
{
	if (ncpu == 1)
		return;
	kernel_unlock();
	do {
		arch_relax();
		poll_call();
	} while (__atomic_load_n(&klock_wanted, __ATOMIC_RELAXED));
	kernel_lock();
}
