/*
 * Faults of payloads become signals, or end the process with a report.  Faults
 * of the kernel panic.
 */
#include "kern/arch.h"
#include "kern/platform/console.h"
#include "kern/platform/entry_budget.h"
#include "kern/platform/ksym.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/proc/signal.h"
#include "kern/sched/counting.h"
#include "lib/printf.h"

void
fault_where(const struct proc *p, uintptr_t pc, char *buf, size_t len)
{
	uint64_t offset;
	const char *name;

	/* Upper bound: the search reads at most the whole file. */
	entry_budget_add(p->p_elf.e_bytes >> PAGE_SHIFT);
	name = elf_symbol(&p->p_elf, pc, &offset);

	if (name != NULL)
		snprintf(buf, len, "0x%lx (%.60s+0x%lx)", (unsigned long)pc,
		    name, (unsigned long)offset);
	else
		snprintf(buf, len, "0x%lx", (unsigned long)pc);
}

/* The signal of each fault, and its si_code. */
static const struct {
	int signo, code;
} fault_signals[] = {
	[FAULT_PAGE] = { SIGSEGV, SEGV_ACCERR },
	[FAULT_ALIGN] = { SIGBUS, BUS_ADRALN },
	[FAULT_UNDEF] = { SIGILL, ILL_ILLOPC },
	[FAULT_DIV] = { SIGFPE, FPE_INTDIV },
	[FAULT_FP] = { SIGFPE, FPE_FLTINV },
	[FAULT_BREAK] = { SIGTRAP, TRAP_BRKPT },
	[FAULT_STEP] = { SIGTRAP, TRAP_TRACE },
	[FAULT_PROT] = { SIGSEGV, SI_KERNEL },
	[FAULT_OTHER] = { SIGKILL, SI_KERNEL },
};

static struct siginfo
fault_info(struct proc *p, enum fault f, uintptr_t addr)
{
	struct siginfo info = {
		.si_signo = fault_signals[f].signo,
		.si_code = fault_signals[f].code,
		.si_addr = addr,
	};

	if (f == FAULT_PAGE &&
	    (addr >= USER_TOP || as_find(p->p_as, addr) == NULL))
		info.si_code = SEGV_MAPERR;
	return info;
}

/* Explain a page fault: the region says more than the hardware (`what`). */
static const char *
page_reason(struct proc *p, uintptr_t pc, uintptr_t addr, const char *what)
{
	struct region *r;

	if (addr >= USER_TOP)
		return "not in user space";
	if (addr - (REGION_TOP - p->p_stack_bytes - PAGE_SIZE) < PAGE_SIZE)
		return "the stack overflowed";
	if ((r = as_find(p->p_as, addr)) == NULL)
		return "not mapped";
	if (r->r_prot == 0)
		return "no access there (PROT_NONE)";
	if (addr == pc && !(r->r_prot & PROT_EXEC))
		return "not executable";
	if (!(r->r_prot & PROT_WRITE) && !(r->r_prot & PROT_EXEC))
		return "read-only";
	if (!(r->r_prot & PROT_WRITE))
		return "code, not writable";
	return what;
}

/*
 * Does the region allow the access now?  Then another CPU has changed the
 * mapping since the fault, and the access is repeated.  Pages that are writable
 * or executable are readable too (populate.c).
 */
static bool
is_stale_fault(struct proc *p, const struct trapframe *tf, uintptr_t addr)
{
	const struct region *r = as_find(p->p_as, addr);
	unsigned wants = tf_access(tf);

	if (r == NULL || wants == 0)
		return false;
	return wants == PROT_READ ? r->r_prot != 0 : (r->r_prot & wants) != 0;
}

/* Run the signal's handler.  Without one, print a line and end the process. */
static void
fault_payload(
    struct trapframe *tf, enum fault f, uintptr_t addr, const char *what)
{
	struct proc *p = proc_self();
	struct siginfo info = fault_info(p, f, addr);
	char where[FAULT_WHERE_MAX], name[12];
	int sig = info.si_signo;

	if (sig_run_handler(lwp_self(), tf, &info))
		return;
	fault_where(p, tf_pc(tf), where, sizeof where);
	printf(
	    "barecpc: %s: %s at pc %s", p->p_name, sig_name(sig, name), where);
	if (f == FAULT_PAGE)
		printf(", address 0x%lx: %s\n", (unsigned long)addr,
		    page_reason(p, tf_pc(tf), addr, what));
	else
		printf(": %s\n", what);
	proc_kill(p, KILLED(sig));
}

/*
 * Begin a report that ends the run.  The fault may have struck while this CPU
 * wrote to the console, or during another report.
 */
static void
begin_report(void)
{
	static struct cpu *reporter;
	struct cpu *first = NULL;

	if (!__atomic_compare_exchange_n(&reporter, &first, arch_curcpu(),
		false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		if (first == arch_curcpu())
			panic("a fault in the report of a fault");
		/* The other CPU is about to stop this one. */
		for (;;)
			arch_relax();
	}
	cons_seize(true);
}

__attribute__((no_stack_protector)) void
trap_fault(struct trapframe *tf, enum fault f, uintptr_t addr, const char *what)
{
	uintptr_t offset;
	const char *name;

	if (tf_user(tf)) {
		lwp_self()->l_faults += f == FAULT_PAGE;
		if (counting->read_fault(tf) ||
		    (f == FAULT_PAGE && is_stale_fault(proc_self(), tf, addr)))
			return;
		fault_payload(tf, f, addr, what);
		return;
	}
	begin_report();
	name = ksym_lookup(tf_pc(tf), &offset);
	printf("kernel fault: %s at pc 0x%lx (%s+0x%lx), address 0x%lx\n", what,
	    (unsigned long)tf_pc(tf), name, (unsigned long)offset,
	    (unsigned long)addr);
	tf_print(tf);
	panic("%s in the kernel", what);
}

void
trap_panic(const struct trapframe *tf, const char *what)
{
	uintptr_t offset;
	const char *name = ksym_lookup(tf_pc(tf), &offset);

	begin_report();
	tf_print(tf);
	panic("%s at pc 0x%lx (%s+0x%lx), sp 0x%lx", what,
	    (unsigned long)tf_pc(tf), name, (unsigned long)offset,
	    (unsigned long)tf_sp(tf));
}
