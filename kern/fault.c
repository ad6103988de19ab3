#include "kern/fault.h"

#include "kern/arch.h"
#include "kern/cpu.h"
#include "kern/kcpc.h"
#include "kern/ksym.h"
#include "kern/lwp.h"
#include "kern/proc.h"
#include "kern/signal.h"
#include "lib/printf.h"

void
fault_where(const struct proc *p, uintptr_t pc, char *buf, size_t len)
{
	uint64_t offset;
	const char *name = elf_symbol(&p->p_elf, pc, &offset);

	if (name != NULL)
		snprintf(buf, len, "0x%lx (%.60s+0x%lx)", (unsigned long)pc,
		    name, (unsigned long)offset);
	else
		snprintf(buf, len, "0x%lx", (unsigned long)pc);
}

void
fault_hostile_pointer(const struct trapframe *tf, const char *call)
{
	struct proc *p = proc_self();
	char where[FAULT_WHERE_MAX];

	if (p->p_said_efault)
		return;
	p->p_said_efault = true;
	fault_where(p, tf_pc(tf), where, sizeof where);
	printf("barecpc: %s: %s at pc %s: bad address 0x%lx: EFAULT\n",
	    p->p_name, call, where, (unsigned long)p->p_efault_addr);
}

static int
fault_signal(enum fault f)
{
	switch (f) {
	case FAULT_PAGE:
	case FAULT_PROT:
		return SIGSEGV;
	case FAULT_ALIGN:
		return SIGBUS;
	case FAULT_UNDEF:
		return SIGILL;
	case FAULT_DIV:
	case FAULT_FP:
		return SIGFPE;
	case FAULT_BREAK:
	case FAULT_STEP:
		return SIGTRAP;
	default:
		return SIGKILL;
	}
}

/* Why a page fault at addr: the region tells more than the hardware. */
static const char *
page_reason(struct proc *p, uintptr_t pc, uintptr_t addr, const char *what)
{
	struct region *r;

	if (addr >= USER_TOP)
		return "not in user space";
	if (addr - (USER_TOP - p->p_stack_bytes - PAGE_SIZE) < PAGE_SIZE)
		return "the stack overflowed";
	if ((r = as_find(&p->p_as, addr)) == NULL)
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

/* One line, and the end of the process. */
static void
fault_payload(
    struct trapframe *tf, enum fault f, uintptr_t addr, const char *what)
{
	struct proc *p = proc_self();
	char where[FAULT_WHERE_MAX], name[12];
	int sig = fault_signal(f);

	fault_where(p, tf_pc(tf), where, sizeof where);
	printf(
	    "barecpc: %s: %s at pc %s", p->p_name, sig_name(sig, name), where);
	if (f == FAULT_PAGE)
		printf(", address 0x%lx: %s\n", (unsigned long)addr,
		    page_reason(p, tf_pc(tf), addr, what));
	else
		printf(": %s\n", what);
	proc_kill(p, 128 + sig);
}

void
trap_fault(struct trapframe *tf, enum fault f, uintptr_t addr, const char *what)
{
	uintptr_t offset;
	const char *name;

	if (tf_user(tf)) {
		if (kcpc_read_fault(tf))
			return;
		fault_payload(tf, f, addr, what);
		return;
	}
	name = ksym_lookup(tf_pc(tf), &offset);
	printf("kernel fault: %s at pc 0x%lx (%s+0x%lx), address 0x%lx\n", what,
	    (unsigned long)tf_pc(tf), name, (unsigned long)offset,
	    (unsigned long)addr);
	tf_print(tf);
	panic("%s in the kernel", what);
}

void
trap_return(struct trapframe *tf)
{
	struct lwp *l = lwp_self();

	(void)tf;
	if (l->l_cpu->c_resched)
		sched_yield();
	if (l->l_proc->p_exiting)
		lwp_exit();
}
