/* A mix's operations on counters: the call, and what it changes. */
#include <errno.h>

#include "tests/image/random_script/impl.h"

static const struct mix_set *
draw_set(struct mix_state *st)
{
	/* In most cases the bound set. */
	if (st->set != NULL && mix_below(st->mx, 5) != 0)
		return st->set;
	return &st->mx->mx_sets[mix_below(st->mx, MIX_SETS)];
}

void
mix_do_bind(struct mix_state *st)
{
	const struct mix_set *set =
	    &st->mx->mx_sets[mix_below(st->mx, MIX_SETS)];
	unsigned n = set->mxs_pack.cp_nreqs;
	bool inherit = mix_below(st->mx, 2) != 0;

	/* A pending overflow is lost with its set. */
	mix_unblock(st);
	struct mix_want *want = &st->l->mxl_wants[st->l->mxl_nops];
	struct op *op = MIX_CPC(st, "bind", 0, CPC_OP_BIND, (long)set,
	    (long)set->mxs_pack.cp_set, inherit ? CPC_BIND_LWP_INHERIT : 0, 0);

	want->mw_binds = true;
	st->set = set;
	st->inherit = inherit;
	for (unsigned i = 0; i < n; i++)
		st->preset[i] = set->mxs_reqs[i].cr_preset;
	mix_start(st, true);
	mix_loop(st, op);
}

/* A sample of the bound set must read these: in the kernel lower bounds. */
static void
expect_values(const struct mix_state *st, struct mix_want *want)
{
	uint32_t own = st->mx->mx_machine->mxm_own;

	want->mw_frozen = !st->running;
	for (unsigned i = 0; i < st->set->mxs_pack.cp_nreqs; i++) {
		uint32_t flags = st->set->mxs_reqs[i].cr_flags;

		if ((flags & CPC_COUNT_SYSTEM) == 0)
			want->mw_compare |= 1U << i;
		else if (own == CPC_COUNT_SYSTEM)
			want->mw_least |= 1U << i;
		want->mw_value[i] = st->base[i];
		if ((flags & own) != 0)
			want->mw_value[i] += st->counted;
	}
}

void
mix_sample_to(
    struct mix_state *st, const struct mix_set *set, struct mix_sample *to)
{
	struct mix_want *want = &st->l->mxl_wants[st->l->mxl_nops];
	bool good = set == st->set;
	struct op *op = MIX_CPC(st, "sample", good ? 0 : -EINVAL, CPC_OP_SAMPLE,
	    (long)set->mxs_pack.cp_set, (long)to, set->mxs_pack.cp_nreqs);

	want->mw_sample = to;
	if (good)
		expect_values(st, want);
	mix_loop(st, op);
}

void
mix_do_sample(struct mix_state *st)
{
	mix_sample_to(st, draw_set(st), &st->l->mxl_samples[st->l->mxl_nops]);
}

void
mix_do_unbind(struct mix_state *st)
{
	const struct mix_set *set = draw_set(st);
	struct op *op = MIX_CPC(st, "unbind", set == st->set ? 0 : -EINVAL,
	    CPC_OP_RELE, (long)set->mxs_pack.cp_set);

	if (set == st->set)
		mix_stop(st);
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
	bool good = st->set != NULL && i < st->set->mxs_pack.cp_nreqs;
	uint64_t preset = mix_draw_preset(st->mx,
	    good && (st->set->mxs_reqs[i].cr_flags & CPC_OVF_NOTIFY_EMT) != 0);
	struct op *op = MIX_CPC(
	    st, "preset", good ? 0 : -EINVAL, CPC_OP_PRESET, i, (long)preset);

	if (good)
		st->preset[i] = preset;
	mix_loop(st, op);
}

/* The PICs are taken away and given back somewhere in the next instructions. */
void
mix_do_disturb(struct mix_state *st)
{
	mix_loop(st, MIX_CPC(st, "disturb", st->running ? 0 : -EINVAL,
			 CPC_OP_TEST_DISTURB, (long)mix_below(st->mx, 500)));
}
