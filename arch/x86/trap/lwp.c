/*
 * LWPs: their registers while they do not run, their start in user code, and
 * the bases of FS and GS.
 *
 * Intel SDM vol. 4, "IA-32 Architectural MSRs" (IA32_FS_BASE,
 * IA32_KERNEL_GS_BASE).
 */
#include "kern/proc/lwp.h"
#include "arch/x86/insn.h"
#include "arch/x86/msr.h"
#include "arch/x86/trap/fpu.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/mm/page.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/proc.h"
#include "lib/string.h"

/* l_arch */
struct x86_lwp {
	void *xl_sp; /* struct switch_frame, while the LWP does not run */
	/* User code cannot change these itself: CR4.FSGSBASE is clear. */
	uint64_t xl_fs_base, xl_gs_base;
	void *xl_fpu;           /* NULL for a kernel thread */
	struct x86_cpu *xl_cpu; /* its TLB has the LWP's stack */
};

/* Callee-saved registers, in the order in which x86_switch() stores them. */
struct switch_frame {
	uint64_t swf_r15, swf_r14, swf_r13, swf_r12, swf_rbx, swf_rbp;
	uint64_t swf_rip;
	uint64_t swf_end[2]; /* zeros, where a backtrace stops */
};

void x86_switch(void **from_sp, void *to_sp);
void x86_lwp_first(void);
_Noreturn void x86_user_return(struct trapframe *tf);

int
arch_lwp_init(struct lwp *l, void (*fn)(void *), void *arg)
{
	struct x86_lwp *xl = kmalloc(sizeof *xl);
	struct switch_frame *sf;

	if (xl == NULL)
		return ENOMEM;
	if (l->l_proc != NULL && (xl->xl_fpu = x86_fpu_alloc()) == NULL) {
		kfree(xl);
		return ENOMEM;
	}
	/* Below the trap frame, which arch_lwp_reset() fills later. */
	sf = (struct switch_frame *)((struct trapframe *)l->l_kstack_top - 1) -
	     1;
	*sf = (struct switch_frame){
		.swf_r12 = (uint64_t)fn,
		.swf_rbx = (uint64_t)arg,
		.swf_rip = (uint64_t)x86_lwp_first,
	};
	xl->xl_sp = sf;
	l->l_arch = xl;
	return 0;
}

void
arch_lwp_free(struct lwp *l)
{
	struct x86_lwp *xl = l->l_arch;

	kfree(xl->xl_fpu);
	kfree(xl);
	l->l_arch = NULL;
}

/* Load the state of the LWP that entry.S and user code use. */
static void
make_current(struct x86_cpu *xc, struct lwp *l)
{
	struct x86_lwp *xl = l->l_arch;

	/*
	 * A kernel thread needs no address space.  Do not keep the previous
	 * one: it may be freed while the thread runs.
	 */
	arch_as_switch(l->l_proc != NULL ? l->l_proc->p_as : NULL);
	xc->xc_frame = arch_lwp_frame(l);
	xc->xc_tss.t_ist[IST_INTR - 1] = (uintptr_t)l->l_kstack_top;
	if (xl->xl_fpu == NULL)
		return;
	x86_fpu_load(xl->xl_fpu);
	wrmsr(IA32_FS_BASE, xl->xl_fs_base);
	wrmsr(IA32_KERNEL_GS_BASE, xl->xl_gs_base);
}

void
arch_lwp_switch(struct lwp *from, struct lwp *to)
{
	struct x86_lwp *old = from->l_arch, *new = to->l_arch;
	struct x86_cpu *xc = x86_self();

	if (old->xl_fpu != NULL)
		x86_fpu_save(old->xl_fpu);
	if (new->xl_cpu != xc) {
		x86_kstack_fresh(to->l_kstack);
		new->xl_cpu = xc;
	}
	make_current(xc, to);
	x86_switch(&old->xl_sp, new->xl_sp);
}

void
arch_lwp_reset(struct lwp *l, uintptr_t pc, uintptr_t sp)
{
	struct trapframe *tf = arch_lwp_frame(l);
	struct x86_lwp *xl = l->l_arch;

	memset(tf, 0, sizeof *tf);
	tf->tf_rip = pc;
	tf->tf_rsp = sp;
	tf->tf_rflags = RFLAGS_ONE | RFLAGS_IF;
	tf->tf_cs = l->l_system ? SEL_KCODE : SEL_UCODE;
	tf->tf_ss = l->l_system ? SEL_KDATA : SEL_UDATA;
	xl->xl_fs_base = xl->xl_gs_base = 0;
	x86_fpu_clear(xl->xl_fpu);
	make_current(x86_self(), l);
}

void
arch_lwp_fork(struct lwp *l, const struct trapframe *tf, uintptr_t sp,
    const uintptr_t *tls)
{
	const struct x86_lwp *self = lwp_self()->l_arch;
	struct trapframe *copy = arch_lwp_frame(l);
	struct x86_lwp *xl = l->l_arch;

	*copy = *tf;
	tf_set_ret(copy, 0);
	if (sp != 0)
		copy->tf_rsp = sp;
	xl->xl_fs_base = tls != NULL ? *tls : self->xl_fs_base;
	xl->xl_gs_base = self->xl_gs_base;
	/* The registers still have the caller's state. */
	x86_fpu_save(xl->xl_fpu);
}

struct trapframe *
arch_lwp_frame(struct lwp *l)
{
	return (struct trapframe *)l->l_kstack_top - 1;
}

void
arch_lwp_resume(struct lwp *l)
{
	x86_user_return(arch_lwp_frame(l));
}

void
arch_set_tls(uintptr_t base)
{
	struct x86_lwp *xl = lwp_self()->l_arch;

	xl->xl_fs_base = base;
	wrmsr(IA32_FS_BASE, base);
}

uintptr_t
arch_get_tls(void)
{
	struct x86_lwp *xl = lwp_self()->l_arch;

	return xl->xl_fs_base;
}

/* arch_prctl(2), which only x86 has. */
#define SYS_ARCH_PRCTL 158
#define ARCH_SET_GS    0x1001
#define ARCH_SET_FS    0x1002
#define ARCH_GET_FS    0x1003
#define ARCH_GET_GS    0x1004

static intptr_t
arch_prctl(unsigned code, uintptr_t arg)
{
	struct x86_lwp *xl = lwp_self()->l_arch;

	switch (code) {
	case ARCH_SET_FS:
	case ARCH_SET_GS:
		/* entry.S takes an upper address for the kernel's base. */
		if (arg >= USER_TOP)
			return -EPERM;
		if (code == ARCH_SET_FS) {
			arch_set_tls(arg);
		} else {
			xl->xl_gs_base = arg;
			wrmsr(IA32_KERNEL_GS_BASE, arg);
		}
		return 0;
	case ARCH_GET_FS:
		return -copyout(arg, &xl->xl_fs_base, sizeof arg);
	case ARCH_GET_GS:
		return -copyout(arg, &xl->xl_gs_base, sizeof arg);
	default:
		return -EINVAL;
	}
}

intptr_t
arch_syscall(unsigned sysno, const uintptr_t *a)
{
	if (sysno != SYS_ARCH_PRCTL)
		return -ENOSYS;
	return arch_prctl((unsigned)a[0], a[1]);
}
