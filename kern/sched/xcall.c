/*
 * Cross-calls between CPUs, and waiting for the kernel lock.
 */
#include "kern/sched/xcall.h"

#include <stddef.h>

#include "kern/arch.h"
#include "kern/sched/cpu.h"
#include "kern/sched/entry_watch.h"
#include "kern/sched/klock.h"

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

void
kernel_lock_wait(void)
{
	if (entry_watch != NULL) { /* there is no other CPU */
		entry_watch->enter();
		return;
	}
	do {
		arch_relax();
		poll_call();
	} while (!lock_try(&klock));
}

void
kernel_lock_yield(void)
{
	if (ncpu == 1)
		return;
	kernel_unlock();
	arch_relax();
	kernel_lock();
}
