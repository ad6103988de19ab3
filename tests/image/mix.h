/*
 * A random mix of LWPs that bind, unbind, sample, sleep, move between CPUs,
 * create others and fork, as scripts; and what every call of it must return
 * and every sample must read.  Included by tests of counts.
 */
#ifndef TESTS_IMAGE_MIX_H
#define TESTS_IMAGE_MIX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/cpc.h>
#include <time.h>

#include "tests/image/script.h"

#define MIX_LWPS 16 /* and child processes, of one LWP */
#define MIX_OPS  64 /* of each */
#define MIX_SETS 3
#define MIX_REQS 4 /* of a set, at most */

/* What the mix is made for. */
struct mix_machine {
	unsigned mm_ncpu;
	struct cpc_event mm_ins; /* counts instructions */
	int mm_pipe[2];          /* child processes report by it */
};

struct mix_sample {
	struct cpc_sample ms_head;
	uint64_t ms_value[MIX_REQS];
};

/* What must come of an op. */
struct mix_want {
	const char *mw_name;
	long mw_result; /* or MIX_DONE: whatever is no error */
	struct mix_sample *mw_sample;
	unsigned mw_compare; /* bit n: its value n is known */
	uint64_t mw_value[MIX_REQS];
};
#define MIX_DONE 1
#define MIX_ANY  2 /* even an error */

/* What a child process writes: who it is and its last sample. */
struct mix_report {
	uint64_t mr_lwp;
	struct mix_sample mr_sample;
};

struct mix_lwp {
	bool ml_process;    /* a child process's only LWP */
	unsigned ml_parent; /* who creates it */
	unsigned ml_nops;
	struct op ml_ops[MIX_OPS];
	struct mix_want ml_wants[MIX_OPS];
	long ml_results[MIX_OPS];
	struct mix_sample ml_samples[MIX_OPS];
	struct timespec ml_sleeps[MIX_OPS];
	uint64_t ml_cpus[MIX_OPS];
	int ml_alive;                                   /* until it exits */
	char ml_stack[64] __attribute__((aligned(16))); /* not used */
	long ml_either; /* a result two LWPs store */
	struct mix_report ml_report;
};

struct mix_set {
	struct cpc_pack mx_pack;
	struct cpc_packreq mx_reqs[MIX_REQS];
};

struct mix {
	uint64_t mx_random;
	const struct mix_machine *mx_machine;
	struct mix_set mx_sets[MIX_SETS];
	unsigned mx_nlwp; /* the first is the caller */
	struct mix_lwp mx_lwps[MIX_LWPS];
	/* Instructions of all LWPs while they had a set that counted. */
	uint64_t mx_counted;
};

/* Make the mix of that seed; script_run(mx_lwps[0].ml_ops) runs it. */
void mix_make(struct mix *mx, uint64_t seed, const struct mix_machine *mm);

#endif /* TESTS_IMAGE_MIX_H */
