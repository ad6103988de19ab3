/*
 * Times on CPUs.  A switch reads the clock for them only once a program has
 * asked, or has forked.  A child's time may be asked for when it has ended.
 */
#include "kern/arch.h"
#include "kern/proc/proc.h"
#include "kern/sched/sched.h"

static bool accounts;

void
proc_account(void)
{
	uint64_t now = arch_tick();

	if (accounts)
		return;
	for (struct proc *p = allprocs; p != NULL; p = p->p_next)
		p->p_ran = now - p->p_started;
	sched_account(true);
	accounts = true;
}

void
proc_account_end(void)
{
	sched_account(false);
	accounts = false;
}

uint64_t
proc_ran(const struct proc *p)
{
	uint64_t ticks = p->p_ran;

	for (const struct lwp *l = p->p_lwps; l != NULL; l = l->l_sibling)
		ticks += sched_ran(l);
	return ticks;
}
