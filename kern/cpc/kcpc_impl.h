/*
 * The structures and functions that the files of kern/cpc/ share.  Included by
 * them, by kern/debug/test_hooks.c and by tests/host.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/sys/cpc.h"
#include "kern/arch.h"
#include "kern/cpc/assign.h"
#include "kern/cpc/pcbe.h"
#include "kern/sched/timer.h"

struct cpu;
struct kcpc_profile;
struct lwp;
struct perf_lwp;
struct proc;
struct trapframe;

/*
 * An operation of kcpc_syscall(): its arguments are a[0..3], the result is a
 * value or -errno.  kern/debug/test_hooks.c adds those for tests.
 */
typedef intptr_t kcpc_op_fn(const uintptr_t *a);
void kcpc_add_op(unsigned op, kcpc_op_fn *fn);

struct kcpc_request {
	uint64_t kr_code;   /* the backend's code of the event */
	uint64_t kr_preset; /* the count after a restart */
};

/*
 * A context: a bound set on one LWP or one CPU.  Its states are at the head of
 * kern/cpc/start_stop.c.
 *
 * While it is running, only its CPU touches its flags, counts and clocks, with
 * interrupts off.  Counts and ticks are in kc_pcbe.ps_page: the LWP's counter
 * page if it has one, else kc_own.
 */
struct kcpc_ctx {
	struct pcbe_set kc_pcbe; /* first: both have the same address */
	uint32_t kc_flags;
	cpc_setid_t kc_set;   /* the library's name of the set, in kc_proc */
	uint64_t kc_page_set; /* its CPC_PAGE_SET(); 0: no program reads it */
	/* A controller's context has its LWP in another process (target.c). */
	struct proc *kc_proc;
	struct cpu *kc_cpu; /* the CPU it counts for; NULL: it is an LWP's */
	struct lwp *kc_lwp; /* the LWP it counts for; NULL: it is a CPU's */
	struct lwp
	    *kc_binder; /* a CPU's: who bound it, or NULL: a descriptor */

	struct kcpc_ctx *kc_next, **kc_link; /* in the list of all */

	/* Runs with the context if that has KCPC_CTX_NO_OVF_INTR. */
	struct timer kc_fold;
	uint32_t kc_notify; /* bit n: PIC n counts a notify request */
	struct kcpc_profile *kc_profile; /* the profile it counts for */
	struct perf_lwp *kc_perf; /* kern/sys/linux/perf_event.c, or NULL */
	/* A profile's: where its overflow hit the kernel, or 0... */
	uint64_t kc_nmi_pc;
	unsigned kc_image; /* ...and the number of its program */
	struct kcpc_usage {
		const struct cpu *us_cpu; /* its LWP's last CPU, or NULL */
		bool us_on;               /* its LWP is on a CPU since... */
		hrtime_t us_since;
		uint64_t us_faults_before;
		struct cpc_profile_usage us_is;
	} kc_usage; /* a profile's: usage.c */
	uint32_t kc_nreqs;
	/* A controller's: what it bound, for CPC_OP_LEVEL.  Else NULL. */
	struct cpc_pack *kc_pack;
	/* By request.  The members up to here are 0 in a new context. */
	struct pcbe_cfg kc_cfg[PCBE_MAXPIC]; /* ps_cfg */
	struct kcpc_request kc_reqs[PCBE_MAXPIC];
	struct cpc_page kc_own; /* its counts while its LWP has no page */
	struct cpc_page_req kc_own_reqs[PCBE_MAXPIC];
};

/* kc_flags; the values are illumos's, but for the last two. */
#define KCPC_CTX_FREEZE     0x1 /* frozen or invalid */
#define KCPC_CTX_SIGOVF     0x2 /* SIGEMT is due */
#define KCPC_CTX_LWPINHERIT 0x8
#define KCPC_CTX_INVALID    0x100 /* invalid; FREEZE is set, too */
/* It counts for a profile: its LWP's calls do not find it. */
#define KCPC_CTX_PROFILE 0x2000
/* It uses a PIC that can wrap without an interrupt; kc_fold folds it. */
#define KCPC_CTX_NO_OVF_INTR 0x80000000

/* It counts on one core type. */
#define KCPC_CTX_TYPED 0x10000

/* Calls of its LWP are refused. */
#define KCPC_CTX_UNAVAILABLE (KCPC_CTX_INVALID | KCPC_CTX_PROFILE)

/* An LWP's counter page (counter_page.c). */
struct kcpc_page {
	struct cpc_page *kg_page;
	uintptr_t kg_uva;
	uintptr_t kg_read, kg_read_end; /* the program's read sequence */
	uintptr_t kg_fail;              /* its exit when a read faults */
};

/*
 * The request's flags.  A privilege modifier in the event's name replaces
 * their CPC_COUNT_*.
 */
