/*
 * A random mix of LWPs, as scripts, and the result that each call and sample
 * must have.  The LWPs bind, unbind, sample, sleep, move between CPUs, create
 * others, fork and execute another program.  They signal themselves, and
 * overflows signal them.  Included by tests of counts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/cpc.h>
#include <time.h>

#include "tests/image/random_script/script.h"

#define MIX_LWPS 16 /* child processes, of one LWP each, included */
#define MIX_OPS  80 /* of each LWP */
#define MIX_SETS 3
#define MIX_REQS 4 /* of a set, at most */

/* The machine for which a mix is made. */
struct mix_machine {
	unsigned mxm_ncpu;
	struct cpc_event mxm_ins; /* the event: instructions */
	/*
	 * The privilege at which scripts run.  At the kernel's privilege only a
	 * lower bound of each count is known.  The work of the kernel for an
	 * LWP depends on interrupts and waits, so no two runs of a call need
	 * cost the same.  The place of an overflow is unknown there.
	 */
	uint32_t mxm_own;
	bool mxm_overflows; /* overflows notify, at a known instruction */
	bool mxm_together;  /* all PICs of a set start and stop at once */
};

struct mix_sample {
	struct cpc_sample ms_head;
	uint64_t ms_value[MIX_REQS];
};

/* The result that an op must have. */
struct mix_want {
	const char *mw_name;
	long mw_result; /* or MIX_DONE: any but an error; or MIX_ANY */
	bool mw_binds;  /* binds a set, if the result is 0 */
	bool mw_counts; /* uses the LWP's context */
	bool mw_moves;  /* moves to a CPU, if that is online */
	struct mix_sample *mw_sample;
	unsigned mw_compare; /* bit n: value n is exact */
	unsigned mw_least;   /* bit n: value n is a lower bound */
	bool mw_frozen;      /* those of mw_least stopped at once */
	uint64_t mw_value[MIX_REQS];
};
#define MIX_DONE 1
#define MIX_ANY  2 /* any result, even an error */

/* A report that a child process writes to the pipe. */
struct mix_report {
	uint32_t mr_lwp, mr_program;
	struct mix_sample mr_sample;
};

/* The programs of a child process: the test itself, then mix_exec.c. */
#define MIX_PROGRAMS 2

/* The arguments of mix_exec: seed, number of CPUs, LWP, pipe. */
struct mix_exec {
	char me_seed[24], me_ncpu[8], me_lwp[8], me_pipe[8];
	char *me_argv[6];
	unsigned me_entry; /* the op with which it begins */
};

struct mix_lwp {
	bool mxl_process;    /* the only LWP of a child process */
	unsigned mxl_parent; /* the LWP that creates it */
	int mxl_status;      /* of a process: 0 after it has ended well */
	unsigned mxl_nops;
	struct op mxl_ops[MIX_OPS];
	struct mix_want mxl_wants[MIX_OPS];
	long mxl_results[MIX_OPS];
	struct mix_sample mxl_samples[MIX_OPS];
	struct timespec mxl_sleeps[MIX_OPS];
	uint64_t mxl_cpus[MIX_OPS];
	uint64_t mxl_masks[MIX_OPS];
	int mxl_alive;   /* 1 until it exits */
	long mxl_either; /* a result that two LWPs store */
	struct mix_report mxl_reports[MIX_PROGRAMS];
	struct mix_exec mxl_exec;
	/* For the frame of a handler.  Scripts themselves use no stack. */
	char mxl_stack[8192] __attribute__((aligned(16)));
};

struct mix_set {
	struct cpc_pack mxs_pack;
	struct cpc_packreq mxs_reqs[MIX_REQS];
};

/* Set ids from here on never collide with those of libcpc. */
#define MIX_SET_IDS (1ULL << 62)

static inline void
mix_set_name(struct mix_set *set, cpc_setid_t id, uint32_t nreqs)
{
	set->mxs_pack.cp_set = id;
	set->mxs_pack.cp_nreqs = nreqs;
	set->mxs_pack.cp_nattrs = 0;
}

struct mix {
	uint64_t mx_seed, mx_random;
	int mx_pipe[2]; /* for the reports of child processes */
	const struct mix_machine *mx_machine;
	struct mix_set mx_sets[MIX_SETS];
	unsigned mx_nlwp; /* the first LWP is the caller */
	struct mix_lwp mx_lwps[MIX_LWPS];
	struct mix_sums {
		/* Instructions that LWPs ran while their set counted. */
		uint64_t sum_counted;
		/* Handlers for overflows and SIGUSR1; programs executed. */
		uint64_t sum_overflows, sum_signals, sum_execs;
	} mx_sums; /* of all LWPs */
};

/* mix.c: make the mix of the seed. script_run(mx_lwps[0].mxl_ops) runs it. */
void mix_make(struct mix *mx, uint64_t seed, const struct mix_machine *mm);

/* machine.c: learn the machine, install handlers.  False: no PMU for it. */
bool mix_machine_learn(struct mix_machine *mm);
/*
 * run.c: make the mix of the seed, run it until its last LWP and process has
 * ended, and EXPECT every result in the calling test.  Returns the number of
 * compared samples.
 *
 * Disturbed: other LWPs take counters away (EAGAIN) and take CPUs offline
 * (EINVAL).  From the op where an LWP notices this until its next bind, its
 * counters are not checked.
 */
unsigned mix_run(struct mix *mx, uint64_t seed, const struct mix_machine *mm,
    bool disturbed);
