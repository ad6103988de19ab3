#define _GNU_SOURCE /* CLONE_* */
#include "tests/image/mix.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/barecpc.h>
#include <sys/processor.h>
#include <sys/syscall.h>
#include <time.h>

#define THREAD                                                                 \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |    \
	    CLONE_SYSVSEM | CLONE_CHILD_CLEARTID)

#define FUTEX_WAIT                                                             \
	0 /* of futex(2): Linux's own header is not the C library's */

/* Far from those that libcpc gives sets of the same process. */
#define MIX_SET_IDS (1ULL << 62)

#define TAIL (MIX_LWPS + 4) /* ops the end of a script takes */

/* What the LWP's context is where its script has got to. */
struct state {
	struct mix *mx;
	struct mix_lwp *l;
	const struct mix_set *set; /* bound, or NULL */
	bool running, inherit;
	uint64_t counted; /* since base[] */
	uint64_t base[MIX_REQS], preset[MIX_REQS];
};

/* SplitMix64: one word of state, and every seed is as good as any. */
static uint64_t
draw(struct mix *mx)
{
	uint64_t z = mx->mx_random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint64_t
below(struct mix *mx, uint64_t n)
{
	return draw(mx) % n;
}

/* Counters of 32 and of 48 bits go round soon behind some. */
static uint64_t
draw_preset(struct mix *mx)
{
	switch (below(mx, 4)) {
	case 0:
		return draw(mx);
	case 1:
		return (draw(mx) << 32) - 1 - below(mx, 1000);
	case 2:
		return (draw(mx) << 48) - 1 - below(mx, 1000);
	default:
		return 0;
	}
}

/* Mostly short; some take an interrupt or two, few a whole slice. */
static unsigned long
draw_spins(struct mix *mx)
{
	uint64_t kind = below(mx, 1000);

	if (kind < 2)
		return 2500000;
	return 1 + below(mx, kind < 50 ? 20000 : 200);
}

static void
ran(struct state *st, uint64_t instructions)
{
	if (!st->running)
		return;
	st->counted += instructions;
	st->mx->mx_counted += instructions;
}

/*
 * The next op.  The caller changes the state as the call will, and then says
 * loop().
 */
static struct op *
call(struct state *st, const char *name, long want, long sysno, const long *arg)
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
	ran(st, script_before);
	return op;
}

#define CALL(st, name, want, sysno, ...)                                       \
	call(st, name, want, sysno, (const long[6]){ __VA_ARGS__ })
#define CPC(st, name, want, ...)                                               \
	CALL(st, name, want, BARECPC_SYS_CPC, __VA_ARGS__)

static void
loop(struct state *st, struct op *op)
{
	op->op_spins = draw_spins(st->mx);
	ran(st, script_after + SCRIPT_SPIN * op->op_spins);
}

/*
 * Counters
 */

static const struct mix_set *
draw_set(struct state *st)
{
	/* Mostly the bound one. */
	if (st->set != NULL && below(st->mx, 5) != 0)
		return st->set;
	return &st->mx->mx_sets[below(st->mx, MIX_SETS)];
}

static void
start(struct state *st, bool from_preset)
{
	st->running = true;
	if (!from_preset)
		return;
	st->counted = 0;
	memcpy(st->base, st->preset, sizeof st->base);
}

static void
do_bind(struct state *st)
{
	const struct mix_set *set = &st->mx->mx_sets[below(st->mx, MIX_SETS)];
	unsigned n = set->mx_pack.cp_nreqs;
	bool inherit = below(st->mx, 2) != 0;
	struct mix_want *want = &st->l->ml_wants[st->l->ml_nops];
	struct op *op = CPC(st, "bind", 0, CPC_OP_BIND, (long)set,
	    (long)set->mx_pack.cp_set, inherit ? CPC_BIND_LWP_INHERIT : 0, 0);

	want->mw_binds = true;
	st->set = set;
	st->inherit = inherit;
	for (unsigned i = 0; i < n; i++)
		st->preset[i] = set->mx_reqs[i].cr_preset;
	start(st, true);
	loop(st, op);
}

