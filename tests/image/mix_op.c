/*
 * The ops of a mix's LWP: what each does, and what it makes of the counts.
 */
#include <errno.h>
#include <string.h>
#include <sys/processor.h>
#include <sys/syscall.h>
#include <time.h>

#include "tests/image/mix_impl.h"

/* SplitMix64: one word of state, and every seed is as good as any. */
static uint64_t
draw(struct mix *mx)
{
	uint64_t z = mx->mx_random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

uint64_t
mix_below(struct mix *mx, uint64_t n)
{
	return draw(mx) % n;
}

/* Counters of 32 and of 48 bits go round soon behind some. */
uint64_t
mix_draw_preset(struct mix *mx)
{
	switch (mix_below(mx, 4)) {
	case 0:
		return draw(mx);
	case 1:
		return (draw(mx) << 32) - 1 - mix_below(mx, 1000);
	case 2:
		return (draw(mx) << 48) - 1 - mix_below(mx, 1000);
	default:
		return 0;
	}
}

/* Mostly short; some take an interrupt or two, few a whole slice. */
static unsigned long
draw_spins(struct mix *mx)
{
	uint64_t kind = mix_below(mx, 1000);

	if (kind < 2)
		return 2500000;
	return 1 + mix_below(mx, kind < 50 ? 20000 : 200);
}

void
mix_ran(struct mix_state *st, uint64_t instructions)
{
	if (!st->running)
		return;
	st->counted += instructions;
	st->mx->mx_counted += instructions;
}

/*
 * The next op.  The caller changes the state as the call will, and then says
 * mix_loop().
 */
struct op *
mix_call(struct mix_state *st, const char *name, long want, long sysno,
    const long *arg)
{
	struct mix_lwp *l = st->l;
	unsigned n = l->ml_nops++;
	struct op *op = &l->ml_ops[n];

	op->op_sysno = sysno;
	memcpy(op->op_arg, arg, sizeof op->op_arg);
	op->op_result = &l->ml_results[n];
	op->op_zero = op + 1;
	l->ml_wants[n].mw_name = name;
	l->ml_wants[n].mw_result = want;
	l->ml_wants[n].mw_counts = sysno == BARECPC_SYS_CPC;
	mix_ran(st, script_before);
	return op;
}

void
mix_loop(struct mix_state *st, struct op *op)
{
	op->op_spins = draw_spins(st->mx);
	mix_ran(st, script_after + SCRIPT_SPIN * op->op_spins);
}

/*
 * Counters
 */

static const struct mix_set *
draw_set(struct mix_state *st)
{
	/* Mostly the bound one. */
	if (st->set != NULL && mix_below(st->mx, 5) != 0)
		return st->set;
	return &st->mx->mx_sets[mix_below(st->mx, MIX_SETS)];
}

void
mix_start(struct mix_state *st, bool from_preset)
{
	st->running = true;
	if (!from_preset)
		return;
	st->counted = 0;
	memcpy(st->base, st->preset, sizeof st->base);
}

void
mix_do_bind(struct mix_state *st)
{
	const struct mix_set *set =
	    &st->mx->mx_sets[mix_below(st->mx, MIX_SETS)];
	unsigned n = set->mx_pack.cp_nreqs;
	bool inherit = mix_below(st->mx, 2) != 0;
	struct mix_want *want = &st->l->ml_wants[st->l->ml_nops];
	struct op *op = MIX_CPC(st, "bind", 0, CPC_OP_BIND, (long)set,
	    (long)set->mx_pack.cp_set, inherit ? CPC_BIND_LWP_INHERIT : 0, 0);

	want->mw_binds = true;
	st->set = set;
	st->inherit = inherit;
	for (unsigned i = 0; i < n; i++)
		st->preset[i] = set->mx_reqs[i].cr_preset;
	mix_start(st, true);
	mix_loop(st, op);
}

/* What a sample of the bound set reads. */
static void
expect_values(const struct mix_state *st, struct mix_want *want)
{
	for (unsigned i = 0; i < st->set->mx_pack.cp_nreqs; i++) {
		uint32_t flags = st->set->mx_reqs[i].cr_flags;

		if ((flags & CPC_COUNT_SYSTEM) != 0)
			continue;
		want->mw_compare |= 1U << i;
		want->mw_value[i] = st->base[i];
		if (flags == CPC_COUNT_USER)
			want->mw_value[i] += st->counted;
	}
}

void
mix_sample_to(
    struct mix_state *st, const struct mix_set *set, struct mix_sample *to)
{
	struct mix_want *want = &st->l->ml_wants[st->l->ml_nops];
	bool good = set == st->set;
	struct op *op = MIX_CPC(st, "sample", good ? 0 : -EINVAL, CPC_OP_SAMPLE,
	    (long)set->mx_pack.cp_set, (long)to, set->mx_pack.cp_nreqs);

	want->mw_sample = to;
	if (good)
		expect_values(st, want);
	mix_loop(st, op);
}

void
mix_do_sample(struct mix_state *st)
{
	mix_sample_to(st, draw_set(st), &st->l->ml_samples[st->l->ml_nops]);
}

void
mix_do_unbind(struct mix_state *st)
{
	const struct mix_set *set = draw_set(st);
	struct op *op = MIX_CPC(st, "unbind", set == st->set ? 0 : -EINVAL,
	    CPC_OP_RELE, (long)set->mx_pack.cp_set);

	if (set == st->set) {
		st->set = NULL;
		st->running = false;
	}
	mix_loop(st, op);
}

void
mix_do_disable(struct mix_state *st)
{
	struct op *op =
	    MIX_CPC(st, "disable", st->running ? 0 : -EINVAL, CPC_OP_DISABLE);

	st->running = false;
	mix_loop(st, op);
}

void
mix_do_enable(struct mix_state *st)
{
	bool frozen = st->set != NULL && !st->running;
	struct op *op =
	    MIX_CPC(st, "enable", frozen ? 0 : -EINVAL, CPC_OP_ENABLE);

	if (frozen)
		mix_start(st, false);
	mix_loop(st, op);
}

void
mix_do_restart(struct mix_state *st)
{
	struct op *op = MIX_CPC(
	    st, "restart", st->set != NULL ? 0 : -EINVAL, CPC_OP_RESTART);

	if (st->set != NULL)
		mix_start(st, true);
	mix_loop(st, op);
}

void
mix_do_preset(struct mix_state *st)
{
	unsigned i = (unsigned)mix_below(st->mx, MIX_REQS);
	uint64_t preset = mix_draw_preset(st->mx);
	bool good = st->set != NULL && i < st->set->mx_pack.cp_nreqs;
	struct op *op = MIX_CPC(
	    st, "preset", good ? 0 : -EINVAL, CPC_OP_PRESET, i, (long)preset);

	if (good)
		st->preset[i] = preset;
	mix_loop(st, op);
}

/* The PICs are taken away and given back somewhere in what follows. */
void
mix_do_stir(struct mix_state *st)
{
	mix_loop(st, MIX_CPC(st, "stir", st->running ? 0 : -EINVAL, CPC_OP_STIR,
			 (long)mix_below(st->mx, 500)));
}

/*
 * The CPU
 */

void
mix_do_null(struct mix_state *st)
{
	mix_loop(st, MIX_CALL(st, "getpid", MIX_DONE, SYS_getpid, 0));
}

void
mix_do_yield(struct mix_state *st)
{
	mix_loop(st, MIX_CALL(st, "sched_yield", 0, SYS_sched_yield, 0));
}

void
mix_do_sleep(struct mix_state *st)
{
	struct timespec *ts = &st->l->ml_sleeps[st->l->ml_nops];

	ts->tv_nsec = (long)mix_below(st->mx, 50000);
	mix_loop(st, MIX_CALL(st, "nanosleep", 0, SYS_nanosleep, (long)ts, 0));
}

void
mix_do_affinity(struct mix_state *st)
{
	uint64_t *cpus = &st->l->ml_cpus[st->l->ml_nops];

	st->l->ml_wants[st->l->ml_nops].mw_moves = true;
	*cpus =
	    1 + mix_below(st->mx, (1ULL << st->mx->mx_machine->mm_ncpu) - 1);
	mix_loop(st, MIX_CALL(st, "sched_setaffinity", 0, SYS_sched_setaffinity,
			 0, sizeof *cpus, (long)cpus));
}

void
mix_do_processor_bind(struct mix_state *st)
{
	long cpu = PBIND_NONE;

	st->l->ml_wants[st->l->ml_nops].mw_moves = true;
	if (mix_below(st->mx, 2) != 0)
		cpu = (long)mix_below(st->mx, st->mx->mx_machine->mm_ncpu);
	mix_loop(st, MIX_CALL(st, "processor_bind", 0, BARECPC_SYS_SCHED,
			 BARECPC_SCHED_BIND, P_LWPID, P_MYID, cpu, 0));
}
