/*
 * A signal handler's frame, as Linux programs know it: uapi/asm/ucontext.h,
 * uapi/asm/sigcontext.h.  It is written and read in place, in user memory.
 */
#include "arch/x86/fpu.h"
#include "arch/x86/insn.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/errno.h"
#include "kern/lwp.h"
#include "kern/signal.h"
#include "lib/string.h"

#define RED_ZONE 128 /* System V ABI, AMD64: below %rsp, the function's */

/* What a payload may have in RFLAGS by its own doing, at ring 3. */
#define RFLAGS_STATUS 0x8d5 /* CF PF AF ZF SF OF */
#define RFLAGS_USER                                                            \
	(RFLAGS_STATUS | RFLAGS_TF | RFLAGS_DF | RFLAGS_RF | RFLAGS_AC)

/* uc_flags: there is XSAVE state; uc_mcontext has SS. */
#define UC_FP_XSTATE         0x1
#define UC_SIGCONTEXT_SS     0x2
#define UC_STRICT_RESTORE_SS 0x4

struct context {
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, rflags;
	uint64_t selectors; /* 16 bits each: CS, GS, FS, SS */
	uint64_t err, trapno, oldmask, cr2;
	uint64_t fpstate; /* address */
	uint64_t reserved[8];
};

#define INFO_REST ((SIGINFO_BYTES - sizeof(struct siginfo)) / 8)

struct frame {
	uint64_t restorer; /* the handler returns there */
	uint64_t uc_flags, uc_link;
	uint64_t stack_sp;
	uint32_t stack_flags, pad;
	uint64_t stack_bytes;
	struct context context;
	uint64_t mask;
	struct siginfo info;
	uint64_t info_rest[INFO_REST];
};
_Static_assert(sizeof(struct context) == 256, "Linux's sigcontext");
_Static_assert(offsetof(struct frame, info) == 312, "Linux's rt_sigframe");

/* The handler's frame starts a call: %rsp + 8 is a multiple of 16. */
#define CALL_ALIGN 16

size_t
x86_sigframe_bytes(void)
{
	return RED_ZONE + x86_fpu_frame_bytes + X86_FPU_ALIGN +
	       sizeof(struct frame) + CALL_ALIGN + 8;
}

static void
registers_out(struct context *c, const struct trapframe *tf)
{
	c->r8 = tf->tf_r8;
	c->r9 = tf->tf_r9;
	c->r10 = tf->tf_r10;
	c->r11 = tf->tf_r11;
	c->r12 = tf->tf_r12;
	c->r13 = tf->tf_r13;
	c->r14 = tf->tf_r14;
	c->r15 = tf->tf_r15;
	c->rdi = tf->tf_rdi;
	c->rsi = tf->tf_rsi;
	c->rbp = tf->tf_rbp;
	c->rbx = tf->tf_rbx;
	c->rdx = tf->tf_rdx;
	c->rax = tf->tf_rax;
	c->rcx = tf->tf_rcx;
	c->rsp = tf->tf_rsp;
	c->rip = tf->tf_rip;
	c->rflags = tf->tf_rflags;
	c->selectors = (uint16_t)tf->tf_cs | tf->tf_ss << 48;
	c->err = tf->tf_err;
	c->trapno = tf->tf_vector;
}

static void
registers_in(struct trapframe *tf, const struct context *c)
{
	tf->tf_r8 = c->r8;
	tf->tf_r9 = c->r9;
	tf->tf_r10 = c->r10;
	tf->tf_r11 = c->r11;
	tf->tf_r12 = c->r12;
	tf->tf_r13 = c->r13;
	tf->tf_r14 = c->r14;
	tf->tf_r15 = c->r15;
	tf->tf_rdi = c->rdi;
	tf->tf_rsi = c->rsi;
	tf->tf_rbp = c->rbp;
	tf->tf_rbx = c->rbx;
	tf->tf_rdx = c->rdx;
	tf->tf_rax = c->rax;
	tf->tf_rcx = c->rcx;
	tf->tf_rsp = c->rsp;
	tf->tf_rip = c->rip;
	tf->tf_rflags = c->rflags;
}

struct push {
	const struct trapframe *p_tf;
	const struct sigframe *p_sf;
	struct frame *p_frame;
	void *p_fpu;
};

