/*
 * Declarations shared by the files that make mixes, and included only by them:
 * the predicted state of an LWP, and the operations that change it.
 */
#pragma once

#include "tests/image/random_script/mix.h"

#include <sys/barecpc.h>

/* The predicted context and signals of an LWP at its current op. */
struct mix_state {
	struct mix *mx;
	struct mix_lwp *l;
	const struct mix_set *set; /* bound, or NULL */
	bool running, inherit;
	uint64_t counted; /* instructions since the counts were base[] */
	uint64_t base[MIX_REQS], preset[MIX_REQS];
	/*
	 * An overflow goes through up to three states:
	 * - due: the overflowing instruction was a system call, and the
	 *   overflow waits for the end of that call;
	 * - overflowed: the set is frozen, and SIGEMT must be delivered;
	 * - emt_pending: SIGEMT is blocked.
	 */
	bool due, overflowed, emt_pending;
	bool usr_pending; /* SIGUSR1 is pending */
	uint64_t blocked;
};

/* A signal's bit in the mask of rt_sigprocmask(2). */
#define MIX_BIT(sig) (1ULL << ((sig)-1))

/* draw.c: a number below n; a preset, which notifies or does not. */
uint64_t mix_below(struct mix *mx, uint64_t n);
uint64_t mix_draw_preset(struct mix *mx, bool notify);
/* The number of spins of a loop. */
unsigned long mix_draw_spins(struct mix *mx);

/* state.c: the set starts to count, from presets or where it stopped. */
void mix_start(struct mix_state *st, bool from_preset);
/* The set is unbound.  An overflow that is due is lost. */
void mix_stop(struct mix_state *st);
/* Give a new LWP a copy of its creator's context. */
void mix_inherit(struct mix_state *st, const struct mix_state *from);

/*
 * Add an op.  The state is that of the LWP in its system call: everything up to
 * the call is counted.  The caller changes the state as the call will, and then
 * calls mix_loop().
 */
struct op *mix_call(struct mix_state *st, const char *name, long want,
    long sysno, const long *arg);
/* Predict the way out, through a loop, into the next call. */
void mix_loop(struct mix_state *st, struct op *op);
/* Like mix_loop(), so long that no overflow is due in the next call. */
void mix_loop_quiet(struct mix_state *st, struct op *op);
/* Like mix_loop(), for a new LWP, which runs the loop of its creator's op. */
void mix_enter(struct mix_state *st, const struct op *op);

#define MIX_CALL(st, name, want, sysno, ...)                                   \
	mix_call(st, name, want, sysno, (const long[6]){ __VA_ARGS__ })
#define MIX_CPC(st, name, want, ...)                                           \
	MIX_CALL(st, name, want, BARECPC_SYS_CPC, __VA_ARGS__)

/* operation.c: on counters.  mix_sample_to(): the set, and the place. */
void mix_do_bind(struct mix_state *st);
void mix_do_sample(struct mix_state *st);
void mix_do_unbind(struct mix_state *st);
void mix_do_disable(struct mix_state *st);
void mix_do_enable(struct mix_state *st);
void mix_do_restart(struct mix_state *st);
void mix_do_preset(struct mix_state *st);
void mix_do_disturb(struct mix_state *st);
void mix_sample_to(
    struct mix_state *st, const struct mix_set *set, struct mix_sample *to);
/* cpu.c: operations on the CPU and on signals. */
void mix_do_null(struct mix_state *st);
void mix_do_yield(struct mix_state *st);
void mix_do_sleep(struct mix_state *st);
void mix_do_affinity(struct mix_state *st);
void mix_do_processor_bind(struct mix_state *st);
void mix_do_signal(struct mix_state *st);
void mix_do_mask(struct mix_state *st);
/* Add ops until no signal is blocked. */
void mix_unblock(struct mix_state *st);
