/*
 * What the files that make mixes share; included by them alone.
 */
#ifndef TESTS_IMAGE_MIX_IMPL_H
#define TESTS_IMAGE_MIX_IMPL_H

#include "tests/image/mix.h"

#include <sys/barecpc.h>

/* What the LWP's context is where its script has got to. */
struct mix_state {
	struct mix *mx;
	struct mix_lwp *l;
	const struct mix_set *set; /* bound, or NULL */
	bool running, inherit;
	uint64_t counted; /* since base[] */
	uint64_t base[MIX_REQS], preset[MIX_REQS];
};

/* A number below n; one for a count to start from. */
uint64_t mix_below(struct mix *mx, uint64_t n);
uint64_t mix_draw_preset(struct mix *mx);

/* The LWP runs so many instructions; its set begins to count. */
void mix_ran(struct mix_state *st, uint64_t instructions);
void mix_start(struct mix_state *st, bool from_preset);

/*
 * The next op.  The caller changes the state as the call will, and then says
 * mix_loop().
 */
struct op *mix_call(struct mix_state *st, const char *name, long want,
    long sysno, const long *arg);
void mix_loop(struct mix_state *st, struct op *op);

#define MIX_CALL(st, name, want, sysno, ...)                                   \
	mix_call(st, name, want, sysno, (const long[6]){ __VA_ARGS__ })
#define MIX_CPC(st, name, want, ...)                                           \
	MIX_CALL(st, name, want, BARECPC_SYS_CPC, __VA_ARGS__)

/* Ops on counters, the last for other places than the op's own. */
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
/* Ops on the CPU. */
void mix_do_null(struct mix_state *st);
void mix_do_yield(struct mix_state *st);
void mix_do_sleep(struct mix_state *st);
void mix_do_affinity(struct mix_state *st);
void mix_do_processor_bind(struct mix_state *st);

#endif /* TESTS_IMAGE_MIX_IMPL_H */
