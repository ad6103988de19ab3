/*
 * kcpc's own structures.  Included by kern/kcpc*.c and tests/host.
 */
#ifndef KERN_CPC_KCPC_IMPL_H
#define KERN_CPC_KCPC_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/sys/cpc.h"
#include "kern/cpc/assign.h"
#include "kern/cpc/pcbe.h"
#include "kern/sched/timer.h"

struct cpu;
struct lwp;
struct proc;
struct trapframe;

struct kcpc_request {
	uint64_t kr_code;   /* the event, as the backend has it */
	uint64_t kr_preset; /* where a restart starts from */
};

/*
 * A bound set on one LWP or one CPU.  FREEZE, counts and clocks are touched
 * only on that CPU, or the one that runs the LWP, interrupts off, or while
 * none does.  Counts and cycles are in kc_pcbe's ps_page: the LWP's counter
 * page, where it has one.
 */
struct kcpc_ctx {
	struct pcbe_set kc_pcbe; /* first: the backend's is at hand */
	uint32_t kc_flags;
	int kc_was_bound;   /* of a CPU's: where its binder was bound, or -1 */
	uint64_t kc_nth;    /* and which of all so bound it is */
	cpc_setid_t kc_set; /* the library's name for it, in kc_proc */
	struct proc *kc_proc;
	struct cpu *kc_cpu; /* whose it is; NULL: an LWP's */
	struct lwp *kc_lwp; /* whose it is, or who bound it to a CPU */

	/* kcpc_instances.c */
	struct kcpc_ctx *kc_ring, *kc_ring_prev; /* instances of the set */
	struct kcpc_ctx *kc_next, **kc_link;     /* of its head: the chain */
	uint32_t kc_instances;                   /* of its head: how many */

	struct timer kc_fold; /* runs while one that is MUTE does */
	uint32_t kc_notify;   /* bit n: PIC n's overflow is to be told */
	struct kcpc_profile *kc_profile; /* it counts for this, or NULL */
	uint64_t kc_nmi_pc; /* a profile's: where in the kernel, or 0 */
	unsigned kc_image;  /* and the number of its program */
	uint32_t kc_room;   /* kcpc_bind.c: for so many requests */
	uint32_t kc_nreqs;
	struct kcpc_request *kc_reqs;
	struct cpc_page *kc_own; /* the counts of an LWP without a page */
};

/* kc_flags; these values are illumos's. */
#define KCPC_CTX_FREEZE     0x1 /* the PICs do not count for it */
#define KCPC_CTX_SIGOVF     0x2 /* SIGEMT is due */
#define KCPC_CTX_LWPINHERIT 0x8
#define KCPC_CTX_INVALID    0x100 /* revoked, for ever; frozen, too */
/* Ours alone: it is a profile's, of which its LWP does not know... */
#define KCPC_CTX_PROFILE 0x2000
/* ...and a narrow PIC in use cannot tell of its overflow. */
#define KCPC_CTX_NO_OVF_INTR 0x80000000

#define KCPC_CTX_UNAVAILABLE (KCPC_CTX_INVALID | KCPC_CTX_PROFILE)

/* A request as the library packed it, checked to lie within the pack. */
struct kcpc_want {
	const struct cpc_packreq *kw_req;
	const struct cpc_packattr *kw_attrs;
};
/* The request's CPC_COUNT_* and other flags, the event's name obeyed. */
uint32_t kcpc_request_flags(const struct cpc_packreq *pr);

/* The backend, or NULL; the PICs that passed their proof; how many there are.
 */
extern const struct pcbe_ops *kcpc_ops;
extern uint64_t kcpc_pics;
extern unsigned kcpc_npic;

/* What a bind wants to know of each PIC; the backend was asked once. */
struct kcpc_pic {
	uint32_t kp_index;   /* what the machine's user-level read takes */
	uint8_t kp_shift;    /* 64 - width */
	bool kp_no_ovf_intr; /* narrow, and its overflow tells nobody */
};
extern struct kcpc_pic kcpc_pic[PCBE_MAXPIC];

/* kcpc_init.c: the PIC is nobody's to bind from now on, and why. */
void kcpc_keep_back(unsigned pic, const char *why);

