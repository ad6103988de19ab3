#include "kern/arch.h"
#include "lib/printf.h"

void
trap_syscall(struct trapframe *tf)
{
	tf_set_ret(tf, -38);
}

void
trap_fault(struct trapframe *tf, enum fault f, uintptr_t addr, const char *what)
{
	tf_print(tf);
	panic("%s (fault %d) at pc %#lx, address %#lx", what, (int)f, tf_pc(tf),
	    addr);
}

void
trap_return(struct trapframe *tf)
{
	(void)tf;
}

void
timer_intr(void)
{
	arch_timer_set(~0ULL);
}

void
ipi_intr(unsigned why)
{
	(void)why;
}

bool __attribute__((weak)) kcpc_pmi(struct trapframe *tf)
{
	(void)tf;
	return false;
}
