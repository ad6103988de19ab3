/*
 * A signal handler's frame, as Linux programs know it: uapi/asm/ucontext.h,
 * uapi/asm/sigcontext.h.  It is written and read in place, in user memory:
 * what every frame has by sigcopy.S, SVE registers and frames that programs
 * have changed the records of in arm64_try().
 */
#include "arch/arm64/arm64.h"
#include "arch/arm64/fp.h"
#include "arch/arm64/sigcopy.h"
#include "arch/arm64/sysreg.h"
#include "kern/arch.h"
#include "kern/errno.h"
#include "kern/lwp.h"
#include "kern/signal.h"

/*
 * PSTATE.  Arm ARM (DDI 0487), "SPSR_EL1": what a payload can set itself,
 * at EL0 and at EL1, and what a handler starts without.
 */
#define PSTATE_MODE  0x1fULL /* with nRW: AArch32 */
#define PSTATE_BTYPE 0xc00ULL
#define PSTATE_SSBS  (1ULL << 12)
#define PSTATE_IL    (1ULL << 20)
#define PSTATE_SS    (1ULL << 21)
#define PSTATE_DIT   (1ULL << 24)
#define PSTATE_TCO   (1ULL << 25)
#define PSTATE_NZCV  0xf0000000ULL
#define PSTATE_USER                                                            \
	(PSTATE_NZCV | PSTATE_TCO | PSTATE_DIT | PSTATE_SSBS | PSTATE_BTYPE)
#define PSTATE_SYSTEM (PSTATE_USER | PSTATE_DAIF | PSTATE_PAN)

#define ESR_MAGIC   0x45535201
#define STACK_ALIGN 16

/* The head of a record; one of zeros is the last. */
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
	/* Behind it: a frame record, so that backtraces go on. */
	uint64_t fp, lr;
};
#define AT(field) offsetof(struct sigframe_user, field)
_Static_assert(offsetof(struct sigframe, sf_info) == SGF_INFO, "asm.h");
_Static_assert(offsetof(struct sigframe, sf_kept) == SGF_KEPT, "asm.h");
_Static_assert(AT(uc_flags) == SF_FLAGS, "Linux's rt_sigframe; asm.h");
_Static_assert(AT(stack) == SF_STACK, "128 + ucontext's 16; asm.h");
_Static_assert(AT(fault_address) == SF_FAULT, "128 + ucontext's 176; asm.h");
_Static_assert(AT(x) == SF_X && AT(fp) == SF_FRAME, "asm.h");
_Static_assert(AT(records) == SF_RECORDS, "128 + sigcontext's 464; asm.h");

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

/* What is in a frame without SVE registers that no fault brought about. */
static struct sigcopy_more usual;

void
arm64_sigframe_init(void)
{
	if (arm64_sve_bytes() != 0) {
		usual.sm_records[0] = RECORD(SVE_MAGIC, SVE_HEAD_BYTES);
		usual.sm_records[1] = arm64_sve_bytes();
	}
}

/* SVE registers, and behind them the record that says why, if any. */
struct sve {
	char *s_at;
	const uint64_t *s_esr;
};

static void
write_sve(void *arg)
{
	const struct sve *s = arg;
	const struct arm64_fp *fp = arm64_fp_self();
	uint64_t *next = (uint64_t *)(s->s_at + arm64_sve_frame_bytes(fp));

	arm64_sve_save_frame(fp, s->s_at);
	next[0] = s->s_esr[0];
	next[1] = s->s_esr[1];
	next[2] = 0;
}

/* With SVE registers, or because of a fault. */
static int
write_more(struct sigframe_user *f, const struct trapframe *tf,
    const struct sigframe *sf)
{
	unsigned n = arm64_sve_bytes() != 0 ? 2 : 0;
	struct sigcopy_more more = usual;
	const struct sve sve = { f->records + FPSIMD_FRAME_BYTES,
		&more.sm_records[n] };
	int err;

	if (is_fault(sf->sf_info->si_signo)) {
		more.sm_fault_address = sf->sf_info->si_addr;
		more.sm_records[n] = RECORD(ESR_MAGIC, 2 * sizeof(uint64_t));
		more.sm_records[n + 1] = tf->tf_esr;
	}
	err = arm64_sigcopy_out(f, tf, sf, &more);
	if (err == 0 && arm64_fp_self()->f_sve)
		err = arm64_try(write_sve, (void *)&sve);
	return err;
}

