/*
 * A signal handler's frame, as Linux programs expect it: uapi/asm/ucontext.h,
 * uapi/asm/sigcontext.h.  sigcopy.S writes and reads the parts that every frame
 * has.  This file does SVE registers, and frames whose records a program has
 * changed, by plain accesses in arm64_try().
 */
#include "arch/arm64/arm64.h"
#include "arch/arm64/trap/fp.h"
#include "arch/arm64/trap/sigcopy.h"
#include "kern/arch.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/signal.h"
#include "kern/proc/vdso/vdso.h"

/*
 * Bits of PSTATE: those that a payload can set itself, at EL0 and at EL1, and
 * those that are 0 when a handler starts.  Arm ARM (DDI 0487), "SPSR_EL1".
 */
#define PSTATE_MODE 0x1fULL /* with nRW: AArch32 */
#define PSTATE_SSBS (1ULL << 12)
#define PSTATE_IL   (1ULL << 20)
#define PSTATE_SS   (1ULL << 21)
#define PSTATE_DIT  (1ULL << 24)
#define PSTATE_TCO  (1ULL << 25)
#define PSTATE_USER                                                            \
	(PSTATE_NZCV | PSTATE_TCO | PSTATE_DIT | PSTATE_SSBS | PSTATE_BTYPE)
#define PSTATE_SYSTEM (PSTATE_USER | PSTATE_DAIF | PSTATE_PAN)

#define ESR_MAGIC   0x45535201
#define ESR_BYTES   16
#define STACK_ALIGN 16

/* The head of a record.  A head of zeros ends the records. */
struct record {
	uint32_t magic, bytes;
};
#define RECORD(magic, bytes) ((uint64_t)(bytes) << 32 | (magic))

struct sigframe_user {
	struct siginfo info;
	uint64_t info_rest[(SIGINFO_BYTES - sizeof(struct siginfo)) / 8];
	uint64_t uc_flags, uc_link;
	struct sigstack stack;
	uint64_t mask;
	uint64_t mask_rest[15];
	uint64_t context_pad;
	/* struct sigcontext */
	uint64_t fault_address;
	uint64_t x[31];
	uint64_t sp, pc, pstate;
	uint64_t records_pad;
	char records[RECORDS_BYTES];
	/* A frame record, so that backtraces continue past the handler. */
	uint64_t fp, lr;
};
#define AT(type, field, at)                                                    \
	_Static_assert(offsetof(struct type, field) == (at), "asm.h")
AT(sigframe_user, uc_flags, SF_UCONTEXT);   /* Linux's rt_sigframe */
AT(sigframe_user, stack, SF_STACK);         /* 128 + ucontext's 16 */
AT(sigframe_user, fault_address, SF_FAULT); /* 128 + ucontext's 176 */
AT(sigframe_user, x, SF_X);
AT(sigframe_user, records, SF_RECORDS); /* 128 + sigcontext's 464 */
AT(sigframe_user, fp, SF_FRAME);
AT(sigframe, sf_act, SGF_ACT);
AT(sigframe, sf_info, SGF_INFO);
AT(sigframe, sf_kept, SGF_KEPT);
AT(sigaction, sa_handler, SA_HANDLER);
AT(sigaction, sa_restorer, SA_RESTORER);
AT(sigcopy_more, scm_fpsimd, SM_FPSIMD);
AT(sigcopy_more, scm_records, SM_RECORDS);
AT(sigcopy_more, scm_pstate, SM_PSTATE);
_Static_assert(sizeof(struct sigframe_user) == SF_BYTES, "asm.h");
_Static_assert(USER_TOP == USER_END, "asm.h");

const size_t arch_vdso_sigreturn = VDSO_SIGRETURN;

size_t
arm64_sigframe_bytes(void)
{
	return sizeof(struct sigframe_user) + STACK_ALIGN;
}

static bool
is_fault(int sig)
{
	const uint64_t faults = SIGBIT(SIGSEGV) | SIGBIT(SIGBUS) |
	                        SIGBIT(SIGILL) | SIGBIT(SIGFPE) |
	                        SIGBIT(SIGTRAP);

	return (faults & SIGBIT(sig)) != 0;
}

struct sigcopy_more arm64_sigcopy_common = {
	.scm_fpsimd = RECORD(FPSIMD_MAGIC, FPSIMD_FRAME_BYTES),
	.scm_records = { RECORD(ESR_MAGIC, ESR_BYTES) },
	.scm_pstate = ~(PSTATE_BTYPE | PSTATE_SS | PSTATE_IL | PSTATE_TCO),
};

void
arm64_sigframe_init(void)
{
	uint64_t *sve = &arm64_sigcopy_common.scm_records[2];

	if (arm64_sve_bytes() != 0) {
		sve[0] = RECORD(SVE_MAGIC, SVE_HEAD_BYTES);
		sve[1] = arm64_sve_bytes();
	}
}