/* What a sample of the bound set reads. */
static void
expect_values(const struct state *st, struct mix_want *want)
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

static void
sample_to(struct state *st, const struct mix_set *set, struct mix_sample *to)
{
	struct mix_want *want = &st->l->ml_wants[st->l->ml_nops];
	bool good = set == st->set;
	struct op *op = CPC(st, "sample", good ? 0 : -EINVAL, CPC_OP_SAMPLE,
	    (long)set->mx_pack.cp_set, (long)to, set->mx_pack.cp_nreqs);

	want->mw_sample = to;
	if (good)
		expect_values(st, want);
	loop(st, op);
}

static void
do_sample(struct state *st)
{
	sample_to(st, draw_set(st), &st->l->ml_samples[st->l->ml_nops]);
}

static void
do_unbind(struct state *st)
{
	const struct mix_set *set = draw_set(st);
	struct op *op = CPC(st, "unbind", set == st->set ? 0 : -EINVAL,
	    CPC_OP_RELE, (long)set->mx_pack.cp_set);

	if (set == st->set) {
		st->set = NULL;
		st->running = false;
	}
	loop(st, op);
}

static void
do_disable(struct state *st)
{
	struct op *op =
	    CPC(st, "disable", st->running ? 0 : -EINVAL, CPC_OP_DISABLE);

	st->running = false;
	loop(st, op);
}

static void
do_enable(struct state *st)
{
	bool frozen = st->set != NULL && !st->running;
	struct op *op = CPC(st, "enable", frozen ? 0 : -EINVAL, CPC_OP_ENABLE);

	if (frozen)
		start(st, false);
	loop(st, op);
}

static void
do_restart(struct state *st)
{
	struct op *op =
	    CPC(st, "restart", st->set != NULL ? 0 : -EINVAL, CPC_OP_RESTART);

	if (st->set != NULL)
		start(st, true);
	loop(st, op);
}

static void
do_preset(struct state *st)
{
	unsigned i = (unsigned)below(st->mx, MIX_REQS);
	uint64_t preset = draw_preset(st->mx);
	bool good = st->set != NULL && i < st->set->mx_pack.cp_nreqs;
	struct op *op = CPC(
	    st, "preset", good ? 0 : -EINVAL, CPC_OP_PRESET, i, (long)preset);

	if (good)
		st->preset[i] = preset;
	loop(st, op);
}

/* The PICs are taken away and given back somewhere in what follows. */
static void
do_stir(struct state *st)
{
	loop(st, CPC(st, "stir", st->running ? 0 : -EINVAL, CPC_OP_STIR,
		     (long)below(st->mx, 500)));
}

/*
 * The CPU
 */

static void
do_null(struct state *st)
{
	loop(st, CALL(st, "getpid", MIX_DONE, SYS_getpid, 0));
}

static void
do_yield(struct state *st)
{
	loop(st, CALL(st, "sched_yield", 0, SYS_sched_yield, 0));
}

static void
do_sleep(struct state *st)
{
	struct timespec *ts = &st->l->ml_sleeps[st->l->ml_nops];

	ts->tv_nsec = (long)below(st->mx, 50000);
	loop(st, CALL(st, "nanosleep", 0, SYS_nanosleep, (long)ts, 0));
}

static void
do_affinity(struct state *st)
{
	uint64_t *cpus = &st->l->ml_cpus[st->l->ml_nops];

	st->l->ml_wants[st->l->ml_nops].mw_moves = true;
	*cpus = 1 + below(st->mx, (1ULL << st->mx->mx_machine->mm_ncpu) - 1);
	loop(st, CALL(st, "sched_setaffinity", 0, SYS_sched_setaffinity, 0,
		     sizeof *cpus, (long)cpus));
}