static inline uint32_t
kcpc_request_flags(const struct cpc_packreq *pr)
{
	const uint32_t levels =
	    CPC_COUNT_USER | CPC_COUNT_SYSTEM | CPC_COUNT_HV;
	uint32_t named = pr->cr_event.ce_flags;

	if ((named & CPC_EVENT_LEVELS) == 0)
		return pr->cr_flags;
	return (pr->cr_flags & ~levels) |
	       (named >> CPC_EVENT_LEVEL_SHIFT & levels);
}

/* The backend, or NULL. */
extern const struct pcbe_ops *kcpc_ops;

/*
 * The CPUs and PICs that a set may use.  The first is for sets without a core
 * type: all CPUs have that.  The next ones are for the core types, by their
 * ps_type.
 */
struct kcpc_type {
	const char *kt_name;
	struct cpuset kt_cpus;
	uint64_t kt_pics;  /* PICs that passed their proof */
	unsigned kt_npic;  /* PIC numbers are less than this */
	uint32_t kt_attrs; /* bit n: attribute n */
};
extern struct kcpc_type kcpc_types[1 + PCBE_MAXTYPE];

/* Facts of each PIC that bind needs, asked of the backend once, at boot. */
struct kcpc_pic {
	uint32_t kpc_index;   /* its number in a user-level read */
	uint64_t kpc_mask;    /* 2^width - 1 */
	bool kpc_no_ovf_intr; /* it can wrap, and raises no interrupt */
};
extern struct kcpc_pic kcpc_pic[PCBE_MAXPIC];

/* init/init.c: take the PIC away from all binds, for the reason `why`. */
void kcpc_keep_back(unsigned pic, const char *why);

/* The CPC_CAP_* bits that programs see. */
uint32_t kcpc_caps(void);
/*
 * Record for the run's exit status that a program asked to count something,
 * and whether it was refused.  Binds, unknown event names, and cpc_open()
 * without a PMU count as asking.
 */
void kcpc_asked(bool refused);

/*
 * refuse.c: set the subcode of a refusal.  Returns its errno.  short(): these
 * requests cannot all have a PIC.
 */
int kcpc_refuse(struct cpc_refusal *rf, int subcode);
int kcpc_refuse_short(struct cpc_refusal *rf, const struct kcpc_short *ks);

/*
 * context.c: make a context of a whole pack, whose core type exists, with `cpu`
 * as ps_cpu.  It belongs to no LWP yet.  Its counts are in `page`, which no
 * program reads now; NULL: kc_own.  Returns 0 or an errno, with a subcode in rf
 * if one applies.
 */
int kcpc_ctx_create(const struct cpc_pack *pack, bool privileged, unsigned cpu,
    struct cpc_page *page, struct kcpc_ctx **ctxp, struct cpc_refusal *rf);
/* Copy a context, counts included, to kc_own.  NULL: out of memory. */
struct kcpc_ctx *kcpc_ctx_copy(const struct kcpc_ctx *from);
/* The counts of a stopped context move to another page. */
void kcpc_page_move(struct kcpc_ctx *ctx, struct cpc_page *to);
void kcpc_ctx_destroy(struct kcpc_ctx *ctx);

/* The 64-bit count of request i, of a context that is not running. */
static inline uint64_t *
kcpc_count(struct kcpc_ctx *ctx, unsigned i)
{
	return &ctx->kc_pcbe.ps_page->cg_req[i].cq_data;
}

/*
 * Show the program's direct reads a set that is running, or one that is frozen:
 * its CPC_PAGE_SET(); or neither, so that they call the kernel.  Only this
 * writes these fields.
 */
static inline void
kcpc_page_show(struct cpc_page *cg, uint64_t running, uint64_t frozen)
{
	cg->cg_set = running;
	cg->cg_frozen = frozen;
}

/* A direct read that is under way starts again, and calls the kernel. */
static inline void
kcpc_page_shut(struct kcpc_ctx *ctx)
{
	ctx->kc_pcbe.ps_page->cg_seq++;
	kcpc_page_show(ctx->kc_pcbe.ps_page, 0, 0);
}

/*
 * start_stop.c.  The CPU whose PICs count for the context.  NULL: it is frozen,
 * or its LWP waits.
 */
struct cpu *kcpc_counting_cpu(const struct kcpc_ctx *ctx);
static inline bool
kcpc_running(const struct kcpc_ctx *ctx)
{
	return kcpc_counting_cpu(ctx) == arch_curcpu();
}

/* Count: the page shows the context as running.  Its owner is on this CPU. */
void kcpc_start(struct kcpc_ctx *ctx);
/*
 * Stop, wherever it counts, and fold its counts.
 *
 * An overflow whose interrupt is still to come belongs to the context that is
 * stopped, not to the one that runs when the interrupt comes.  If it is a
 * notify request's, the context freezes.  kcpc_stop() does not close the
 * counter page: the caller starts, freezes or ends the context.
 */