/* Write the SVE record and the end of the records. */
static void
write_sve(void *at)
{
	const struct arm64_fp *fp = arm64_fp_self();

	arm64_sve_save_frame(fp, at);
	*(uint64_t *)((char *)at + arm64_sve_frame_bytes(fp)) = 0;
}

/* Write the frame of an LWP that uses SVE. */
static int
push_sve(struct trapframe *tf, const struct sigframe *sf,
    struct sigframe_user *f, const struct sigcopy_more *more)
{
	struct arm64_fp *fp = arm64_fp_self();
	struct trapframe before = *tf;

	/* arm64_sigcopy_out() destroys parts of z0 and z1: save all first. */
	arm64_fp_switch(fp, NULL);
	int err = arm64_sigcopy_out(tf, sf, f, more);
	arm64_fp_switch(NULL, fp);
	if (err == 0)
		err = arm64_try(
		    write_sve, f->records + FPSIMD_FRAME_BYTES + ESR_BYTES);
	if (err != 0)
		*tf = before;
	return err;
}

/* Write a frame with SVE registers, or after a fault. */
static int
push_more(struct trapframe *tf, const struct sigframe *sf,
    struct sigframe_user *f, bool fault)
{
	struct sigcopy_more more = arm64_sigcopy_common;

	if (fault) {
		more.scm_fault_address = sf->sf_info->si_addr;
		more.scm_records[1] = tf->tf_esr;
	}
	return arm64_sve_on() ? push_sve(tf, sf, f, &more)
	                      : arm64_sigcopy_out(tf, sf, f, &more);
}

int
arch_sigframe_push(struct trapframe *tf, const struct sigframe *sf)
{
	bool fault = is_fault(sf->sf_info->si_signo);
	uintptr_t sp = sf->sf_stack != 0 ? sf->sf_stack : tf->tf_sp;
	uintptr_t at =
	    (sp - sizeof(struct sigframe_user)) & -(uintptr_t)STACK_ALIGN;

	/* If the subtraction wrapped, `at` is above USER_TOP. */
	if (at > USER_TOP - sizeof(struct sigframe_user) || at < sf->sf_limit ||
	    sf->sf_act->sa_handler >= USER_TOP)
		return EFAULT;
	if (fault || arm64_sve_on())
		return push_more(tf, sf, (void *)at, fault);
	return arm64_sigcopy_out(tf, sf, (void *)at, &arm64_sigcopy_common);
}

/* The part of a frame that the slow path reads. */
struct rest {
	const struct sigframe_user *r_frame;
	uint64_t r_sp, r_pc, r_pstate;
	bool r_damaged;
};

/* Read the records.  A program may have changed each of them. */
static void
read_rest(void *arg)
{
	struct rest *rest = arg;
	const struct sigframe_user *f = rest->r_frame;
	const char *at = f->records, *end = at + RECORDS_BYTES;
	const char *fpsimd = NULL, *sve = NULL;

	rest->r_damaged = true;
	rest->r_sp = f->sp;
	rest->r_pc = f->pc;
	rest->r_pstate = f->pstate;
	while ((size_t)(end - at) >= sizeof(struct record)) {
		struct record r = *(const volatile struct record *)at;

		if (r.magic == 0 && r.bytes == 0)
			break;
		if (r.bytes < sizeof r || r.bytes % 16 != 0 ||
		    r.bytes > (size_t)(end - at))
			return;
		if (r.magic == FPSIMD_MAGIC && fpsimd == NULL &&
		    r.bytes == FPSIMD_FRAME_BYTES)
			fpsimd = at;
		else if (r.magic == SVE_MAGIC && sve == NULL &&
			 arm64_sve_frame_good(at))
			sve = at;
		else if (r.magic != ESR_MAGIC)
			return;
		at += r.bytes;
	}
	if (fpsimd == NULL)
		return;
	arm64_fp_load_frame(arm64_fp_self(), fpsimd, sve);
	rest->r_damaged = false;
}

int
arm64_sigframe_pop(struct trapframe *tf, struct sigkept *kept)
{
	struct rest rest = { .r_frame = (const void *)tf->tf_sp };
	uint64_t changed, may;

	(void)kept; /* sigcopy.S filled it in */
	if (tf->tf_sp % STACK_ALIGN != 0 ||
	    tf->tf_sp > USER_TOP - sizeof(struct sigframe_user))
		return EFAULT;
	if (arm64_try(read_rest, &rest) != 0 || rest.r_damaged)
		return EFAULT;
	may = (tf->tf_pstate & PSTATE_EL1T) != 0 ? PSTATE_SYSTEM : PSTATE_USER;
	changed = rest.r_pstate ^ tf->tf_pstate;
	if (rest.r_pc >= USER_TOP ||
	    (changed & ~may & (PSTATE_MODE | PSTATE_DAIF)) != 0)
		return EFAULT;
	tf->tf_sp = rest.r_sp;
	tf->tf_pc = rest.r_pc;
	tf->tf_pstate ^= changed & may;
	return 0;
}
