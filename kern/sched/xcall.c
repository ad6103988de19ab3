#include "kern/sched/xcall.h"

#include <stddef.h>

#include "kern/arch.h"
#include "kern/sched/cpu.h"
#include "kern/sched/entry_watch.h"
#include "kern/sched/klock.h"

const struct entry_watch *entry_watch;

/* Only who holds the kernel lock calls: there is one call at a time. */
static struct {
	struct cpu *cpu; /* that is to do it; NULL once it has */
	void (*fn)(void *);
	void *arg;
} call;

void
xcall(struct cpu *c, void (*fn)(void *), void *arg)
{
	call.fn = fn;
	call.arg = arg;
	__atomic_store_n(&call.cpu, c, __ATOMIC_RELEASE);
	arch_ipi(c, IPI_CALL);
	while (__atomic_load_n(&call.cpu, __ATOMIC_ACQUIRE) != NULL)
		arch_relax();
}

static void
poll(void)
{
	if (__atomic_load_n(&call.cpu, __ATOMIC_ACQUIRE) != arch_curcpu())
		return;
	call.fn(call.arg);
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
		poll();
	} while (!lock_try(&klock));
}
