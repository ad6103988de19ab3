/*
 * A random mix of LWPs that bind, unbind, sample, sleep, move between CPUs,
 * create others, fork, execute another program, signal themselves and are
 * signalled by overflows, as scripts; and what every call of it must return
 * and every sample must read.  Included by tests of counts.
 */
#ifndef TESTS_IMAGE_RANDOM_SCRIPT_MIX_H
#define TESTS_IMAGE_RANDOM_SCRIPT_MIX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/cpc.h>
#include <time.h>

#include "tests/image/random_script/script.h"

#define MIX_LWPS 16 /* and child processes, of one LWP */
#define MIX_OPS  80 /* of each */
#define MIX_SETS 3
#define MIX_REQS 4 /* of a set, at most */

/* What the mix is made for. */
struct mix_machine {
	unsigned mxm_ncpu;
	struct cpc_event mxm_ins; /* counts instructions */
	/*
	 * The privilege scripts run at.  At the kernel's own they know the
	 * least that is counted: what the kernel does for an LWP depends on
	 * which interrupts strike it and on how long it waits for others, so
	 * that no two runs of a call need cost the same, and an overflow
	 * comes nobody knows where.
	 */
	uint32_t mxm_own;
	bool mxm_overflows; /* an overflow tells, at the instruction it is */
	bool mxm_together;  /* all PICs of a set start and stop at once */
};

struct mix_sample {
	struct cpc_sample ms_head;
	uint64_t ms_value[MIX_REQS];
};

/* What must come of an op. */
struct mix_want {
	const char *mw_name;
	long mw_result; /* or MIX_DONE: whatever is no error */
	bool mw_binds;  /* a set, if the result is 0 */
	bool mw_counts; /* concerns the LWP's context */
	bool mw_moves;  /* to a CPU, if that is online */
	struct mix_sample *mw_sample;
	unsigned mw_compare; /* bit n: its value n is known... */
	unsigned mw_least;   /* ...or the least it may be */
	bool mw_frozen;      /* all of the latter stopped at once */
	uint64_t mw_value[MIX_REQS];
};
#define MIX_DONE 1
#define MIX_ANY  2 /* even an error */

/* What a child process writes: who it is and a sample. */
struct mix_report {
	uint32_t mr_lwp, mr_program;
	struct mix_sample mr_sample;
};

/* The programs of a child process: the test's, then mix_exec.c. */
#define MIX_PROGRAMS 2

/* The second program's arguments: the seed, CPUs, who it is, and the pipe. */
struct mix_exec {
	char me_seed[24], me_ncpu[8], me_lwp[8], me_pipe[8];
	char *me_argv[6];
	unsigned me_entry; /* the op it begins with */
};

struct mix_lwp {
	bool mxl_process;    /* a child process's only LWP */
	unsigned mxl_parent; /* who creates it */
	int mxl_status;      /* of a process: 0 once it has ended well */
	unsigned mxl_nops;
	struct op mxl_ops[MIX_OPS];
	struct mix_want mxl_wants[MIX_OPS];
	long mxl_results[MIX_OPS];
	struct mix_sample mxl_samples[MIX_OPS];
	struct timespec mxl_sleeps[MIX_OPS];
	uint64_t mxl_cpus[MIX_OPS];
	uint64_t mxl_masks[MIX_OPS];
	int mxl_alive;   /* until it exits */
	long mxl_either; /* a result two LWPs store */
	struct mix_report mxl_reports[MIX_PROGRAMS];
	struct mix_exec mxl_exec;
	/* For the frame of a handler: scripts themselves use none. */
	char mxl_stack[8192] __attribute__((aligned(16)));
};

struct mix_set {
	struct cpc_pack mxs_pack;
	struct cpc_packreq mxs_reqs[MIX_REQS];
};

/* Ids of sets that are far from those libcpc gives to others. */
#define MIX_SET_IDS (1ULL << 62)

static inline void
mix_set_name(struct mix_set *set, cpc_setid_t id, uint32_t nreqs)
{
	set->mxs_pack.cp_set = id;
	set->mxs_pack.cp_nreqs = nreqs;
	set->mxs_pack.cp_bytes =
	    (uint32_t)(sizeof set->mxs_pack + nreqs * sizeof set->mxs_reqs[0]);
}

struct mix {
	uint64_t mx_seed, mx_random;
	int mx_pipe[2]; /* child processes report by it */
	const struct mix_machine *mx_machine;
	struct mix_set mx_sets[MIX_SETS];
	unsigned mx_nlwp; /* the first is the caller */
	struct mix_lwp mx_lwps[MIX_LWPS];
	struct mix_sums {
		/* Instructions while the LWP had a set that counted. */
		uint64_t sum_counted;
		/* Handlers that ran for overflows, for SIGUSR1; programs. */
		uint64_t sum_overflows, sum_signals, sum_execs;
	} mx_sums; /* of all LWPs */
};

/* mix.c: make the mix of that seed; script_run(mx_lwps[0].mxl_ops) runs it. */
void mix_make(struct mix *mx, uint64_t seed, const struct mix_machine *mm);

/*
 * mix_machine.c: what this machine is; false where it does not count.  And
 * the handlers of scripts are this process's.
 */
bool mix_machine_learn(struct mix_machine *mm);
/*
 * mix_run.c.  Make the mix of that seed, run it until the last LWP and process
 * of it has ended, and expect of the calling test that all came out as it must.
 * The number of samples that were compared.
 *
 * Disturbed: others take the counters away from LWPs (EAGAIN) and CPUs offline
 * (EINVAL).  Of its counters nothing is expected from where an LWP notices
 * until it has bound a set again.
 */
unsigned mix_run(struct mix *mx, uint64_t seed, const struct mix_machine *mm,
    bool disturbed);

#endif /* TESTS_IMAGE_RANDOM_SCRIPT_MIX_H */
