/* Makes a mix: each LWP's ops, and which LWPs and processes it creates. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "tests/image/random_script/impl.h"

#define TAIL (MIX_LWPS + 10) /* ops that the end of a script takes */

static void do_some(struct mix_state *st, unsigned n, bool creates);

/* A new LWP, or the first LWP of a new process, which starts after op. */
static struct mix_state
child_of(struct mix_state *st, struct op *op)
{
	struct mix_state child = { .mx = st->mx };

	child.l = &st->mx->mx_lwps[st->mx->mx_nlwp++];
	memset(child.l, 0, sizeof *child.l);
	child.l->mxl_parent = (unsigned)(st->l - st->mx->mx_lwps);
	op->op_zero = child.l->mxl_ops;
	return child;
}

static void
do_create(struct mix_state *st)
{
	if (st->mx->mx_nlwp == MIX_LWPS)
		return;
	struct op *op = MIX_CALL(st, "clone", MIX_DONE, SYS_clone, 0);
	struct mix_state child = child_of(st, op);
	mix_inherit(&child, st);
	script_lwp(op, child.l->mxl_ops,
	    child.l->mxl_stack + sizeof child.l->mxl_stack,
	    &child.l->mxl_alive);
	op->op_result = &st->l->mxl_either;
	mix_loop(st, op);
	mix_enter(&child, op);
	do_some(&child, 5 + (unsigned)mix_below(st->mx, 20), true);
	MIX_CALL(&child, "exit", MIX_ANY, SYS_exit, 0);
}

/* Report a sample by the pipe: a child process has its own memory. */
static void
do_report(struct mix_state *st, unsigned program)
{
	struct mix_report *mr = &st->l->mxl_reports[program];

	if (st->set == NULL)
		return;
	mr->mr_lwp = (uint32_t)(st->l - st->mx->mx_lwps);
	mr->mr_program = program;
	mix_sample_to(st, st->set, &mr->mr_sample);
	mix_loop(st, MIX_CALL(st, "write", sizeof *mr, SYS_write,
			 st->mx->mx_pipe[1], (long)mr, sizeof *mr));
}

/*
 * Execute another program in the process: the set is gone and nothing is
 * blocked.  The program makes this mix again and runs the script from there on.
 */
static void
do_exec(struct mix_state *st)
{
	struct mix_exec *me = &st->l->mxl_exec;
	static char name[] = "mix_exec";

	mix_unblock(st);
	snprintf(me->me_seed, sizeof me->me_seed, "%" PRIu64, st->mx->mx_seed);
	snprintf(me->me_ncpu, sizeof me->me_ncpu, "%u",
	    st->mx->mx_machine->mxm_ncpu);
	snprintf(me->me_lwp, sizeof me->me_lwp, "%u",
	    (unsigned)(st->l - st->mx->mx_lwps));
	snprintf(me->me_pipe, sizeof me->me_pipe, "%d", st->mx->mx_pipe[1]);
	me->me_argv[0] = name;
	me->me_argv[1] = me->me_seed;
	me->me_argv[2] = me->me_ncpu;
	me->me_argv[3] = me->me_lwp;
	me->me_argv[4] = me->me_pipe;
	MIX_CALL(st, "execve", MIX_ANY, SYS_execve, (long)name,
	    (long)me->me_argv, (long)&me->me_argv[5]);
	mix_stop(st);
	MIX_CALL(st, "exit_group", MIX_ANY, SYS_exit_group, 1);
	me->me_entry = st->l->mxl_nops;
	st->mx->mx_sums.sum_execs++;
}

static void
do_program(struct mix_state *st, unsigned program)
{
	mix_do_bind(st);
	do_some(st, (unsigned)mix_below(st->mx, 8), false);
	do_report(st, program);
}

static void
do_fork(struct mix_state *st)
{
	if (st->mx->mx_nlwp == MIX_LWPS)
		return;
	struct op *op = MIX_CALL(st, "fork", MIX_DONE, SYS_clone, SIGCHLD);
	struct mix_state child = child_of(st, op);
	child.l->mxl_process = true;
	child.l->mxl_status = -1; /* until wait4(2) stores it */
	child.blocked = st->blocked;
	/* None may be due in wait4(2): it would be counted again. */
	mix_loop_quiet(st, op);
	mix_enter(&child, op);
	do_program(&child, 0);
	if (mix_below(st->mx, 3) != 0) {
		do_exec(&child);
		do_program(&child, 1);
	}
	MIX_CALL(&child, "exit_group", MIX_ANY, SYS_exit_group, 0);
	mix_loop(st, MIX_CALL(st, "wait4", MIX_DONE, SYS_wait4, -1,
			 (long)&child.l->mxl_status, 0, 0));
}

