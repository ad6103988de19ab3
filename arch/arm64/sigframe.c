/*
 * A signal handler's frame, as Linux programs know it: uapi/asm/ucontext.h,
 * uapi/asm/sigcontext.h.  It is written and read in place, in user memory.
 */
#include "arch/arm64/arm64.h"
#include "arch/arm64/fp.h"
#include "arch/arm64/sysreg.h"
#include "kern/arch.h"
#include "kern/errno.h"
#include "kern/lwp.h"
#include "kern/signal.h"
#include "lib/string.h"

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

#define RECORDS_BYTES 4096
#define ESR_MAGIC     0x45535201
#define STACK_ALIGN   16

/* The head of a record; one of zeros is the last. */
struct record {
	uint32_t magic, bytes;
};

struct esr_record {
	struct record head;
	uint64_t esr;
};

struct frame {
	struct siginfo info;
	uint64_t info_rest[(SIGINFO_BYTES - sizeof(struct siginfo)) / 8];
	uint64_t uc_flags, uc_link;
	uint64_t stack_sp;
	uint32_t stack_flags, pad;
	uint64_t stack_bytes;
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
_Static_assert(offsetof(struct frame, uc_flags) == 128, "Linux's rt_sigframe");
_Static_assert(offsetof(struct frame, fault_address) == 128 + 176, "ucontext");
_Static_assert(offsetof(struct frame, records) == 128 + 464, "sigcontext");

size_t
arm64_sigframe_bytes(void)
{
	return sizeof(struct frame) + STACK_ALIGN;
}

struct push {
	const struct trapframe *p_tf;
	const struct sigframe *p_sf;
	struct frame *p_frame;
};

static void
write_records(char *at, const struct trapframe *tf, bool fault)
{
	const struct arm64_fp *fp = arm64_lwp_fp(lwp_self());
	char *fpsimd = at;

	at += FPSIMD_FRAME_BYTES;
	arm64_fp_save_frame(fp, fpsimd, at);
	at += arm64_sve_frame_bytes(fp);
	if (fault) {
		*(struct esr_record *)at = (struct esr_record){
			{ ESR_MAGIC, sizeof(struct esr_record) }, tf->tf_esr
		};
		at += sizeof(struct esr_record);
	}
	*(struct record *)at = (struct record){ 0, 0 };
}

static void
write_frame(void *arg)
{
	const struct push *p = arg;
	const struct trapframe *tf = p->p_tf;
	const struct sigframe *sf = p->p_sf;
	struct frame *f = p->p_frame;
	int sig = sf->sf_info->si_signo;
	bool fault = sig == SIGSEGV || sig == SIGBUS || sig == SIGILL ||
	             sig == SIGFPE || sig == SIGTRAP;

	f->info = *sf->sf_info;
	memset(f->info_rest, 0, sizeof f->info_rest);
	f->uc_flags = f->uc_link = 0;
	f->stack_sp = sf->sf_stack.ss_sp;
	f->stack_flags = sf->sf_stack.ss_flags;
	f->stack_bytes = sf->sf_stack.ss_bytes;
	f->mask = sf->sf_mask;
	f->fault_address = fault ? sf->sf_info->si_addr : 0;
	memcpy(f->x, tf->tf_x, sizeof f->x);
	f->sp = tf->tf_sp;
	f->pc = tf->tf_pc;
	f->pstate = tf->tf_pstate;
	f->fp = tf->tf_x[29];
	f->lr = tf->tf_x[30];
	write_records(f->records, tf, fault);
}

int
arch_sigframe_push(struct trapframe *tf, const struct sigframe *sf)
{
	struct push p = { .p_tf = tf, .p_sf = sf };
	uintptr_t sp = sf->sf_sp, handler = sf->sf_act->sa_handler;

	if (sp > USER_TOP || sp < sf->sf_limit ||
	    sp - sf->sf_limit < arm64_sigframe_bytes() || handler >= USER_TOP)
		return EFAULT;
	sp = (sp - sizeof(struct frame)) & -(uintptr_t)STACK_ALIGN;
	p.p_frame = (struct frame *)sp;
	if (arm64_try(write_frame, &p) != 0)
		return EFAULT;

	tf->tf_pc = handler;
	tf->tf_sp = sp;
	tf->tf_x[0] = (uint64_t)sf->sf_info->si_signo;
	tf->tf_x[1] = (uintptr_t)&p.p_frame->info;
	tf->tf_x[2] = (uintptr_t)&p.p_frame->uc_flags;
	tf->tf_x[29] = (uintptr_t)&p.p_frame->fp;
	tf->tf_x[30] = sf->sf_act->sa_restorer;
	tf->tf_pstate &= ~(PSTATE_BTYPE | PSTATE_SS | PSTATE_IL | PSTATE_TCO);
	return 0;
}

struct pop {
	const struct frame *o_frame;
	struct trapframe *o_tf;
	struct sigframe *o_sf;
	bool o_damaged;
};

/* Walk the records, each of which a program may have changed. */
static bool
read_records(const char *at)
{
	const char *end = at + RECORDS_BYTES, *fpsimd = NULL, *sve = NULL;

	while ((size_t)(end - at) >= sizeof(struct record)) {
		struct record r = *(const volatile struct record *)at;

		if (r.magic == 0 && r.bytes == 0)
			break;
		if (r.bytes < sizeof r || r.bytes % 16 != 0 ||
		    r.bytes > (size_t)(end - at))
			return false;
		if (r.magic == FPSIMD_MAGIC && fpsimd == NULL &&
		    r.bytes == FPSIMD_FRAME_BYTES)
			fpsimd = at;
		else if (r.magic == SVE_MAGIC && sve == NULL &&
			 arm64_sve_frame_good(at))
			sve = at;
		else if (r.magic != ESR_MAGIC)
			return false;
		at += r.bytes;
	}
	if (fpsimd == NULL)
		return false;
	arm64_fp_load_frame(arm64_lwp_fp(lwp_self()), fpsimd, sve);
	return true;
}

static void
read_frame(void *arg)
{
	struct pop *o = arg;
	const struct frame *f = o->o_frame;

	memcpy(o->o_tf->tf_x, f->x, sizeof f->x);
	o->o_tf->tf_sp = f->sp;
	o->o_tf->tf_pc = f->pc;
	o->o_tf->tf_pstate = f->pstate;
	o->o_sf->sf_mask = f->mask;
	o->o_sf->sf_stack =
	    (struct sigstack){ f->stack_sp, f->stack_bytes, f->stack_flags };
	o->o_damaged = !read_records(f->records);
}

int
arch_sigframe_pop(struct trapframe *tf, struct sigframe *sf)
{
	struct trapframe new = *tf;
	struct pop o = { .o_tf = &new, .o_sf = sf };
	bool system = lwp_self()->l_system;
	uint64_t may = system ? PSTATE_SYSTEM : PSTATE_USER;

	if (tf->tf_sp % STACK_ALIGN != 0 ||
	    tf->tf_sp > USER_TOP - sizeof(struct frame))
		return EFAULT;
	o.o_frame = (const struct frame *)tf->tf_sp;
	if (arm64_try(read_frame, &o) != 0 || o.o_damaged)
		return EFAULT;
	if (new.tf_pc >= USER_TOP ||
	    (new.tf_pstate &PSTATE_MODE) != (tf->tf_pstate & PSTATE_MODE) ||
	    (!system && (new.tf_pstate &PSTATE_DAIF) != 0))
		return EFAULT;
	new.tf_pstate = (tf->tf_pstate & ~may) | (new.tf_pstate &may);
	*tf = new;
	return 0;
}