void kcpc_stop(struct kcpc_ctx *ctx);
/* Stop and start, on this CPU; may freeze. */
void kcpc_fold(struct kcpc_ctx *ctx);
/* Freeze a stopped context.  KCPC_CTX_SIGOVF in flags also posts SIGEMT. */
void kcpc_freeze(struct kcpc_ctx *ctx, uint32_t flags);
/* The number of stray PMIs. */
extern uint64_t kcpc_stray;

/* lwp_ops.c: the operations on the current LWP l.  0 or an errno. */
int kcpc_bind(struct lwp *l, const struct cpc_pack *pack, uint32_t flags,
    struct cpc_refusal *rf);
/* *s has room for n values.  EINVAL if the set has not n requests. */
int kcpc_sample(struct lwp *l, cpc_setid_t set, size_t n, struct cpc_sample *s);
/*
 * The same for a context that is running on this CPU, or not running; of an
 * LWP that a controller stopped, too.
 */
int kcpc_ctx_sample(struct kcpc_ctx *ctx, size_t n, struct cpc_sample *s);
int kcpc_rele(struct lwp *l, cpc_setid_t set);
/*
 * The LWP's context, if it is an instance of `set` (0: of any set).  EINVAL if
 * not, or if it is a profile's; EAGAIN, with *ctxp set, if it is invalid.
 */
int kcpc_find(struct lwp *l, cpc_setid_t set, struct kcpc_ctx **ctxp);
/*
 * Make a context of the LWP, without starting it: of the current LWP, or of one
 * that rests.  The set is the current process's.
 */
int kcpc_hang(
    struct lwp *l, const struct cpc_pack *pack, struct cpc_refusal *rf);
/* Release the LWP's context, if it has one. */
void kcpc_drop(struct lwp *l);
/* Make an LWP's context invalid, on whichever CPU it runs. */
void kcpc_invalidate(struct kcpc_ctx *ctx);

/*
 * owner.c: let the LWP run on CPUs of this type only, until lwp_run_only() with
 * NULL.  The current LWP moves to one of them.  Returns 0 or an errno.
 */
int kcpc_type_enter(struct lwp *l, unsigned type, struct cpc_refusal *rf);
/* A new LWP runs where the context that it inherits counts. */
void kcpc_type_inherit(const struct kcpc_ctx *ctx, struct lwp *child);
/* Refuse a set that this CPU cannot count. */
int kcpc_type_check(unsigned type, const struct cpu *c, struct cpc_refusal *rf);
/*
 * init/proof.c: prove a PIC on this CPU, for sets of this ps_type.  Leaves it
 * stopped.  Returns NULL, or what is wrong ("reads 0 after 4200 instructions").
 */
const char *kcpc_prove(
    const struct pcbe_ops *backend, unsigned pic, unsigned type);
/* Instructions of a number of turns; 0 if the PIC counts others. */
uint64_t kcpc_count_turns(const struct pcbe_ops *backend, unsigned pic);
/* init/crosstalk.c: prove that the PIC counts nothing of another CPU. */
void kcpc_prove_alone(const struct pcbe_ops *backend, unsigned pic);
extern const char *kcpc_crosstalk; /* or why no set can be bound */

/* context.c: add it to its set's instances (kc_proc, kc_set), or remove it. */
void kcpc_instance_add(struct kcpc_ctx *ctx);
void kcpc_instance_remove(struct kcpc_ctx *ctx);
/* One of the set's instances, or NULL; their number. */
struct kcpc_ctx *kcpc_instance(const struct proc *p, cpc_setid_t set);
uint32_t kcpc_instances(const struct proc *p, cpc_setid_t set);
/* The CPU context that the LWP bound last, or NULL. */
struct kcpc_ctx *kcpc_newest_bound_by(const struct lwp *l);
/* Release all instances of the process's set. */
void kcpc_revoke(struct proc *p, cpc_setid_t set);
/* Call fn for every instance of every set.  fn adds and removes none. */
void kcpc_each_instance(void (*fn)(struct kcpc_ctx *ctx));

/*
 * First kcpc_cpu_check() of owner.c says whether the LWP may bind a set to this
 * CPU.  Then, in cpu_ops.c, kcpc_cpu_bind() moves the current LWP l to the CPU
 * and binds the set, which has no instance.  Both return 0 or an errno.
 */
int kcpc_cpu_check(const struct lwp *l, uintptr_t cpu, struct cpc_refusal *rf);
int kcpc_cpu_bind(struct lwp *l, struct cpu *c, const struct cpc_pack *pack,
    struct cpc_refusal *rf);
