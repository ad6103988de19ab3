/*
 * Predicts an LWP's counts.  A set counts the script's instructions one by one.
 * It freezes after the instruction that overflows a notify request, and
 * continues from its presets when the handler restarts it.
 */
#include <signal.h>
#include <string.h>

#include "tests/image/random_script/impl.h"

void
mix_start(struct mix_state *st, bool from_preset)
{
	st->running = true;
	if (!from_preset)
		return;
	st->due = false;
	st->counted = 0;
	memcpy(st->base, st->preset, sizeof st->base);
}

void
mix_stop(struct mix_state *st)
{
	st->set = NULL;
	st->running = st->due = false;
}

static bool
request_notifies(const struct mix_set *set, unsigned i)
{
	return (set->mxs_reqs[i].cr_flags & CPC_OVF_NOTIFY_EMT) != 0;
}

void
mix_inherit(struct mix_state *st, const struct mix_state *from)
{
	st->blocked = from->blocked;
	if (from->set == NULL || !from->inherit)
		return;
	st->set = from->set;
	st->inherit = true;
	memcpy(st->preset, from->preset, sizeof st->preset);
	mix_start(st, true);
	st->running = from->running;
	for (unsigned i = 0; i < st->set->mxs_pack.cp_nreqs; i++) {
		if (!request_notifies(st->set, i))
			continue;
		st->base[i] = UINT64_MAX;
		st->running = false;
		st->overflowed = true;
	}
}

/* Instructions up to and including the one that overflows, or UINT64_MAX. */
static uint64_t
until_overflow(const struct mix_state *st)
{
	uint64_t left, least = UINT64_MAX;

	for (unsigned i = 0; i < st->set->mxs_pack.cp_nreqs; i++) {
		left = -(st->base[i] + st->counted);
		if (request_notifies(st->set, i) && left != 0 && left < least)
			least = left;
	}
	return least;
}

static void
count_instructions(struct mix_state *st, uint64_t instructions)
{
	st->counted += instructions;
	st->mx->mx_sums.sum_counted += instructions;
}

static void deliver_signals(struct mix_state *st);

/* Predict so many instructions, of which the last is a system call. */
static void
run_instructions(struct mix_state *st, uint64_t instructions)
{
	uint64_t left;

	while (st->running) {
		if ((left = until_overflow(st)) > instructions) {
			count_instructions(st, instructions);
			return;
		}
		count_instructions(st, left);
		if ((instructions -= left) == 0) {
			st->due = true;
			return;
		}
		st->running = false;
		st->overflowed = true;
		deliver_signals(st);
	}
}

/* Leave a system call.  An overflow that was due in it freezes the set now. */
static void
leave_call(struct mix_state *st)
{
	if (!st->due)
		return;
	st->due = st->running = false;
	st->overflowed = true;
}

/* Predict script_restarting() or script_returning(): all is blocked. */
static void
run_handler(struct mix_state *st, bool restarts)
{
	uint64_t blocked = st->blocked;

	st->blocked = ~0ULL;
	if (!restarts) {
		st->mx->mx_sums.sum_signals++;
	} else {
		st->mx->mx_sums.sum_overflows++;
		run_instructions(st, script_restart);
		if (st->set != NULL)
			mix_start(st, true);
	}
	run_instructions(st, script_return);
	st->blocked = blocked;
	leave_call(st);
}

/*
 * Deliver signals in the kernel's order: first the SIGEMT of a new overflow, if
 * it is not blocked.  Then pending signals follow, the lowest number first.
 */
static void
deliver_signals(struct mix_state *st)
{
	for (;;) {
		if (st->overflowed && (st->blocked & MIX_BIT(SIGEMT)) != 0) {
			st->overflowed = false;
			st->emt_pending = true;
		}
		if (st->overflowed) {
			st->overflowed = false;
			run_handler(st, true);
		} else if (st->usr_pending &&
			   (st->blocked & MIX_BIT(SIGUSR1)) == 0) {
			st->usr_pending = false;
			run_handler(st, false);
		} else if (st->emt_pending &&
			   (st->blocked & MIX_BIT(SIGEMT)) == 0) {
			st->emt_pending = false;
			run_handler(st, true);
		} else {
			return;
		}
	}
}

struct op *
mix_call(struct mix_state *st, const char *name, long want, long sysno,
    const long *arg)
{
	struct mix_lwp *l = st->l;
	unsigned n = l->mxl_nops++;
	struct op *op = &l->mxl_ops[n];

	op->op_sysno = sysno;
	memcpy(op->op_arg, arg, sizeof op->op_arg);
	op->op_result = &l->mxl_results[n];
	op->op_spins = 1;
	op->op_zero = op + 1;
	l->mxl_wants[n].mw_name = name;
	l->mxl_wants[n].mw_result = want;
	l->mxl_wants[n].mw_counts = sysno == BARECPC_SYS_CPC;
	return op;
}

void
mix_enter(struct mix_state *st, const struct op *op)
{
	leave_call(st);
	deliver_signals(st);
	run_instructions(
	    st, script_after + SCRIPT_SPIN * op->op_spins + script_before);
}

void
mix_loop(struct mix_state *st, struct op *op)
{
	op->op_spins = mix_draw_spins(st->mx);
	mix_enter(st, op);
}

void
mix_loop_quiet(struct mix_state *st, struct op *op)
{
	struct mix_state before = *st;
	struct mix_sums sums = st->mx->mx_sums;

	op->op_spins = mix_draw_spins(st->mx);
	for (mix_enter(st, op); st->due; mix_enter(st, op)) {
		*st = before;
		st->mx->mx_sums = sums;
		op->op_spins++;
	}
}