static void
do_processor_bind(struct state *st)
{
	long cpu = PBIND_NONE;

	st->l->ml_wants[st->l->ml_nops].mw_moves = true;
	if (below(st->mx, 2) != 0)
		cpu = (long)below(st->mx, st->mx->mx_machine->mm_ncpu);
	loop(st, CALL(st, "processor_bind", 0, BARECPC_SYS_SCHED,
		     BARECPC_SCHED_BIND, P_LWPID, P_MYID, cpu, 0));
}

/*
 * Others
 */

static void do_some(struct state *st, unsigned n, bool creates);

/* A new LWP, or the first of a new process, which starts behind op. */
static struct state
child_of(struct state *st, struct op *op)
{
	struct state child = { .mx = st->mx };

	child.l = &st->mx->mx_lwps[st->mx->mx_nlwp++];
	memset(child.l, 0, sizeof *child.l);
	child.l->ml_parent = (unsigned)(st->l - st->mx->mx_lwps);
	op->op_zero = child.l->ml_ops;
	return child;
}

static void
do_create(struct state *st)
{
	struct state child;
	struct op *op;

	if (st->mx->mx_nlwp == MIX_LWPS)
		return;
	op = CALL(st, "clone", MIX_DONE, SYS_clone, THREAD);
	child = child_of(st, op);
	child.l->ml_alive = 1;
	op->op_arg[1] = (long)(child.l->ml_stack + sizeof child.l->ml_stack);
	/* On x86-64 the word to clear is the fourth, on arm64 the fifth. */
	op->op_arg[3] = op->op_arg[4] = (long)&child.l->ml_alive;
	/* The new LWP stores the same result's place, and loops as long. */
	op->op_result = &st->l->ml_either;
	loop(st, op);
	if (st->set != NULL && st->inherit) {
		child.set = st->set;
		child.inherit = true;
		memcpy(child.preset, st->preset, sizeof child.preset);
		start(&child, true);
		child.running = st->running;
	}
	ran(&child, script_after + SCRIPT_SPIN * op->op_spins);
	do_some(&child, 5 + (unsigned)below(st->mx, 20), true);
	CALL(&child, "exit", MIX_ANY, SYS_exit, 0);
}

/* Its memory is its own: its last sample goes by the pipe. */
static void
do_report(struct state *st)
{
	struct mix_report *mr = &st->l->ml_report;

	mr->mr_lwp = (uint64_t)(st->l - st->mx->mx_lwps);
	sample_to(st, st->set, &mr->mr_sample);
	loop(st, CALL(st, "write", sizeof *mr, SYS_write, st->mx->mx_pipe[1],
		     (long)mr, sizeof *mr));
}

static void
do_fork(struct state *st)
{
	struct state child;
	struct op *op;

	if (st->mx->mx_nlwp == MIX_LWPS)
		return;
	op = CALL(st, "fork", MIX_DONE, SYS_clone, SIGCHLD);
	child = child_of(st, op);
	child.l->ml_process = true;
	loop(st, op);
	do_bind(&child);
	do_some(&child, (unsigned)below(st->mx, 8), false);
	if (child.set != NULL)
		do_report(&child);
	CALL(&child, "exit_group", MIX_ANY, SYS_exit_group, 0);
	loop(st, CALL(st, "wait4", MIX_DONE, SYS_wait4, -1, 0, 0, 0));
}

/* Of a hundred ops so many are of that kind. */
static const struct {
	void (*fn)(struct state *st);
	unsigned weight;
	bool creates;
} kinds[] = {
	{ do_bind, 14, false },
	{ do_sample, 20, false },
	{ do_unbind, 5, false },
	{ do_disable, 5, false },
	{ do_enable, 6, false },
	{ do_restart, 4, false },
	{ do_preset, 4, false },
	{ do_stir, 9, false },
	{ do_null, 3, false },
	{ do_yield, 7, false },
	{ do_sleep, 6, false },
	{ do_affinity, 7, false },
	{ do_processor_bind, 4, false },
	{ do_create, 5, true },
	{ do_fork, 1, true },
};

