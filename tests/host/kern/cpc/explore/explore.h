/*
 * The interleaving explorer: LWPs on CPUs, each step of which is one entry to
 * the kernel, or one thing that happens between two, against a model that
 * says what must come of it.  Included by tests/host/explore*.c.
 */
#ifndef TESTS_HOST_KERN_CPC_EXPLORE_EXPLORE_H
#define TESTS_HOST_KERN_CPC_EXPLORE_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/cpc/soft/soft_shape.h"
#include "tests/lib/host/fake_kernel.h"

struct as;

#define EX_NCPU  2 /* of FAKE_NCPU: the others idle */
#define EX_NLWP  3 /* the third is not there until it is cloned or forked */
#define EX_NPROC FAKE_NPROC /* the second has only what is forked */
#define EX_NSET  2
#define EX_NREQ  2 /* of a set, at most */
#define EX_IDLE  (-1)

/* What can happen on a CPU; all but the first and last few: its LWP does it. */
enum ex_op {
	EX_RUN1, /* switch to LWP 1 */
	EX_RUN2,
	EX_RUN3,
	EX_REST, /* switch to nobody */
	EX_BIND1,
	EX_BIND2,
	EX_OWN1, /* bind set 1, not to be inherited */
	EX_UNBIND1,
	EX_UNBIND2,
	EX_SAMPLE1,
	EX_SAMPLE2,
	EX_WORK,   /* instructions at user privilege */
	EX_SYSTEM, /* at system privilege */
	EX_READ,   /* as far as the next counter, by the counter page */
	EX_DISABLE,
	EX_ENABLE,
	EX_RESTART,
	EX_PRESET,
	EX_CPU1,    /* bind set 1 to the CPU it is on */
	EX_CPU2,    /* and set 2 to the other, and go there */
	EX_REVOKE1, /* all instances of the set, of whichever LWP */
	EX_REVOKE2,
	EX_MOVE, /* be bound to the other CPU, and go there */
	EX_FREE, /* be bound to none */
	EX_CLONE,
	EX_FORK,
	EX_EXEC, /* its process has no other LWP then */
	EX_EXIT,
	EX_INVALID, /* its context is taken from it */
	EX_PMI,     /* the overflow interrupt that waits comes */
	EX_TIMER,   /* a timer's worth of time passes */
	EX_NOP
};

struct ex_step {
	uint8_t ext_cpu;
	uint8_t ext_op;
};
#define EX_MAXSTEPS 64

/* What an operation answers. */
struct ex_result {
	int exr_err;
	uint64_t exr_count[EX_NREQ]; /* a sample's */
	uint64_t exr_ticks;
	bool exr_asked; /* a read's: of the kernel */
	/*
	 * A read's, which goes on: of each request two, what the page has
	 * and then the PIC.
	 */
	uint8_t exr_stage;
};

/* The requests of the sets, by which both sides know them. */
struct ex_request {
	const char *rq_event;
	unsigned rq_weight; /* events of an instruction */
	unsigned rq_flags;
	uint64_t rq_preset;
};
struct ex_set {
	unsigned exs_n;
	struct ex_request exs_req[EX_NREQ];
};
extern const struct ex_set ex_sets[EX_NSET];

#define EX_STEPS       2 /* instructions of EX_WORK and EX_SYSTEM */
#define EX_NEW_PRESET  0xfffffffffffffffb
#define EX_TIMER_TICKS (100 * 1000000) /* when kcpc looks by itself */

/* What a context should be. */
struct ex_ctx {
	bool exc_live, exc_inherit, exc_frozen, exc_signal, exc_invalid;
	uint8_t exc_set;
	uint64_t exc_count[EX_NREQ], exc_preset[EX_NREQ];
	uint64_t exc_ticks; /* that it was programmed */
};

struct ex_lwp {
	bool exl_alive;
	uint8_t exl_proc;
	int8_t exl_cpu;   /* it runs on, or EX_IDLE */
	int8_t exl_bound; /* the only one it may run on, or EX_IDLE */
	uint8_t exl_signals;
	uint8_t exl_stage; /* of the read it makes; 0: it makes none */
	struct ex_ctx exl_ctx;
	uint8_t exl_set;            /* of that read */
	uint64_t exl_read[EX_NREQ]; /* the counts as their PICs were read */
};