/* CPC_CAP_*, as programs see it. */
uint32_t kcpc_caps(void);
/*
 * A program asked to count something; was it refused?  Without a PMU it asks
 * by cpc_open(), with one by naming an event that is not known, and by binding.
 */
void kcpc_asked(bool refused);

/*
 * kcpc_reason.c: what kcpc_reason() of kern/cpc/pcbe.h said since it was last
 * cleared.
 */
void kcpc_reason_clear(void);
const char *kcpc_reason_text(void);
/* It was said of request i; or these requests cannot all have a PIC. */
void kcpc_reason_request(unsigned i);
void kcpc_reason_short(const struct kcpc_short *ks);

/*
 * kcpc_bind.c: make a context, which is on no LWP yet.  Returns 0, or an errno
 * and, where there is more to say, *subcode.
 */
int kcpc_ctx_create(const struct kcpc_want *want, unsigned n, bool privileged,
    struct kcpc_ctx **ctxp, int *subcode);
/* The same again; NULL where memory is out. */
struct kcpc_ctx *kcpc_ctx_copy(const struct kcpc_ctx *from);
void kcpc_ctx_destroy(struct kcpc_ctx *ctx);

/* It is not frozen, and it or its LWP is on this CPU. */
bool kcpc_running(const struct kcpc_ctx *ctx);

/* The 64-bit count of request i, of a context that is not running. */
static inline uint64_t *
kcpc_count(struct kcpc_ctx *ctx, unsigned i)
{
	return &ctx->kc_pcbe.ps_page->cg_req[i].cq_data;
}

/* The page tells of the set no longer; its reader asks the kernel. */
static inline void
kcpc_page_shut(struct kcpc_ctx *ctx)
{
	ctx->kc_pcbe.ps_page->cg_seq++;
	ctx->kc_pcbe.ps_page->cg_set = 0;
	ctx->kc_pcbe.ps_page->cg_frozen = 0;
}

/*
 * kcpc_run.c: the PICs begin to count for the context, whose LWP is current
 * on this CPU; or they stop, and their counts are taken.  An overflow no
 * interrupt has told of yet is this context's, not that of whoever runs when
 * the interrupt comes: if a notify request is among them the context freezes.
 * kcpc_stop() returns what overflowed.
 */
void kcpc_start(struct kcpc_ctx *ctx);
uint64_t kcpc_stop(struct kcpc_ctx *ctx);
/* Stop it on whichever CPU it counts, if on any. */
void kcpc_halt(struct kcpc_ctx *ctx);
/* Both, as a switch to another LWP and back does; it may freeze. */
void kcpc_refresh(struct kcpc_ctx *ctx);
/* From now on the context, which is stopped, is frozen. */
void kcpc_freeze(struct kcpc_ctx *ctx);
/* The same, and its LWP is signalled. */
void kcpc_signal(struct kcpc_ctx *ctx);
/* CPC_OP_TEST_DISTURB */
int kcpc_test_disturb(struct lwp *l, uint64_t ticks, uintptr_t how);
/* Overflow interrupts that belonged to no one. */
extern uint64_t kcpc_stray;

/*
 * kcpc.c: the operations, on the current LWP l.  0 or an errno.
 */
int kcpc_bind(struct lwp *l, cpc_setid_t set, const struct kcpc_want *want,
    unsigned n, uint32_t flags, int *subcode);
/* *s has room for n values, which must be what the set has. */
int kcpc_sample(struct lwp *l, cpc_setid_t set, size_t n, struct cpc_sample *s);
int kcpc_rele(struct lwp *l, cpc_setid_t set);
int kcpc_preset(struct lwp *l, uintptr_t index, uint64_t preset);
int kcpc_restart(struct lwp *l, cpc_setid_t set);
int kcpc_enable(struct lwp *l);
int kcpc_disable(struct lwp *l);
/* The LWP's context, if it is one of `set` (0: of any), and valid. */
int kcpc_find(struct lwp *l, cpc_setid_t set, struct kcpc_ctx **ctxp);
/* Release whatever context the LWP has. */
void kcpc_drop(struct lwp *l);
/* Revoke an LWP's context, wherever that runs: from then on EAGAIN. */
void kcpc_invalidate(struct kcpc_ctx *ctx);
/* Release all instances of the process's set. */
void kcpc_revoke(struct proc *p, cpc_setid_t set);

