/*
 * What the files that make mixes share; included by them alone.
 */
#ifndef TESTS_IMAGE_RANDOM_SCRIPT_IMPL_H
#define TESTS_IMAGE_RANDOM_SCRIPT_IMPL_H

#include "tests/image/random_script/mix.h"

#include <sys/barecpc.h>

/* The LWP's context and signals where its script has got to. */
struct mix_state {
	struct mix *mx;
	struct mix_lwp *l;
	const struct mix_set *set; /* bound, or NULL */
	bool running, inherit;
	uint64_t counted; /* since base[] */
	uint64_t base[MIX_REQS], preset[MIX_REQS];
	/*
	 * An overflow: the instruction that made it was a system call, in
	 * which it waits; it has frozen the set and is about to be told of;
	 * its SIGEMT was blocked, and waits.
	 */
	bool due, told, emt;
	bool usr; /* SIGUSR1 waits */
	uint64_t blocked;
};

/* Signals as rt_sigprocmask(2) has them. */
#define MIX_BIT(sig) (1ULL << ((sig)-1))

/*
 * mix_draw.c: a number below n; one for a count to start from, and for one
 * whose overflow is to be told.
 */
uint64_t mix_below(struct mix *mx, uint64_t n);
uint64_t mix_draw_preset(struct mix *mx, bool notify);
/* Spins of a loop. */
unsigned long mix_draw_spins(struct mix *mx);

/* mix_state.c: the set begins to count, from its presets or goes on. */
void mix_start(struct mix_state *st, bool from_preset);
/* No set is bound from now on; what it had to tell it never will. */
void mix_stop(struct mix_state *st);
/* The LWP is new and begins with a copy of its creator's context. */
void mix_inherit(struct mix_state *st, const struct mix_state *from);

/*
 * The next op.  The LWP is in its system call, everything up to that counted.
 * The caller changes the state as the call will, and then says mix_loop().
 */
struct op *mix_call(struct mix_state *st, const char *name, long want,
    long sysno, const long *arg);
/* Back from the call, through a loop, to the next one's system call. */
void mix_loop(struct mix_state *st, struct op *op);
/* The same where that is not to be interrupted by an overflow. */
void mix_loop_quiet(struct mix_state *st, struct op *op);
/* The same for a new LWP, by the loop its creator has. */
void mix_enter(struct mix_state *st, const struct op *op);

#define MIX_CALL(st, name, want, sysno, ...)                                   \
	mix_call(st, name, want, sysno, (const long[6]){ __VA_ARGS__ })
#define MIX_CPC(st, name, want, ...)                                           \
	MIX_CALL(st, name, want, BARECPC_SYS_CPC, __VA_ARGS__)

/* mix_op.c: on counters, the last for other places than the op's own. */
void mix_do_bind(struct mix_state *st);
void mix_do_sample(struct mix_state *st);
void mix_do_unbind(struct mix_state *st);
void mix_do_disable(struct mix_state *st);
void mix_do_enable(struct mix_state *st);
void mix_do_restart(struct mix_state *st);
void mix_do_preset(struct mix_state *st);
void mix_do_stir(struct mix_state *st);
void mix_sample_to(
    struct mix_state *st, const struct mix_set *set, struct mix_sample *to);
/* mix_cpu.c: on the CPU, and on signals. */
void mix_do_null(struct mix_state *st);
void mix_do_yield(struct mix_state *st);
void mix_do_sleep(struct mix_state *st);
void mix_do_affinity(struct mix_state *st);
void mix_do_processor_bind(struct mix_state *st);
void mix_do_signal(struct mix_state *st);
void mix_do_mask(struct mix_state *st);
/* Nothing is blocked. */
void mix_unblock(struct mix_state *st);

#endif /* TESTS_IMAGE_RANDOM_SCRIPT_IMPL_H */
