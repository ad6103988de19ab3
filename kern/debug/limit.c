/*
 * Measures each entry to the kernel, and ends the run at one that takes too
 * long: kernel_limit= on the command line.
 */
#include "kern/debug/debug.h"

#include "kern/arch.h"
#include "kern/platform/entry_budget.h"
#include "kern/platform/run_end.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/proc/signal.h"
#include "kern/sched/cpu.h"
#include "kern/sched/xcall.h"
#include "kern/sys/syscall.h"
#include "lib/printf.h"
#include "lib/string.h"

static uint64_t may_take, per_page;

struct entry {
	uint64_t tick; /* at its begin */
	bool counts;   /* false: a kernel thread, which has no limit */
	bool switched; /* it began with a switch */
	bool is_call;
	unsigned sysno;
	int pid; /* 0: the CPU was idle */
	uintptr_t pc;
	char name[32];  /* of the program */
	uint64_t taken; /* instructions, at its end */
	uint64_t pages; /* pages that it worked on */
};

/* The current entry, and the one with the greatest own_cost(). */
static struct entry entry, dearest;

static void
entry_begin(bool switched)
{
	const struct lwp *l = lwp_self();
	const struct proc *p = l->l_proc;

	entry.switched = switched;
	entry.counts = p != NULL || (l == l->l_cpu->c_idle && !switched);
	entry.pid = 0;
	if (p != NULL) {
		entry.pid = p->p_pid;
		strlcpy(entry.name, p->p_name, sizeof entry.name);
		entry.is_call = tf_is_syscall(l->l_tf);
		entry.sysno = tf_sysno(l->l_tf);
		entry.pc = tf_pc(l->l_tf);
	}
	entry_budget_pages = 0;
	entry.tick = arch_tick();
}

/* The process of the entry may have ended or executed another program. */
static void
print_entry(const char *what, const struct entry *e)
{
	const struct proc *p = proc_find(e->pid);
	char where[FAULT_WHERE_MAX];

	snprintf(where, sizeof where, "0x%lx", (unsigned long)e->pc);
	if (p != NULL)
		fault_where(p, e->pc, where, sizeof where);
	printf("barecpc: kernel_limit: %s", what);
	if (e->pid == 0)
		printf("an interrupt of the idle CPU");
	else
		printf("%s: %s at pc %s%s", e->name,
		    e->is_call ? syscall_name(e->sysno)
			       : "an interrupt or a fault",
		    where, e->switched ? ", after a switch," : "");
	printf(" took %lu instructions in the kernel, for %lu page(s): %lu and "
	       "%lu for each are allowed\n",
	    (unsigned long)e->taken, (unsigned long)e->pages,
	    (unsigned long)may_take, (unsigned long)per_page);
}

/* The instructions of an entry, less those allowed for its pages. */
static int64_t
own_cost(const struct entry *e)
{
	return (int64_t)(e->taken - e->pages * per_page);
}

static void
entry_check(void)
{
	if (!entry.counts)
		return;
	entry.taken = (uint64_t)tick_to_ns(arch_tick() - entry.tick);
	entry.pages = entry_budget_pages;
	if (dearest.taken == 0 || own_cost(&entry) > own_cost(&dearest))
		dearest = entry;
	if (own_cost(&entry) <= (int64_t)may_take)
		return;
	print_entry("", &entry);
	entry_watch = NULL;
	run_end(EXIT_FAILED);
}

static void
limit_enter(void)
{
	entry_begin(false);
}

static void
limit_leave(struct lwp *l)
{
	entry_check();
	l->l_ast |= AST_WATCH;
}

static void
limit_switched(void)
{
	entry_check();
	entry_begin(true);
}

void
limit_print(void)
{
	if (entry_watch != NULL && dearest.taken != 0)
		print_entry("at most: ", &dearest);
}

bool
limit_init(uint64_t instructions, uint64_t each)
{
	static struct lwp dummy;
	static const struct entry_watch watch = {
		.enter = limit_enter,
		.leave = limit_leave,
		.switched = limit_switched,
		.left = &dummy,
	};

	if (ncpu > 1) {
		printf("barecpc: kernel_limit= watches one CPU, and there are "
		       "%u: add cpus=1\n",
		    ncpu);
		return false;
	}
	may_take = instructions;
	per_page = each;
	arch_curcpu()->c_zombie = &dummy;
	entry_watch = &watch;
	return true;
}
