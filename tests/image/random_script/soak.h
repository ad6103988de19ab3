/*
 * Declarations shared by the files of the soak, and included only by them.
 *
 * The test in soak.c starts processes and replaces those that end.  A process
 * (soak_process.c) does the same with its LWPs.  The LWPs run mixes or the
 * rounds of soak_count.c and soak_overflow.c.
 */
#pragma once

#include <libcpc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/image/random_script/mix.h"

/* Two instructions an iteration: tests/lib/image/cpc_test.h. */
void spin_loop(uint64_t iterations);
#define SPIN_INSNS 2

/*
 * Instructions of the code around the loops, learned before anything else runs:
 * - sok_window: between two samples by system call;
 * - sok_bind: from a bind to such a sample;
 * - sok_tail: from the restart to the end of a handler of SIGEMT.
 */
struct soak_known {
	uint64_t sok_window, sok_bind, sok_tail;
	bool sok_ovf; /* overflows notify */
};

/* The report of a process to the one that started it. */
struct soak_sums {
	uint64_t sos_processes; /* that ended or executed the next */
	uint64_t sos_lwps;
	uint64_t sos_rounds;  /* rounds of LWPs */
	uint64_t sos_exact;   /* counts that were compared */
	uint64_t sos_ovf;     /* overflow signals */
	uint64_t sos_lost;    /* times an LWP found its counters taken away */
	uint64_t sos_taken;   /* CPUs taken */
	uint64_t sos_forks;   /* forked processes of one LWP */
	uint64_t sos_spawned; /* and these that executed a program */
};
#define SOAK_SUMS (sizeof(struct soak_sums) / sizeof(uint64_t))

/* One of a process's LWPs. */
struct soak_lwp {
	pthread_t sol_thread;
	bool sol_done; /* it has ended, and may be joined */
	uint64_t sol_random;
	struct mix *sol_mix; /* its mix, if it runs mixes */
	cpc_t *sol_cpc;      /* its handle, if it does not */
};

/* The state of this process. */
extern struct soak {
	uint64_t so_seed;
	hrtime_t so_until; /* the end of the soak */
	int so_report;     /* pipe for struct soak_sums */
	struct soak_known so_known;
	struct mix_machine so_machine;
	struct soak_sums so_sums;
	cpc_t *so_cpc;     /* shared by all LWPs */
	cpc_set_t *so_set; /* shared, of one request */
} soak;

#define SOAK_ADD(sum, n)                                                       \
	__atomic_fetch_add(&soak.so_sums.sum, (n), __ATOMIC_RELAXED)

/* A random number below n. */
uint64_t soak_below(uint64_t *random, uint64_t n);
/* Is this the part of the time in which LWPs take CPUs' counters? */
bool soak_storm(void);
void soak_doze(unsigned long us);

/*
 * soak_process.c: if the environment describes a process, soak_become() runs it
 * and exits.  The call soak_describe() makes that environment, for execve(2) of
 * this program.
 */
enum soak_kind {
	SOAK_MIXES, /* processes that run mixes */
	SOAK_COUNTS,
	SOAK_BRIEF, /* programs for which an LWP waits */
};
#define SOAK_PROGRAM "soak"
struct soak_exec {
	char *ex_argv[2], *ex_env[2];
	char ex_text[256];
};
void soak_become(void);
void soak_describe(struct soak_exec *ex, enum soak_kind kind, uint64_t seed);

/* One round of an LWP. */
void soak_mix_round(struct soak_lwp *sl);
void soak_count_round(struct soak_lwp *sl);
void soak_ovf_round(struct soak_lwp *sl);

/*
 * soak_count.c: open a window on a bound set of n requests: two samples by
 * system call, with a loop of so many turns between.  Returns 0, or -1 and
 * errno.
 */
struct soak_window {
	struct mix_sample sw_before, sw_after;
};
int soak_window(
    cpc_setid_t id, unsigned n, uint64_t turns, struct soak_window *sw);
/* The id by which the kernel knows a set. */
cpc_setid_t soak_id(const cpc_set_t *set);
/* Run as a program that counts once.  Returns its exit status. */
int soak_brief(void);
/* Learn sok_window.  Returns false if counts are not exact here. */
bool soak_learn_window(void);
/* soak_overflow.c: learn sok_bind and sok_tail; handle SIGEMT. */
void soak_learn_ovf(void);
void soak_ovf_install(void);
/* Were the counters taken?  Any other failure fails the test. */
bool soak_failed(int result, const char *what);
