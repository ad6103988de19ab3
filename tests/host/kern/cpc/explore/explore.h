/*
 * The interleaving explorer.  A step is one entry to the kernel by an LWP on a
 * CPU, or one event between two entries.  A model predicts the result of each
 * step.  Included by the files of tests/host/kern/cpc/explore/.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kern/cpc/soft/soft_shape.h"
#include "tests/lib/host/kcpc/fake_kernel.h"

struct as;

#define EX_NCPU  2          /* the other CPUs of FAKE_NCPU are idle */
#define EX_NLWP  3          /* the third exists after a clone or fork */
#define EX_NPROC FAKE_NPROC /* the second has forked LWPs only */
#define EX_NSET  2
#define EX_NREQ  2 /* requests in a set, at most */
#define EX_IDLE  (-1)

/* A step of the CPU's LWP, except the first four and the last four. */
enum ex_op {
	EX_RUN1, /* switch to LWP 1 */
	EX_RUN2,
	EX_RUN3,
	EX_REST, /* switch to the idle LWP */
	EX_BIND1,
	EX_BIND2,
	EX_OWN1, /* bind set 1 without inheritance */
	EX_UNBIND1,
	EX_UNBIND2,
	EX_SAMPLE1,
	EX_SAMPLE2,
	EX_WORK,   /* instructions at user privilege */
	EX_SYSTEM, /* at system privilege */
	EX_READ,   /* one part of a read by the counter page */
	EX_DISABLE,
	EX_ENABLE,
	EX_RESTART,
	EX_PRESET,
	EX_CPU1,    /* bind set 1 to this CPU */
	EX_CPU2,    /* bind set 2 to the other CPU, and move there */
	EX_REVOKE1, /* unbind all instances of the set, of any LWP */
	EX_REVOKE2,
	EX_MOVE, /* bind the LWP to the other CPU, and move there */
	EX_FREE, /* end the LWP's binding to a CPU */
	EX_CLONE,
	EX_FORK,
	EX_EXEC, /* possible if the process has no other LWP */
	EX_EXIT,
	EX_INVALID, /* invalidate the LWP's context */
	EX_PMI,     /* deliver the pending overflow interrupt */
	EX_LOSE,    /* the pending interrupt never comes */
	EX_EXTRA,   /* an interrupt that no overflow asked for, or a second */
	EX_TIMER,   /* let the period of a timer pass */
	EX_NOP
};

struct ex_step {
	uint8_t ext_cpu;
	uint8_t ext_op;
};
#define EX_MAXSTEPS 64

/* The result of an operation. */
struct ex_result {
	int exr_err;
	uint64_t exr_count[EX_NREQ]; /* of a sample */
	uint64_t exr_ticks;
	bool exr_asked; /* a read needed the kernel */
	/* Two parts of a request: its entry in the page, then its PIC. */
	uint8_t exr_stage;
};

/* The requests of the sets, for the model and for the kernel. */
struct ex_request {
	const char *rq_event;
	unsigned rq_weight; /* events per instruction */
	unsigned rq_flags;
	uint64_t rq_preset;
};
struct ex_set {
	unsigned exs_n;
	struct ex_request exs_req[EX_NREQ];
};
extern const struct ex_set ex_sets[EX_NSET];

#define EX_STEPS       2 /* instructions per EX_WORK or EX_SYSTEM */
#define EX_NEW_PRESET  0xfffffffffffffffb
#define EX_TIMER_TICKS (100 * 1000000) /* the period of kcpc's timer */

/* The expected state of a context. */
struct ex_ctx {
	bool exc_live, exc_inherit, exc_frozen, exc_signal, exc_invalid;
	uint8_t exc_set;
	uint64_t exc_count[EX_NREQ], exc_preset[EX_NREQ];
	uint64_t exc_ticks; /* how long it was programmed */
};

struct ex_lwp {
	bool exl_alive;
	uint8_t exl_proc;
	int8_t exl_cpu;    /* the CPU that runs it, or EX_IDLE */
	int8_t exl_bound;  /* the CPU that it is bound to, or EX_IDLE */
	int8_t exl_before; /* before its first bind of a set to a CPU */
	uint8_t exl_signals;
	uint8_t exl_stage; /* progress of its read; 0: none */
	struct ex_ctx exl_ctx;
	uint8_t exl_set;            /* the set of that read */
	uint64_t exl_read[EX_NREQ]; /* the counts when their PICs were read */
};

