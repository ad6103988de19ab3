/* Operations of a mix on the CPU and on signals. */
#include <signal.h>
#include <sys/processor.h>
#include <sys/syscall.h>
#include <time.h>

#include "tests/image/random_script/impl.h"

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

/* An overflow that is due in the call may end the sleep. */
void
mix_do_sleep(struct mix_state *st)
{
	struct timespec *ts = &st->l->mxl_sleeps[st->l->mxl_nops];

	ts->tv_nsec = (long)mix_below(st->mx, 50000);
	mix_loop(st, MIX_CALL(st, "nanosleep", st->due ? MIX_ANY : 0,
			 SYS_nanosleep, (long)ts, 0));
}

void
mix_do_affinity(struct mix_state *st)
{
	uint64_t *cpus = &st->l->mxl_cpus[st->l->mxl_nops];

	st->l->mxl_wants[st->l->mxl_nops].mw_moves = true;
	*cpus =
	    1 + mix_below(st->mx, (1ULL << st->mx->mx_machine->mxm_ncpu) - 1);
	mix_loop(st, MIX_CALL(st, "sched_setaffinity", 0, SYS_sched_setaffinity,
			 0, sizeof *cpus, (long)cpus));
}

void
mix_do_processor_bind(struct mix_state *st)
{
	long cpu = PBIND_NONE;

	st->l->mxl_wants[st->l->mxl_nops].mw_moves = true;
	if (mix_below(st->mx, 2) != 0)
		cpu = (long)mix_below(st->mx, st->mx->mx_machine->mxm_ncpu);
	mix_loop(st, MIX_CALL(st, "processor_bind", 0, BARECPC_SYS_SCHED,
			 BARECPC_SCHED_BIND, P_LWPID, P_MYID, cpu, 0));
}

/*
 * Send SIGUSR1 to this LWP.  The gettid(2) stores its result as an argument of
 * the tkill(2).
 *
 * No overflow may be due in the tkill(2).  Whether the overflow or the signal
 * would come first depends on whether the LWP is switched in between.
 */
void
mix_do_signal(struct mix_state *st)
{
	struct op *who = MIX_CALL(st, "gettid", MIX_DONE, SYS_gettid, 0);
	struct op *op;

	who->op_result = &st->l->mxl_ops[st->l->mxl_nops].op_arg[0];
	mix_loop_quiet(st, who);
	op = MIX_CALL(st, "tkill", 0, SYS_tkill, 0, SIGUSR1);
	st->usr_pending = true;
	mix_loop(st, op);
}

static void
block_signals(struct mix_state *st, uint64_t signals)
{
	uint64_t *mask = &st->l->mxl_masks[st->l->mxl_nops];
	struct op *op = MIX_CALL(st, "rt_sigprocmask", 0, SYS_rt_sigprocmask,
	    SIG_SETMASK, (long)mask, 0, sizeof *mask);

	/* As in mix_do_signal(): the order of the two signals is unknown. */
	if (st->due && st->usr_pending)
		signals |= MIX_BIT(SIGUSR1);
	*mask = st->blocked = signals;
	mix_loop(st, op);
}

void
mix_do_mask(struct mix_state *st)
{
	static const uint64_t masks[] = { 0, MIX_BIT(SIGEMT), MIX_BIT(SIGUSR1),
		MIX_BIT(SIGEMT) | MIX_BIT(SIGUSR1) };

	block_signals(
	    st, masks[mix_below(st->mx, sizeof masks / sizeof masks[0])]);
}

void
mix_unblock(struct mix_state *st)
{
	while (st->blocked != 0)
		block_signals(st, 0);
}
