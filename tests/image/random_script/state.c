/*
 * What a script's instructions make of an LWP's counts: a set counts them one
 * by one, freezes behind the one that overflows a request to be told of, and
 * goes on from its presets where the handler restarts it.
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
notifies(const struct mix_set *set, unsigned i)
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
		if (!notifies(st->set, i))
			continue;
		st->base[i] = UINT64_MAX;
		st->running = false;
		st->told = true;
	}
}

/* Instructions to the one that overflows, or more than there ever are. */
static uint64_t
until_overflow(const struct mix_state *st)
{
	uint64_t left, least = UINT64_MAX;

	for (unsigned i = 0; i < st->set->mxs_pack.cp_nreqs; i++) {
		left = -(st->base[i] + st->counted);
		if (notifies(st->set, i) && left != 0 && left < least)
			least = left;
	}
	return least;
}

static void
count(struct mix_state *st, uint64_t instructions)
{
	st->counted += instructions;
	st->mx->mx_sums.sum_counted += instructions;
}

static void deliver(struct mix_state *st);

/* The LWP runs so many, of which the last is a system call. */
static void
run(struct mix_state *st, uint64_t instructions)
{
	uint64_t left;

	while (st->running) {
		if ((left = until_overflow(st)) > instructions) {
			count(st, instructions);
			return;
		}
		count(st, left);
		if ((instructions -= left) == 0) {
			st->due = true;
			return;
		}
		st->running = false;
		st->told = true;
		deliver(st);
	}
}

/* Back from a system call that an overflow may have waited in. */
static void
leave_call(struct mix_state *st)
{
	if (!st->due)
		return;
	st->due = st->running = false;
	st->told = true;
}

/* script_restarting(), or script_returning() alone: all is blocked there. */
static void
handle(struct mix_state *st, bool restarts)
{
	uint64_t blocked = st->blocked;

	st->blocked = ~0ULL;
	if (!restarts) {
		st->mx->mx_sums.sum_signals++;
	} else {
		st->mx->mx_sums.sum_overflows++;
		run(st, script_restart);
		if (st->set != NULL)
			mix_start(st, true);
	}
	run(st, script_return);
	st->blocked = blocked;
	leave_call(st);
}

/*
 * The kernel's order: an overflow is told at once where that can be, and then
 * what waits, the lowest number first.
 */
static void
deliver(struct mix_state *st)
{
	for (;;) {
		if (st->told && (st->blocked & MIX_BIT(SIGEMT)) != 0) {
			st->told = false;
			st->emt = true;
		}
		if (st->told) {
			st->told = false;
			handle(st, true);
		} else if (st->usr && (st->blocked & MIX_BIT(SIGUSR1)) == 0) {
			st->usr = false;
			handle(st, false);
		} else if (st->emt && (st->blocked & MIX_BIT(SIGEMT)) == 0) {
			st->emt = false;
			handle(st, true);
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
	deliver(st);
	run(st, script_after + SCRIPT_SPIN * op->op_spins + script_before);
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