/*
 * owner.c.  The CPU's PICs are taken from LWPs, or given back.  In between they
 * count for one context after the other, or for none.
 */
void kcpc_cpu_claim(struct cpu *c);
void kcpc_cpu_release(struct cpu *c);
/* May this CPU be claimed?  EAGAIN: it is; EACCES: another of its PMU is. */
int kcpc_cpu_free(const struct cpu *c);
/* Count for ctx on this CPU c, which has no context; or end the CPU's. */
void kcpc_cpu_attach(struct cpu *c, struct kcpc_ctx *ctx);
void kcpc_cpu_detach(struct cpu *c);
/* Release a CPU's context, and undo its binder's processor binding. */
void kcpc_cpu_drop(struct kcpc_ctx *ctx);
/* Release the CPU contexts that the LWP bound.  At exit and exec. */
void kcpc_cpu_lwp_exit(struct lwp *l);
/*
 * The CPU context of the set, if l bound it.  EINVAL if not; EAGAIN if l is
 * no longer bound to that CPU.
 */
int kcpc_cpu_find(struct lwp *l, cpc_setid_t set, struct kcpc_ctx **ctxp);
/*
 * owner.c.  May sets be bound to LWPs?  0; EAGAIN while a CPU is claimed;
 * EACCES if LWPs of two online CPUs would share PICs.
 */
int kcpc_lwp_check(void);
/* The number of CPUs that are claimed. */
extern unsigned kcpc_ncpuset;

/*
 * cpu_ops.c: the operations on a descriptor of /dev/cpc_shared.  0 or an errno.
 * find() gets it for LWP l.  EBADF: fd is no such descriptor; EAGAIN: l is not
 * bound to its CPU, or does not run there yet.
 */
int kcpc_shared_find(const struct lwp *l, uintptr_t fd, struct cpu **cp);
int kcpc_shared_bind(
    struct cpu *c, const struct cpc_pack *pack, struct cpc_refusal *rf);

/*
 * target.c: whose context does a call mean?  0 or an errno.
 *
 * ctx() sets *ctxp to the context of the set at a target, or to NULL.  EAGAIN
 * with a context: it is invalid, or the LWP does not run on its CPU.
 */
int kcpc_target_ctx(uintptr_t target, cpc_setid_t set, struct kcpc_ctx **ctxp);
int kcpc_target_rele(uintptr_t target, cpc_setid_t set);
/* Find the LWP that CPC_TARGET() names.  It is not running. */
int kcpc_target_lwp(uintptr_t target, struct lwp **lp);
/*
 * The current LWP's context, which a controller bound and which is stopped,
 * begins again with the requests of kc_pack.  Its ticks continue.  If that
 * fails, the context is gone.
 */
int kcpc_pctx_again(struct kcpc_ctx *ctx);
/* Is the context bound by the controller of its LWP's process? */
bool kcpc_is_pctx(const struct kcpc_ctx *ctx);

/* op_bind.c: the operation that binds a set. */
kcpc_op_fn kcpc_op_bind;

/* counter_page.c */
void kcpc_page_free(struct lwp *l);
/* profile/profile.c: a copy of a profile's context begins to count. */
void kcpc_profile_inherit(struct kcpc_ctx *ctx);
/* The profile of LWP parent, if any, counts its forked child, too. */
int kcpc_profile_fork(const struct lwp *parent, struct lwp *child);
/* Take the samples that NMIs logged while the context, now stopped, ran. */
void kcpc_profile_nmi_samples(struct kcpc_ctx *ctx);
/*
 * The context froze on its overflow: take a sample and start it again.  tf is
 * the frame by which its LWP returns to the program.
 */
void kcpc_profile_sample(struct kcpc_ctx *ctx, const struct trapframe *tf);
/* The context goes: add its counts to its profile's, if it has one. */
void kcpc_profile_end(struct kcpc_ctx *ctx);
kcpc_op_fn kcpc_op_profile, kcpc_op_profile_stat, kcpc_op_profile_image;

/* counter_page.c */
kcpc_op_fn kcpc_op_page;

/*
 * The contexts of perf_event_open(2), above kcpc.  They have kc_perf, and this
 * profile, which takes no samples.  inherit() returns 0 or EAGAIN.
 * overflowed() starts a frozen context again.  A context that has started or
 * stopped calls show().
 */
struct kcpc_perf_ops {
	int (*inherit)(const struct lwp *parent, struct lwp *child);
	void (*executed)(struct lwp *l);
	void (*ended)(struct kcpc_ctx *ctx);
	void (*overflowed)(struct kcpc_ctx *ctx);
	void (*show)(struct kcpc_ctx *ctx, bool on);
};
extern const struct kcpc_perf_ops *kcpc_perf;
extern struct kcpc_profile kcpc_perf_profile;