struct ex_cpu {
	int8_t mp_lwp;         /* that runs, or EX_IDLE */
	uint8_t mp_overflowed; /* requests of its set, not yet seen to */
	bool mp_pending;       /* an interrupt waits */
	bool mp_struck;        /* and an NMI has stopped the PICs */
	struct ex_ctx mp_ctx;  /* of the set bound to it */
	int8_t mp_binder, mp_was_bound;
	bool mp_later; /* than that bound to the other CPU */
};

struct ex_model {
	struct ex_lwp em_lwp[EX_NLWP];
	struct ex_cpu em_cpu[EX_NCPU];
	struct soft_shape em_shape;
};

/* explore_state.c, explore_model.c */
void ex_model_reset(struct ex_model *m, const struct soft_shape *shape);
/* Can the step be made? */
bool ex_model_enabled(const struct ex_model *m, struct ex_step s);
void ex_model_do(struct ex_model *m, struct ex_step s, struct ex_result *r);
/*
 * The read of a counter page made a step, with that result.  What is wrong
 * with it, or NULL.
 */
const char *ex_model_read(
    struct ex_model *m, unsigned cpu, const struct ex_result *r);
/* Which set an LWP reads: it knows what it has bound, if not what became of it.
 */
unsigned ex_model_set(const struct ex_model *m, unsigned lwp);
/* Equal where all that follows is; ticks and past signals do not count. */
uint64_t ex_model_hash(const struct ex_model *m);
/* Is the LWP's context counted for now? */
bool ex_model_running(const struct ex_model *m, unsigned lwp);

/* What can be wrong with the PMU or kcpc, for a proof that it is noticed. */
enum ex_fault {
	EX_SOUND,
	EX_NO_FOLD,     /* stopping loses the counts */
	EX_NO_STOP,     /* CPU 1's PICs do not stop */
	EX_NO_OVERFLOW, /* no overflow is told */
	EX_NO_FILTER,   /* every privilege is counted */
	EX_NO_SEQUENCE, /* the page does not tell that it changed */
	EX_NO_NMI,      /* an overflow stops nothing at once */
	EX_NFAULT
};
extern const char *const ex_faults[EX_NFAULT];

/* explore_world.c: the same with the kernel's own code. */
void ex_world_boot(const char *shape, enum ex_fault fault);
void ex_world_do(struct ex_step s, struct ex_result *r);
/* The same for EX_READ, of a set. */
void ex_world_read(unsigned cpu, unsigned set, struct ex_result *r);
/* How the kernel differs from the model, or NULL. */
const char *ex_world_check(const struct ex_model *m);
/* All LWPs exit: what is left behind, or NULL. */
const char *ex_world_end(void);

/*
 * explore_page.c: LWPs without a read in progress; where the LWP's page is;
 * it has none any more.
 */
void ex_page_reset(void);
void ex_page_find(unsigned lwp, const struct as *as, uintptr_t uva);
void ex_page_gone(unsigned lwp);
/* The LWP is forked: its page is where its parent's is, in a process's as. */
void ex_page_fork(unsigned parent, unsigned lwp, const struct as *as);
/* A step of its read; false where the kernel must be asked. */
bool ex_page_read(unsigned lwp, uint64_t set, uint64_t n, struct ex_result *r);
/* Or it has counts of a frozen set there. */
bool ex_page_frozen(
    unsigned lwp, uint64_t set, uint64_t n, struct ex_result *r);

/* explore_search.c */
extern const char *const ex_ops[EX_NOP];
/* The steps of `0:bind1 1:run3`; how many, or -1 and what is none in *bad. */
int ex_parse(const char *schedule, struct ex_step *steps, const char **bad);

struct ex_search {
	const char *exh_shape; /* pcbe= */
	const char *exh_start; /* what has happened before */
	unsigned exh_depth;    /* steps from there */
	enum ex_fault exh_fault;
	/* found */
	uint64_t exh_states, exh_steps;
	char exh_wrong[256]; /* what was, or empty */
	char exh_schedule[EX_MAXSTEPS * 12];
};
/* Make every schedule; false where one goes wrong, which is told. */
bool ex_search(struct ex_search *x);
/* Make one; false where it goes wrong or cannot be made. */
bool ex_replay(struct ex_search *x, const char *schedule);

#endif /* TESTS_HOST_KERN_CPC_EXPLORE_EXPLORE_H */
