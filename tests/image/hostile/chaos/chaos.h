/*
 * What the files of the chaos test share; included by them alone.
 *
 * chaos.c starts processes, starts others in their place, and ends what
 * hangs.  chaos_proc.c is one of them, some LWPs that do one random act after
 * the other; the acts are in chaos_mem.c, chaos_sig.c, chaos_sync.c,
 * chaos_pipe.c, chaos_child.c and chaos_cpc.c.
 *
 * syscall_fuzz.c starts processes of chaos_raw.c, whose LWPs make system calls
 * of random numbers with random arguments, and those of chaos_typed.c.
 */
#ifndef TESTS_IMAGE_HOSTILE_CHAOS_CHAOS_H
#define TESTS_IMAGE_HOSTILE_CHAOS_CHAOS_H

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/types.h>

#define CHAOS_PROGRAM "chaos"

/* What a process tells the first one of, in one piece (PIPE_BUF). */
struct chaos_report {
	pid_t chr_pid;
	char chr_text[120]; /* what is wrong */
};

/* A process, the one that runs. */
extern struct chaos {
	pid_t ch_root; /* the first process, which nobody may harm */
	pid_t ch_pid;
	uint64_t ch_seed;
	hrtime_t ch_until; /* no more acts from then on */
	int ch_report;     /* struct chaos_report go there */
	unsigned ch_depth; /* of programs that processes execute */
	int ch_cpus;
} chaos;

/* One of its LWPs: the one that runs. */
struct chaos_lwp {
	uint64_t chl_random;
	const char *volatile chl_doing; /* an act's name */
	volatile bool chl_alone; /* the only one: a copy that fork(2) made */
	/* for handlers */
	volatile bool chl_may_jump, chl_poking;
	volatile uint64_t chl_suspend; /* sigsuspend(2)'s mask, while in it */
	volatile bool chl_suspended;
	volatile unsigned chl_handled;
	sigjmp_buf chl_jump, chl_poke;
};
extern _Thread_local struct chaos_lwp chaos_self;

/* A number below n, of the LWP's own. */
uint64_t chaos_below(uint64_t n);
static inline bool
chaos_one_in(uint64_t n)
{
	return chaos_below(n) == 0;
}
bool chaos_over(void);
/* Say what is wrong to the first process, whatever happens to this one. */
void chaos_wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#define CHAOS_EXPECT(e)                                                        \
	((e) ? true                                                            \
	     : (chaos_wrong("%s:%d: not so: %s", __FILE__, __LINE__, #e),      \
		   false))

/* chaos_proc.c: to be what the environment says, where it says anything. */
void chaos_be(void);
/* What execve(2) needs for another such program, of this seed. */
struct chaos_exec {
	char *chx_argv[2], *chx_env[2];
	char chx_text[160];
};
void chaos_say(struct chaos_exec *ce, uint64_t seed);
/* Be a process of some LWPs, and end one way or the other. */
_Noreturn void chaos_process(uint64_t seed);
/* Some acts of a copy that fork(2) made, whose only LWP this is. */
void chaos_copy(void);

/*
 * How a process may end: it exits with 0, or somebody has sent it a signal
 * that ended it.  Programs have no handlers in their first moments.
 */
bool chaos_end_allowed(int status);

/* Acts.  Those for an LWP that has others beside it may start more. */
void chaos_act_memory(void);
void chaos_act_race(void);
void chaos_act_heap(void); /* of a copy: the heap is the process's */
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
void chaos_act_spawn(void);
void chaos_act_wait_any(void);
void chaos_act_hostile(void);
void chaos_act_count(void);

/* chaos_sig.c: handlers of all signals that are sent. */
void chaos_handlers(void);
/* One of those with a handler. */
int chaos_signal(void);
#define CHAOS_STACK 131072 /* of an LWP: a frame of each signal, and acts */

/*
 * raw.c: the calls of one process.  A call's seed alone decides its number and
 * its arguments, so a call stays the same where a program is changed elsewhere.
 */
#define CHAOS_RAW_LWPS  6
#define CHAOS_RAW_CALLS 128
struct chaos_program {
	unsigned chp_lwps, chp_calls; /* each LWP makes chp_calls calls */
	uint32_t chp_seed[CHAOS_RAW_LWPS][CHAOS_RAW_CALLS];
};
/* Make the calls, or end by one of them. */
_Noreturn void chaos_raw(const struct chaos_program *p);
/* Write where another LWP may have unmapped the memory. */
void chaos_write(uintptr_t to, const void *from, size_t bytes);
/* chaos_typed.c: one call in the arena. */
void chaos_typed_begin(char *at, size_t pages);
void chaos_typed_call(void);

#endif /* TESTS_IMAGE_HOSTILE_CHAOS_CHAOS_H */
