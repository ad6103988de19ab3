/*
 * The frame of a signal handler, in Linux's layout.  sigcopy.S writes and reads
 * it in place, in user memory.
 *
 * Linux, uapi/asm/ucontext.h, uapi/asm/sigcontext.h.
 */
#include "arch/x86/trap/fpu.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/signal.h"

/* The bytes below %rsp that a function may use.  System V ABI, AMD64. */
#define RED_ZONE 128

/* The bits of RFLAGS that code at ring 3 can set itself. */
#define RFLAGS_STATUS 0x8d5 /* CF PF AF ZF SF OF */
#define RFLAGS_USER                                                            \
	(RFLAGS_STATUS | RFLAGS_TF | RFLAGS_DF | RFLAGS_RF | RFLAGS_AC)

struct context {
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, rflags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trapno, oldmask, cr2;
	uint64_t fpstate; /* address */
	uint64_t reserved[8];
};

struct frame {
	uint64_t restorer; /* the return address of the handler */
	uint64_t uc_flags, uc_link;
	struct sigstack stack;
	struct context context;
	uint64_t mask;
	struct siginfo info;
	char info_rest[SIGINFO_BYTES - sizeof(struct siginfo)];
};
#define AT(field, at)                                                          \
	_Static_assert(offsetof(struct frame, field) == (at), "asm.h")
AT(uc_flags, SF_FLAGS);
AT(stack, SF_STACK);
AT(context.r8, SF_R8);
AT(context.r15, SF_R15);
AT(context.rdi, SF_RDI);
AT(context.rsi, SF_RSI);
AT(context.rbp, SF_RBP);
AT(context.rbx, SF_RBX);
AT(context.rdx, SF_RDX);
AT(context.rax, SF_RAX);
AT(context.rcx, SF_RCX);
AT(context.rsp, SF_RSP);
AT(context.rip, SF_RIP);
AT(context.rflags, SF_RFLAGS);
AT(context.cs, SF_CS);
AT(context.ss, SF_SS);
AT(context.err, SF_ERR);
AT(context.trapno, SF_TRAPNO);
AT(context.oldmask, SF_OLDMASK);
AT(context.cr2, SF_CR2);
AT(context.fpstate, SF_FPSTATE);
AT(mask, SF_MASK);
AT(info, SF_INFO);
#define GIVEN(type, field, at)                                                 \
	_Static_assert(offsetof(struct type, field) == (at), "asm.h")
GIVEN(sigaction, sa_handler, SA_HANDLER);
GIVEN(sigaction, sa_restorer, SA_RESTORER);
GIVEN(sigframe, sf_act, SGF_ACT);
GIVEN(sigframe, sf_info, SGF_INFO);
GIVEN(sigframe, sf_kept, SGF_KEPT);

/*
 * sigcopy.S.  Both return 0 or EFAULT.
 *
 * x86_sigcopy_out() writes the frame and the FPU's state, and makes tf enter
 * the handler.  After EFAULT, tf and the FPU have not changed.
 *
 * x86_sigcopy_in() reads both back.  It restores only the bits of RFLAGS in
 * `may`.  After EFAULT, tf has kept its pc and sp, and the state of the FPU is
 * undefined.
 */
int x86_sigcopy_out(struct trapframe *tf, struct frame *frame,
    const struct sigframe *sf, void *fpu);
int x86_sigcopy_in(struct trapframe *tf, const struct frame *frame,
    struct sigkept *kept, uint64_t may);

/* The handler starts as after a call: %rsp + 8 is a multiple of 16. */
#define CALL_PAD 16
_Static_assert((sizeof(struct frame) + CALL_PAD) % 16 == 8, "CALL_PAD");

/* Linux on x86-64 requires SA_RESTORER. */
const size_t arch_vdso_sigreturn = 0;

size_t
x86_sigframe_bytes(void)
{
	return RED_ZONE + x86_fpu_frame_bytes + X86_FPU_ALIGN + CALL_PAD +
	       sizeof(struct frame);
}

int
arch_sigframe_push(struct trapframe *tf, const struct sigframe *sf)
{
	uintptr_t sp = sf->sf_stack != 0 ? sf->sf_stack : tf->tf_rsp - RED_ZONE;
	uintptr_t fpu = (sp - x86_fpu_frame_bytes) & -(uintptr_t)X86_FPU_ALIGN;
	uintptr_t at = fpu - CALL_PAD - sizeof(struct frame);

	/* If `at` has wrapped below 0, it is greater than sp. */
	if (sp > USER_TOP || at > sp || at < sf->sf_limit ||
	    sf->sf_act->sa_handler >= USER_TOP)
		return EFAULT;
	return x86_sigcopy_out(tf, (struct frame *)at, sf, (void *)fpu);
}

int
arch_sigframe_pop(struct trapframe *tf, struct sigkept *kept)
{
	uint64_t may = RFLAGS_USER | (lwp_self()->l_system ? RFLAGS_IF : 0);
	uintptr_t at = tf->tf_rsp - 8; /* the handler's RET popped 8 bytes */

	if (at > USER_TOP - sizeof(struct frame))
		return EFAULT;
	return x86_sigcopy_in(tf, (const struct frame *)at, kept, may);
}