static void
do_one(struct state *st, bool creates)
{
	unsigned kind = 0;
	uint64_t n = below(st->mx, 100);

	for (; n >= kinds[kind].weight; kind++)
		n -= kinds[kind].weight;
	if (creates || !kinds[kind].creates)
		kinds[kind].fn(st);
}

static void
do_some(struct state *st, unsigned n, bool creates)
{
	while (n-- > 0 && st->l->ml_nops < MIX_OPS - TAIL)
		do_one(st, creates);
}

/* To the caller of the first LWP's script: when all others have ended. */
static void
do_end(struct state *st)
{
	struct mix *mx = st->mx;

	if (st->set != NULL) {
		CPC(st, "unbind", 0, CPC_OP_RELE, (long)st->set->mx_pack.cp_set)
		    ->op_spins = 1;
		st->running = false;
	}
	for (unsigned i = 1; i < mx->mx_nlwp; i++) {
		if (!mx->mx_lwps[i].ml_process)
			loop(st, CALL(st, "futex", MIX_ANY, SYS_futex,
				     (long)&mx->mx_lwps[i].ml_alive, FUTEX_WAIT,
				     1, 0));
	}
	st->l->ml_ops[st->l->ml_nops].op_sysno = -1;
}

/*
 * The first request, which the witness compares, counts instructions at user
 * privilege; any other may be another such, or of some other privilege.
 */
static void
make_set(struct mix *mx, unsigned number, uint64_t seed)
{
	static const uint32_t flags[] = { CPC_COUNT_USER, CPC_COUNT_USER,
		CPC_COUNT_SYSTEM, CPC_COUNT_USER | CPC_COUNT_SYSTEM, 0 };
	const struct cpc_event *ins = &mx->mx_machine->mm_ins;
	unsigned npic = (unsigned)__builtin_popcountll(ins->ce_pics);
	struct mix_set *set = &mx->mx_sets[number];
	uint64_t pics = below(mx, 3) == 0 ? ins->ce_pics : 0;

	set->mx_pack.cp_set = MIX_SET_IDS + seed * MIX_SETS + number;
	set->mx_pack.cp_nreqs =
	    1 + (uint32_t)below(mx, npic < MIX_REQS ? npic : MIX_REQS);
	set->mx_pack.cp_bytes =
	    (uint32_t)(sizeof set->mx_pack +
		       set->mx_pack.cp_nreqs * sizeof set->mx_reqs[0]);
	for (unsigned i = 0; i < set->mx_pack.cp_nreqs; i++) {
		struct cpc_packreq *r = &set->mx_reqs[i];

		r->cr_event = *ins;
		r->cr_preset = draw_preset(mx);
		r->cr_flags = flags[i == 0 ? 0 : below(mx, 5)];
		r->cr_nattrs = 0;
		r->cr_picnum = -1;
		if (pics != 0) { /* pinned, the highest first */
			r->cr_picnum = 63 - __builtin_clzll(pics);
			pics &= ~(1ULL << r->cr_picnum);
		}
	}
}

void
mix_make(struct mix *mx, uint64_t seed, const struct mix_machine *mm)
{
	struct state st = { .mx = mx, .l = &mx->mx_lwps[0] };

	memset(st.l, 0, sizeof *st.l);
	mx->mx_seed = mx->mx_random = seed;
	mx->mx_machine = mm;
	mx->mx_nlwp = 1;
	mx->mx_counted = 0;
	for (unsigned i = 0; i < MIX_SETS; i++)
		make_set(mx, i, seed);
	do_create(&st);
	do_some(&st, 20 + (unsigned)below(mx, 20), true);
	do_end(&st);
}