/* How many of a hundred ops are of each kind.  The weights add up to 100. */
static const struct {
	void (*fn)(struct mix_state *st);
	unsigned weight;
	bool creates;
} kinds[] = {
	{ mix_do_bind, 12, false },
	{ mix_do_sample, 19, false },
	{ mix_do_unbind, 4, false },
	{ mix_do_disable, 5, false },
	{ mix_do_enable, 6, false },
	{ mix_do_restart, 4, false },
	{ mix_do_preset, 4, false },
	{ mix_do_disturb, 8, false },
	{ mix_do_null, 3, false },
	{ mix_do_yield, 6, false },
	{ mix_do_sleep, 6, false },
	{ mix_do_affinity, 6, false },
	{ mix_do_processor_bind, 4, false },
	{ mix_do_signal, 3, false },
	{ mix_do_mask, 4, false },
	{ do_create, 5, true },
	{ do_fork, 1, true },
};

static void
do_one(struct mix_state *st, bool creates)
{
	unsigned kind = 0;
	uint64_t n = mix_below(st->mx, 100);

	for (; n >= kinds[kind].weight; kind++)
		n -= kinds[kind].weight;
	if (creates || !kinds[kind].creates)
		kinds[kind].fn(st);
}

static void
do_some(struct mix_state *st, unsigned n, bool creates)
{
	while (n-- > 0 && st->l->mxl_nops < MIX_OPS - TAIL)
		do_one(st, creates);
}

/* The first LWP's end: wait for all others, then return. */
static void
do_end(struct mix_state *st)
{
	struct mix *mx = st->mx;

	struct op *op;

	mix_unblock(st);
	if (st->set != NULL) {
		op = MIX_CPC(st, "unbind", 0, CPC_OP_RELE,
		    (long)st->set->mxs_pack.cp_set);
		mix_stop(st);
		mix_loop(st, op);
	}
	for (unsigned i = 1; i < mx->mx_nlwp; i++) {
		if (!mx->mx_lwps[i].mxl_process)
			mix_loop(st, MIX_CALL(st, "futex", MIX_ANY, SYS_futex,
					 (long)&mx->mx_lwps[i].mxl_alive,
					 SCRIPT_FUTEX_WAIT, 1, 0));
	}
	st->l->mxl_ops[st->l->mxl_nops].op_sysno = -1;
}

/* The first counts instructions at the scripts' privilege, others at any. */
static uint32_t
draw_flags(struct mix *mx, unsigned request)
{
	uint32_t own = mx->mx_machine->mxm_own;
	const uint32_t flags[] = { own, own,
		own ^ (CPC_COUNT_USER | CPC_COUNT_SYSTEM),
		CPC_COUNT_USER | CPC_COUNT_SYSTEM, 0 };

	return flags[request == 0 ? 0 : mix_below(mx, 5)];
}

/* One set in three has notify requests, one in three pins requests to PICs. */
static void
make_set(struct mix *mx, unsigned number, uint64_t seed)
{
	const struct mix_machine *mm = mx->mx_machine;
	const struct cpc_event *ins = &mm->mxm_ins;
	unsigned npic = (unsigned)__builtin_popcountll(ins->ce_pics);
	struct mix_set *set = &mx->mx_sets[number];
	uint64_t kind = mix_below(mx, 3);
	uint64_t pics = kind == 0 ? ins->ce_pics : 0;
	unsigned notify = kind == 1 && mm->mxm_overflows ? npic / 2 : 0;

	npic -= notify;
	mix_set_name(set, MIX_SET_IDS + seed * MIX_SETS + number,
	    1 + (uint32_t)mix_below(mx, npic < MIX_REQS ? npic : MIX_REQS));
	for (unsigned i = 0; i < set->mxs_pack.cp_nreqs; i++) {
		struct cpc_packreq *r = &set->mxs_reqs[i];
		bool notifies;

		r->cr_event = *ins;
		r->cr_flags = draw_flags(mx, i);
		notifies = i < 2 && i < notify && r->cr_flags == mm->mxm_own;
		r->cr_preset = mix_draw_preset(mx, notifies);
		if (notifies)
			r->cr_flags |= CPC_OVF_NOTIFY_EMT;
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
	struct mix_state st = { .mx = mx, .l = &mx->mx_lwps[0] };

	memset(st.l, 0, sizeof *st.l);
	mx->mx_seed = mx->mx_random = seed;
	mx->mx_machine = mm;
	mx->mx_nlwp = 1;
	mx->mx_sums = (struct mix_sums){ 0 };
	for (unsigned i = 0; i < MIX_SETS; i++)
		make_set(mx, i, seed);
	do_create(&st);
	do_some(&st, 20 + (unsigned)mix_below(mx, 20), true);
	do_end(&st);
}