struct ex_cpu {
	int8_t mp_lwp; /* its LWP, or EX_IDLE */
	/* requests that overflowed and were not folded */
	uint8_t mp_overflowed;
	bool mp_pending;      /* an interrupt is pending */
	bool mp_struck;       /* an NMI has stopped the PICs */
	struct ex_ctx mp_ctx; /* of the set bound to this CPU */
	int8_t mp_binder;
};

struct ex_model {
	struct ex_lwp em_lwp[EX_NLWP];
	struct ex_cpu em_cpu[EX_NCPU];
	struct soft_shape em_shape;
	uint32_t em_strays; /* interrupts that found no overflow */
};

/* state.c, model.c */
void ex_model_reset(struct ex_model *m, const struct soft_shape *shape);
/* Is the step possible? */
bool ex_model_enabled(const struct ex_model *m, struct ex_step s);
void ex_model_do(struct ex_model *m, struct ex_step s, struct ex_result *r);
/* A read of the counter page gave r: NULL, or the reason why r is wrong. */
const char *ex_model_read(
    struct ex_model *m, unsigned cpu, const struct ex_result *r);
/* The set that an LWP reads: the last that it bound. */
unsigned ex_model_set(const struct ex_model *m, unsigned lwp);
/* Equal for states with equal futures, without ticks and past signals. */
uint64_t ex_model_hash(const struct ex_model *m);
/* Do PICs count for the LWP's context now? */
bool ex_model_running(const struct ex_model *m, unsigned lwp);

/* Faults of the PMU or of kcpc.  A test shows that each is found. */
enum ex_fault {
	EX_SOUND,
	EX_NO_FOLD,     /* stopping loses the counts */
	EX_NO_STOP,     /* CPU 1's PICs do not stop */
	EX_NO_OVERFLOW, /* no overflow is reported */
	EX_NO_FILTER,   /* counts at every privilege */
	EX_NO_SEQUENCE, /* the page does not show that it changed */
	EX_NO_NMI,      /* an overflow in the kernel does not stop the PICs */
	EX_NFAULT
};
extern const char *const ex_faults[EX_NFAULT];

/* world.c: the same steps in the kernel's own code. */
void ex_world_boot(const char *shape, enum ex_fault fault);
void ex_world_do(struct ex_step s, struct ex_result *r);
/* EX_READ, of this set. */
void ex_world_read(unsigned cpu, unsigned set, struct ex_result *r);
/* Returns NULL, or how the kernel differs from the model. */
const char *ex_world_check(const struct ex_model *m);
/* All LWPs exit.  Returns NULL, or what remains. */
const char *ex_world_end(void);

/* page.c: end all reads; find the LWP's page; the LWP has no page any more. */
void ex_page_reset(void);
void ex_page_find(unsigned lwp, const struct as *as, uintptr_t uva);
void ex_page_gone(unsigned lwp);
/* The LWP was forked: its page is at its parent's address, in space as. */
void ex_page_fork(unsigned parent, unsigned lwp, const struct as *as);
/* Make one part of a read.  Returns false if the kernel must sample. */
bool ex_page_read(unsigned lwp, uint64_t set, uint64_t n, struct ex_result *r);
/* The same for a frozen set, whose counts are in the page. */
bool ex_page_frozen(
    unsigned lwp, uint64_t set, uint64_t n, struct ex_result *r);

/* search.c */
extern const char *const ex_ops[EX_NOP];
/* Parse `0:bind1 1:run3`: the number of steps, or -1 with the unknown step. */
int ex_parse(const char *schedule, struct ex_step *steps, const char **bad);

struct ex_search {
	const char *exh_shape; /* pmu= */
	const char *exh_start; /* the steps before the search */
	unsigned exh_depth;    /* steps of the search */
	enum ex_fault exh_fault;
	/* Results. */
	uint64_t exh_states, exh_steps;
	char exh_wrong[256]; /* the failure, or empty */
	char exh_schedule[EX_MAXSTEPS * 12];
};
/* Try every schedule.  Returns false and describes the failure. */
bool ex_search(struct ex_search *x);
/* Try one schedule.  Returns false if it fails or is not possible. */
bool ex_replay(struct ex_search *x, const char *schedule);