int
arch_sigframe_push(struct trapframe *tf, const struct sigframe *sf)
{
	uintptr_t sp = sf->sf_stack != 0 ? sf->sf_stack : tf->tf_sp;
	uintptr_t handler = sf->sf_act->sa_handler;
	struct sigframe_user *f;
	int err;

	if (sp > USER_TOP || sp < sf->sf_limit ||
	    sp - sf->sf_limit < arm64_sigframe_bytes() || handler >= USER_TOP)
		return EFAULT;
	sp = (sp - sizeof *f) & -(uintptr_t)STACK_ALIGN;
	f = (struct sigframe_user *)sp;
	if (is_fault(sf->sf_info->si_signo) || arm64_fp_self()->f_sve)
		err = write_more(f, tf, sf);
	else
		err = arm64_sigcopy_out(f, tf, sf, &usual);
	if (err != 0)
		return err;

	tf->tf_pc = handler;
	tf->tf_sp = sp;
	tf->tf_x[0] = (uint64_t)sf->sf_info->si_signo;
	tf->tf_x[1] = (uintptr_t)&f->info;
	tf->tf_x[2] = (uintptr_t)&f->uc_flags;
	tf->tf_x[29] = (uintptr_t)&f->fp;
	tf->tf_x[30] = sf->sf_act->sa_restorer;
	tf->tf_pstate &= ~(PSTATE_BTYPE | PSTATE_SS | PSTATE_IL | PSTATE_TCO);
	return 0;
}

struct records {
	const char *r_first;
	bool r_damaged;
};

/* Walk the records, each of which a program may have changed. */
static void
read_records(void *arg)
{
	struct records *rs = arg;
	const char *at = rs->r_first, *end = at + RECORDS_BYTES;
	const char *fpsimd = NULL, *sve = NULL;

	rs->r_damaged = true;
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
	rs->r_damaged = false;
}

/* Are the records the usual ones? */
static bool
records_are_usual(const struct sigcopy_in *more)
{
	const uint64_t *r = more->sn_records;

	if (more->sn_fpsimd != RECORD(FPSIMD_MAGIC, FPSIMD_FRAME_BYTES) ||
	    arm64_fp_self()->f_sve)
		return false;
	if (r[0] == RECORD(SVE_MAGIC, SVE_HEAD_BYTES) &&
	    r[1] == usual.sm_records[1])
		r += 2;
	if (r[0] == RECORD(ESR_MAGIC, 2 * sizeof(uint64_t)))
		r += 2;
	return r[0] == 0;
}

static int
load_fp(const struct sigframe_user *f, const struct sigcopy_in *more)
{
	struct records rs = { f->records, false };

	if (records_are_usual(more))
		return arm64_sigcopy_fpsimd(f->records);
	return arm64_try(read_records, &rs) != 0 || rs.r_damaged ? EFAULT : 0;
}

int
arch_sigframe_pop(struct trapframe *tf, struct sigkept *kept)
{
	const struct sigframe_user *f = (const void *)tf->tf_sp;
	bool system = lwp_self()->l_system;
	uint64_t may = system ? PSTATE_SYSTEM : PSTATE_USER;
	struct sigcopy_in more;

	if (tf->tf_sp % STACK_ALIGN != 0 || tf->tf_sp > USER_TOP - sizeof *f)
		return EFAULT;
	if (arm64_sigcopy_in(f, tf, &more) != 0 || load_fp(f, &more) != 0)
		return EFAULT;
	if (more.sn_pc >= USER_TOP ||
	    ((more.sn_pstate ^ tf->tf_pstate) & PSTATE_MODE) != 0 ||
	    (!system && (more.sn_pstate & PSTATE_DAIF) != 0))
		return EFAULT;
	tf->tf_sp = more.sn_sp;
	tf->tf_pc = more.sn_pc;
	tf->tf_pstate = (tf->tf_pstate & ~may) | (more.sn_pstate & may);
	*kept = more.sn_kept;
	return 0;
}
