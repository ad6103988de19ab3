/*
 * What the files of the soak share; included by them alone.
 *
 * soak.c starts processes and starts others in their place; soak_proc.c is
 * one of them, which does the same with its LWPs; what these do over and over
 * is in soak_mix.c, soak_count.c and soak_ovf.c.
 */
#ifndef TESTS_IMAGE_RANDOM_SCRIPT_SOAK_H
#define TESTS_IMAGE_RANDOM_SCRIPT_SOAK_H

#include <libcpc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/image/random_script/mix.h"

/* Two instructions an iteration: tests/lib/image/cpc_test.h. */
void spin_loop(uint64_t iterations);
#define SPIN_INSNS 2

/*
 * What the code around the loops retires, learned before anything else runs:
 * from one sample by call to the next; from a bind to such a sample; and from
 * the restart on in a handler of SIGEMT.
 */
struct soak_known {
	uint64_t sok_window, sok_bind, sok_tail;
	bool sok_ovf; /* overflows tell of themselves */
};

/* What a process has done, for the one that started it. */
struct soak_sums {
	uint64_t sos_processes; /* that ended, or became the next */
	uint64_t sos_lwps;
	uint64_t sos_rounds;  /* of LWPs */
	uint64_t sos_exact;   /* counts that were compared */
	uint64_t sos_ovf;     /* signals of overflows */
	uint64_t sos_lost;    /* times an LWP found its counters taken away */
	uint64_t sos_taken;   /* CPUs taken */
	uint64_t sos_forks;   /* processes of one LWP, */
	uint64_t sos_spawned; /* and those that executed a program first */
};
#define SOAK_SUMS (sizeof(struct soak_sums) / sizeof(uint64_t))

/* One of a process's LWPs. */
struct soak_lwp {
	pthread_t sol_thread;
	bool sol_done; /* it has ended, and may be joined */
	uint64_t sol_random;
	struct mix *sol_mix; /* its own, where it runs mixes */
	cpc_t *sol_cpc;      /* its own handle, where it does not */
};

/* A process: the one that runs. */
extern struct soak {
	uint64_t so_seed;
	hrtime_t so_until; /* the end of all of it */
	int so_report;     /* struct soak_sums go there */
	struct soak_known so_known;
	struct mix_machine so_machine;
	struct soak_sums so_sums;
	cpc_t *so_cpc;     /* for all of its LWPs, */
	cpc_set_t *so_set; /* as is this one, of one request */
} soak;

#define SOAK_ADD(sum, n)                                                       \
	__atomic_fetch_add(&soak.so_sums.sum, (n), __ATOMIC_RELAXED)

/* A number below n. */
uint64_t soak_below(uint64_t *random, uint64_t n);
/* CPUs are taken from all LWPs for part of the time, then they are not. */
bool soak_storm(void);
void soak_doze(unsigned long us);

/*
 * soak_proc.c: to be what the environment says, where it says anything, and
 * exit; and to say it, for execve(2) of this program.
 */
enum soak_kind {
	SOAK_MIXES, /* processes of these, */
	SOAK_COUNTS,
	SOAK_BRIEF, /* and programs an LWP waits for */
};
#define SOAK_PROGRAM "soak"
struct soak_exec {
	char *ex_argv[2], *ex_env[2];
	char ex_text[256];
};
void soak_be(void);
void soak_say(struct soak_exec *ex, enum soak_kind kind, uint64_t seed);

/* What an LWP does, once. */
void soak_mix_round(struct soak_lwp *sl);
void soak_count_round(struct soak_lwp *sl);
void soak_ovf_round(struct soak_lwp *sl);

/*
 * soak_count.c: a window between two samples by call of a bound set of n
 * requests, with a loop of so many turns in it.  0, or -1 and errno.
 */
struct soak_window {
	struct mix_sample sw_before, sw_after;
};
int soak_window(
    cpc_setid_t id, unsigned n, uint64_t turns, struct soak_window *sw);
/* A set's identity, by which the kernel knows it. */
cpc_setid_t soak_id(const cpc_set_t *set);
/* A program that counts: its exit status. */
int soak_brief(void);
/* Learn; false where no count can be known. */
bool soak_learn_window(void);
/* soak_ovf.c: the same, and SIGEMT has its handler in this process. */
void soak_learn_ovf(void);
void soak_ovf_install(void);
/*
 * Did the call fail since the counters were taken away?  That it failed
 * otherwise is an error.
 */
bool soak_failed(int result, const char *what);

#endif /* TESTS_IMAGE_RANDOM_SCRIPT_SOAK_H */
