/*
 * Declarations shared by the files of the chaos test and of syscall_fuzz, and
 * included only by them.
 *
 * The test in chaos.c starts processes, replaces those that end, and kills
 * those that hang.  Each process (process.c) has some LWPs that do one random
 * act after the other.  The acts are in child.c, cpc.c, memory.c, pipe.c,
 * signal.c and sync.c.
 *
 * The test syscall_fuzz starts processes of raw.c.  Their LWPs make system
 * calls of random numbers with random arguments, and the calls of typed.c.
 */
#pragma once

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/types.h>

#define CHAOS_PROGRAM "chaos"

/* A report to the first process, of at most PIPE_BUF: it stays whole. */
struct chaos_report {
	pid_t chr_pid;
	char chr_text[120]; /* the error */
};

/* The state of this process. */
extern struct chaos {
	pid_t ch_root; /* the first process, which no act may harm */
	pid_t ch_pid;
	uint64_t ch_seed;
	hrtime_t ch_until; /* no act begins later */
	int ch_report;     /* pipe for struct chaos_report */
	unsigned ch_depth; /* depth of executed programs */
	int ch_cpus;
} chaos;

/* The state of this LWP. */
struct chaos_lwp {
	uint64_t chl_random;
	const char *volatile chl_doing; /* the name of its act */
	volatile bool chl_alone; /* the only LWP of a copy that fork(2) made */
	/* used by handlers */
	volatile bool chl_may_jump, chl_poking;
	volatile uint64_t chl_suspend; /* the mask in sigsuspend(2) */
	volatile bool chl_suspended;
	volatile unsigned chl_handled;
	sigjmp_buf chl_jump, chl_poke;
};
extern _Thread_local struct chaos_lwp chaos_self;

/* A random number below n, from this LWP's state. */
uint64_t chaos_below(uint64_t n);
static inline bool
chaos_one_in(uint64_t n)
{
	return chaos_below(n) == 0;
}
bool chaos_over(void);
/* Report an error to the first process, whatever then happens to this one. */
void chaos_wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#define CHAOS_EXPECT(e)                                                        \
	((e) ? true                                                            \
	     : (chaos_wrong("%s:%d: false: %s", __FILE__, __LINE__, #e),       \
		   false))

/* process.c: if the environment describes a process, become that process. */
void chaos_become(void);
/* The arguments of execve(2) for another process, with this seed. */
struct chaos_exec {
	char *chx_argv[2], *chx_env[2];
	char chx_text[160];
};
void chaos_describe(struct chaos_exec *ce, uint64_t seed);
/* Run as a process of some LWPs, and end in one of several ways. */
_Noreturn void chaos_process(uint64_t seed);
/* Do some acts as the only LWP of a copy that fork(2) made. */
void chaos_copy(void);

/*
 * May a process end with this status?  It may exit with 0, or end by a signal
 * that acts send.  A program has no handlers in its first moments.
 */
bool chaos_end_allowed(int status);

/* The acts.  An LWP that is not alone may also do acts that start LWPs. */
void chaos_act_memory(void);
void chaos_act_race(void);
void chaos_act_heap(void); /* only for a copy, because LWPs share the heap */
void chaos_act_hunger(void);
void chaos_act_masks(void);
void chaos_act_suspend(void);
void chaos_act_wait_signal(void);
void chaos_act_jump(void);
void chaos_act_kill(void);
void chaos_act_timer(void);
void chaos_act_team(void);
void chaos_act_futex(void);
void chaos_act_cancel(void);
void chaos_act_clock(void);
void chaos_act_cpus(void);
void chaos_act_registers(void);
void chaos_act_pipe(void);
void chaos_act_descriptors(void);
void chaos_act_poll(void);
void chaos_act_fork(void);
void chaos_act_control(void);
void chaos_act_spawn(void);
void chaos_act_wait_any(void);
void chaos_act_hostile(void);
void chaos_act_count(void);

/* signal.c: install handlers for all signals that acts send. */
void chaos_handlers(void);
/* A random signal that has a handler. */
int chaos_signal(void);
#define CHAOS_STACK 131072 /* an LWP's: for acts and signal frames */

/* raw.c: a process's calls, each of which depends on its seed alone. */
#define CHAOS_RAW_LWPS  6
#define CHAOS_RAW_CALLS 128
struct chaos_program {
	unsigned chp_lwps, chp_calls; /* each LWP makes chp_calls calls */
	uint32_t chp_seed[CHAOS_RAW_LWPS][CHAOS_RAW_CALLS];
};
/* Make the calls, one of which may end the process. */
_Noreturn void chaos_raw(const struct chaos_program *p);
/* Write to memory that another LWP may have unmapped. */
void chaos_write(uintptr_t to, const void *from, size_t bytes);
/* typed.c: make one call in the arena. */
void chaos_typed_begin(char *at, size_t pages);
void chaos_typed_call(void);