/*
 * kcpc_instances.c: a context begins, or ceases, to be an instance of its set
 * (kc_proc, kc_set).
 */
void kcpc_instance_add(struct kcpc_ctx *ctx);
void kcpc_instance_remove(struct kcpc_ctx *ctx);
/* One of the set's instances, or NULL; how many there are. */
struct kcpc_ctx *kcpc_instance(const struct proc *p, cpc_setid_t set);
uint32_t kcpc_instances(const struct proc *p, cpc_setid_t set);
/* Call fn for every instance of every set; it adds and removes none. */
void kcpc_each_instance(void (*fn)(struct kcpc_ctx *ctx));

/*
 * kcpc_cpu.c: may the LWP bind a set to this CPU?  Then do so: the current
 * LWP l goes to the CPU, and the set, which has no instance, takes its
 * counters.  0 or an errno, and perhaps *subcode.
 */
int kcpc_cpu_judge(const struct lwp *l, uintptr_t cpu, int *subcode);
int kcpc_cpu_bind(struct lwp *l, struct cpu *c, cpc_setid_t set,
    const struct kcpc_want *want, unsigned n, int *subcode);
/* Release a CPU's context, and let its binder go where it was. */
void kcpc_cpu_drop(struct kcpc_ctx *ctx);
/* Those the LWP has bound: it ends, or its program does. */
void kcpc_cpu_lwp_exit(struct lwp *l);
/*
 * The CPU context of the set that l bound.  EINVAL where there is none,
 * EAGAIN where l is no longer on that CPU to stay.
 */
int kcpc_cpu_find(struct lwp *l, cpc_setid_t set, struct kcpc_ctx **ctxp);
/*
 * May sets be bound to LWPs?  0, EAGAIN while one is bound to a CPU, EACCES
 * where LWPs of two CPUs would share PICs.
 */
int kcpc_lwps_may_count(void);
/* How many CPUs have a set. */
extern unsigned kcpc_ncpuset;

/*
 * kcpc_names.c: the operations on names, with their arguments as the system
 * call has them.  A result, or -errno.
 */
intptr_t kcpc_pmu(const uintptr_t *a);
intptr_t kcpc_unresolved(const uintptr_t *a);
intptr_t kcpc_impl_name(const uintptr_t *a);
intptr_t kcpc_cpuref(const uintptr_t *a);
intptr_t kcpc_kernel_symbol(const uintptr_t *a);

/*
 * kcpc_page.c: the counts of the context, which does not run, are in its
 * LWP's counter page from now on, if it has one.
 */
void kcpc_page_enter(struct kcpc_ctx *ctx);
void kcpc_page_free(struct lwp *l);
/*
 * kcpc_profile.c: the context is a copy of a profile's and begins to count;
 * or, if it is a profile's, it goes.
 */
void kcpc_profile_inherit(struct kcpc_ctx *ctx);
/* LWP parent has forked: its child is a profile's, too, if it is one's. */
int kcpc_profile_fork(const struct lwp *parent, struct lwp *child);
/* It was stopped: samples of what struck the kernel, where it counted on. */
void kcpc_profile_nmi_samples(struct kcpc_ctx *ctx);
/* It overflowed: take a sample, tf being the LWP's way back, and count on. */
void kcpc_profile_sample(struct kcpc_ctx *ctx, const struct trapframe *tf);
void kcpc_profile_end(struct kcpc_ctx *ctx);
/* CPC_OP_PROFILE, CPC_OP_PROFILE_STAT, CPC_OP_PROFILE_IMAGE: 0 or an errno. */
int kcpc_profile_attach(struct lwp *l, uintptr_t fd, uintptr_t depth);
int kcpc_profile_stat(uintptr_t fd, uintptr_t uva);
int kcpc_profile_image(uintptr_t fd, uintptr_t n, uintptr_t uva);

/* The system call CPC_OP_PAGE. */
intptr_t kcpc_page_get(struct lwp *l, const uintptr_t *a);

#endif /* KERN_CPC_KCPC_IMPL_H */