static void
write_frame(void *arg)
{
	const struct push *p = arg;
	const struct sigframe *sf = p->p_sf;
	struct frame *f = p->p_frame;

	f->restorer = sf->sf_act->sa_restorer;
	f->uc_flags = UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS;
	f->uc_link = 0;
	f->stack_sp = sf->sf_kept->sk_stack.ss_sp;
	f->stack_flags = (uint32_t)sf->sf_kept->sk_stack.ss_flags;
	f->stack_bytes = sf->sf_kept->sk_stack.ss_bytes;
	registers_out(&f->context, p->p_tf);
	f->context.oldmask = sf->sf_kept->sk_mask;
	f->context.cr2 = sf->sf_info->si_addr;
	f->context.fpstate = (uintptr_t)p->p_fpu;
	f->mask = sf->sf_kept->sk_mask;
	f->info = *sf->sf_info;
	x86_fpu_save_frame(p->p_fpu);
}

int
arch_sigframe_push(struct trapframe *tf, const struct sigframe *sf)
{
	struct push p = { .p_tf = tf, .p_sf = sf };
	uintptr_t sp = sf->sf_stack, handler = sf->sf_act->sa_handler;

	if (sp == 0)
		sp = tf->tf_rsp - RED_ZONE;
	if (sp > USER_TOP || sp < sf->sf_limit ||
	    sp - sf->sf_limit < x86_sigframe_bytes() || handler >= USER_TOP)
		return EFAULT;
	sp = (sp - x86_fpu_frame_bytes) & -(uintptr_t)X86_FPU_ALIGN;
	p.p_fpu = (void *)sp;
	sp = ((sp - sizeof(struct frame)) & -(uintptr_t)CALL_ALIGN) - 8;
	p.p_frame = (struct frame *)sp;
	if (x86_try(write_frame, &p) != 0)
		return EFAULT;

	x86_fpu_reset();
	tf->tf_rip = handler;
	tf->tf_rsp = sp;
	tf->tf_rdi = (uint64_t)sf->sf_info->si_signo;
	tf->tf_rsi = (uintptr_t)&p.p_frame->info;
	tf->tf_rdx = (uintptr_t)&p.p_frame->uc_flags;
	tf->tf_rax = 0; /* no vector arguments */
	tf->tf_rflags &= ~(uint64_t)(RFLAGS_TF | RFLAGS_DF | RFLAGS_RF);
	return 0;
}

struct pop {
	const struct frame *o_frame;
	struct trapframe *o_tf;
	struct sigkept *o_kept;
	uint64_t o_may; /* RFLAGS the payload may set */
	bool o_bad;
};

static bool
is_sound(const struct frame *f)
{
	uint64_t fpu = f->context.fpstate;

	return f->context.rip < USER_TOP && fpu % X86_FPU_ALIGN == 0 &&
	       fpu <= USER_TOP - x86_fpu_frame_bytes;
}

/*
 * Flags and segments are what they may be, whatever the frame says.  What
 * lies on either side of the registers is read before the first of them is
 * taken: no fault leaves the LWP with some of each.
 */
static void
read_frame(void *arg)
{
	struct pop *o = arg;
	const struct frame *f = o->o_frame;
	struct trapframe *tf = o->o_tf;
	uint64_t kept = tf->tf_rflags & ~o->o_may;

	*o->o_kept = (struct sigkept){
		{ f->stack_sp, f->stack_flags, f->stack_bytes },
		f->mask,
	};
	if ((o->o_bad = !is_sound(f)))
		return;
	if (f->context.fpstate != 0)
		x86_fpu_load_frame((const void *)f->context.fpstate);
	else
		x86_fpu_reset();
	registers_in(tf, &f->context);
	tf->tf_rflags = kept | (tf->tf_rflags & o->o_may);
}

int
arch_sigframe_pop(struct trapframe *tf, struct sigkept *kept)
{
	bool system = lwp_self()->l_system;
	uintptr_t sp = tf->tf_rsp - 8; /* the return address was popped */
	struct pop o = {
		.o_frame = (const struct frame *)sp,
		.o_tf = tf,
		.o_kept = kept,
		.o_may = RFLAGS_USER | (system ? RFLAGS_IF : 0),
	};

	if (sp > USER_TOP - sizeof(struct frame))
		return EFAULT;
	if (x86_try(read_frame, &o) != 0) {
		x86_fpu_reset();
		return EFAULT;
	}
	if (o.o_bad)
		return EFAULT;
	/* SYSRET would not restore %rcx and %r11. */
	tf->tf_vector = tf->tf_err = 0;
	return 0;
}
