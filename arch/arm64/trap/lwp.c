/*
 * The machine's part of LWPs: their saved registers, the switch from one to
 * the next, and how a new one starts.
 * Arm ARM (DDI 0487), "TPIDR_EL0", "SPSR_EL1".
 */
#include "kern/proc/lwp.h"
#include "arch/arm64/arm64.h"
#include "arch/arm64/sysreg.h"
#include "arch/arm64/trap/fp.h"
#include "kern/arch.h"
#include "kern/mm/page.h"
#include "kern/platform/errno.h"
#include "kern/proc/proc.h"
#include "lib/string.h"

/* The callee-saved registers, as arm64_switch() stores them. */
struct switch_frame {
	uint64_t swf_x[10]; /* x19..x28 */
	uint64_t swf_fp, swf_lr;
};

void arm64_switch(void **from_sp, void *to_sp);
void arm64_lwp_first(void);

int
arch_lwp_init(struct lwp *l, void (*fn)(void *), void *arg)
{
	struct arm64_lwp *al = kmalloc(sizeof *al);
	struct trapframe *tf = arch_lwp_frame(l);
	struct switch_frame *sf;

	if (al == NULL)
		return ENOMEM;
	if (l->l_proc != NULL && (al->al_fp = arm64_fp_alloc()) == NULL) {
		kfree(al);
		return ENOMEM;
	}
	/* The switch frame is below the trap frame, which comes first. */
	sf = (struct switch_frame *)tf - 1;
	*sf = (struct switch_frame){
		.swf_x = { (uint64_t)fn, (uint64_t)arg },
		.swf_lr = (uint64_t)arm64_lwp_first,
	};
	al->al_sp = sf;
	tf->tf_frame[0] = tf->tf_frame[1] = 0; /* backtraces end here */
	l->l_arch = al;
	return 0;
}

void
arch_lwp_free(struct lwp *l)
{
	struct arm64_lwp *al = l->l_arch;

	kfree(al->al_fp);
	kfree(al);
	l->l_arch = NULL;
}

void
arch_lwp_switch(struct lwp *from, struct lwp *to)
{
	struct arm64_lwp *old = from->l_arch, *new = to->l_arch;

	arm64_fp_switch(old->al_fp, new->al_fp);
	old->al_tls = read_sysreg(tpidr_el0);
	write_sysreg(tpidr_el0, new->al_tls);
	/* A kernel thread must not keep an address space that may be freed. */
	if (to->l_proc != from->l_proc)
		arch_as_switch(to->l_proc != NULL ? to->l_proc->p_as : NULL);
	arm64_switch(&old->al_sp, new->al_sp);
}

void
arch_lwp_reset(struct lwp *l, uintptr_t pc, uintptr_t sp)
{
	struct trapframe *tf = arch_lwp_frame(l);

	memset(tf, 0, sizeof *tf);
	tf->tf_pc = pc;
	tf->tf_sp = sp;
	tf->tf_pstate = l->l_system ? PSTATE_EL1T : PSTATE_EL0T;
	arm64_fp_clear(arm64_fp_self());
	write_sysreg(tpidr_el0, 0);
}

void
arch_lwp_fork(struct lwp *l, const struct trapframe *tf, uintptr_t sp,
    const uintptr_t *tls)
{
	struct trapframe *copy = arch_lwp_frame(l);
	struct arm64_lwp *al = l->l_arch;

	*copy = *tf;
	tf_set_ret(copy, 0);
	if (sp != 0)
		copy->tf_sp = sp;
	al->al_tls = tls != NULL ? *tls : read_sysreg(tpidr_el0);
	/* The kernel uses no FP, so the CPU still has the caller's state. */
	arm64_fp_copy(al->al_fp, arm64_fp_self());
}

struct trapframe *
arch_lwp_frame(struct lwp *l)
{
	return (struct trapframe *)l->l_kstack_top - 1;
}

void
arch_lwp_resume(struct lwp *l)
{
	arm64_user_return(arch_lwp_frame(l));
}

void
arch_set_tls(uintptr_t base)
{
	write_sysreg(tpidr_el0, base);
}

uintptr_t
arch_get_tls(void)
{
	return read_sysreg(tpidr_el0);
}
