/*
 * What must come of each step, in as few words as can be: a context is a few
 * numbers that move while its LWP runs.
 */
#include <errno.h>
#include <string.h>

#include "include/sys/cpc.h"
#include "tests/host/kern/cpc/explore/state.h"

/* Has its process no other LWP? */
static bool
is_alone(const struct ex_model *m, int lwp)
{
	for (int i = 0; i < EX_NLWP; i++) {
		if (i != lwp && m->em_lwp[i].exl_alive &&
		    m->em_lwp[i].exl_proc == m->em_lwp[lwp].exl_proc)
			return false;
	}
	return true;
}

bool
ex_model_enabled(const struct ex_model *m, struct ex_step s)
{
	const struct ex_cpu *cpu = &m->em_cpu[s.ext_cpu];
	const struct ex_lwp *l;

	switch (s.ext_op) {
	case EX_RUN1:
	case EX_RUN2:
	case EX_RUN3:
		l = &m->em_lwp[s.ext_op - EX_RUN1];
		return l->exl_alive && l->exl_cpu == EX_IDLE &&
		       (l->exl_bound == EX_IDLE || l->exl_bound == s.ext_cpu);
	case EX_PMI:
		return cpu->mp_pending;
	case EX_TIMER:
		return true;
	case EX_EXEC:
		return cpu->mp_lwp != EX_IDLE &&
		       m->em_lwp[cpu->mp_lwp].exl_stage == 0 &&
		       is_alone(m, cpu->mp_lwp);
	case EX_CLONE:
	case EX_FORK:
		return cpu->mp_lwp != EX_IDLE &&
		       m->em_lwp[cpu->mp_lwp].exl_stage == 0 &&
		       !m->em_lwp[EX_NLWP - 1].exl_alive;
	case EX_REST:
	case EX_READ:
	case EX_WORK: /* in a read its own instructions */
	case EX_SYSTEM:
		return cpu->mp_lwp != EX_IDLE;
	default:
		/* It can do nothing else in the middle of a read. */
		return cpu->mp_lwp != EX_IDLE &&
		       m->em_lwp[cpu->mp_lwp].exl_stage == 0;
	}
}

/* On the LWP's own context: 0, or what every operation answers first. */
static int
own(const struct ex_ctx *c)
{
	return !c->exc_live ? EINVAL : c->exc_invalid ? EAGAIN : 0;
}

/* That of the CPU an LWP bound the set to, and is on to stay; or EINVAL. */
static int
find_cpu(struct ex_model *m, unsigned lwp, unsigned set, struct ex_ctx **c)
{
	for (unsigned i = 0; i < EX_NCPU; i++) {
		struct ex_cpu *mp = &m->em_cpu[i];

		if (!mp->mp_ctx.exc_live || mp->mp_ctx.exc_set != set ||
		    mp->mp_binder != (int)lwp)
			continue;
		*c = &mp->mp_ctx;
		return m->em_lwp[lwp].exl_bound == (int)i &&
		               m->em_lwp[lwp].exl_cpu == (int)i
		           ? 0
		           : EAGAIN;
	}
	return EINVAL;
}

/* It sees to overflows nobody has told of yet. */
static int
sample(struct ex_model *m, unsigned lwp, unsigned set, struct ex_result *r)
{
	struct ex_lwp *l = &m->em_lwp[lwp];
	unsigned cpu = (unsigned)l->exl_cpu;
	struct ex_ctx *c = &l->exl_ctx;
	int err = 0;

	if (!c->exc_live || c->exc_set != set)
		err = find_cpu(m, lwp, set, &c);
	else if (c->exc_invalid)
		err = EAGAIN;
	if (err != 0)
		return err;
	if (ex_has_timer(m, cpu) || m->em_cpu[cpu].mp_overflowed != 0)
		ex_look(m, cpu);
	memcpy(
	    r->exr_count, c->exc_count, ex_nreqs(c) * sizeof c->exc_count[0]);
	return 0;
}

/* The LWP's own instance, or the CPU's, whoever of its process bound that. */
static int
unbind(struct ex_model *m, unsigned lwp, unsigned set)
{
	const struct ex_lwp *l = &m->em_lwp[lwp];

	if (l->exl_ctx.exc_live && l->exl_ctx.exc_set == set) {
		ex_drop(m, lwp);
		return 0;
	}
	for (unsigned i = 0; i < EX_NCPU; i++) {
		if (ex_cpu_has(m, i, l->exl_proc, set)) {
			ex_drop_cpu(m, i);
			return 0;
		}
	}
	return EINVAL;
}

/* With the LWP go its set, and those it has bound to CPUs. */
static void
leave_for_good(struct ex_model *m, unsigned lwp)
{
	struct ex_lwp *l = &m->em_lwp[lwp];

	ex_drop_all(m, lwp);
	ex_leave(m, &m->em_cpu[l->exl_cpu]);
	l->exl_alive = false;
}

static int
freeze(struct ex_model *m, unsigned lwp)
{
	struct ex_ctx *c = &m->em_lwp[lwp].exl_ctx;
	int err = own(c);

	if (err == 0 && c->exc_frozen)
		err = EINVAL;
	if (err != 0)
		return err;
	ex_stop_lwp(m, lwp);
	c->exc_frozen = true;
	return 0;
}

static int
restart(struct ex_model *m, unsigned lwp)
{
	struct ex_ctx *c = &m->em_lwp[lwp].exl_ctx;
	int err = own(c);

	if (err != 0)
		return err;
	ex_stop_lwp(m, lwp);
	c->exc_frozen = c->exc_signal = false;
	memcpy(c->exc_count, c->exc_preset, sizeof c->exc_count);
	return 0;
}

/* On its way to user code the LWP is told of an overflow. */
static void
tell(struct ex_lwp *l)
{
	l->exl_signals += l->exl_ctx.exc_signal && !l->exl_ctx.exc_invalid;
	l->exl_ctx.exc_signal = false;
}

static int
lwp_does(struct ex_model *m, unsigned lwp, enum ex_op op, struct ex_result *r)
{
	struct ex_lwp *l = &m->em_lwp[lwp];
	struct ex_ctx *c = &l->exl_ctx;

	tell(l);
	switch (op) {
	case EX_BIND1:
	case EX_BIND2:
		return ex_bind_set(m, lwp, op - EX_BIND1, true);
	case EX_OWN1:
		return ex_bind_set(m, lwp, 0, false);
	case EX_UNBIND1:
	case EX_UNBIND2:
		return unbind(m, lwp, op - EX_UNBIND1);
	case EX_SAMPLE1:
	case EX_SAMPLE2:
		return sample(m, lwp, op - EX_SAMPLE1, r);
	case EX_WORK:
	case EX_SYSTEM:
		ex_retire(m, (unsigned)l->exl_cpu,
		    op == EX_WORK ? CPC_COUNT_USER : CPC_COUNT_SYSTEM);
		return 0;
	case EX_DISABLE:
		return freeze(m, lwp);
	case EX_ENABLE:
		if (own(c) != 0)
			return own(c);
		if (!c->exc_frozen)
			return EINVAL;
		c->exc_frozen = false;
		return 0;
	case EX_RESTART:
		return restart(m, lwp);
	case EX_PRESET:
		if (own(c) == 0)
			c->exc_preset[0] = EX_NEW_PRESET;
		return own(c);
	case EX_CPU1:
		return ex_bind_to_cpu(m, lwp, (unsigned)l->exl_cpu, 0);
	case EX_CPU2:
		return ex_bind_to_cpu(m, lwp, (unsigned)l->exl_cpu ^ 1, 1);
	case EX_REVOKE1:
	case EX_REVOKE2:
		ex_revoke(m, l->exl_proc, op - EX_REVOKE1);
		return 0;
	case EX_MOVE:
		l->exl_bound = l->exl_cpu ^ 1;
		ex_go(m, (unsigned)l->exl_bound, lwp);
		return 0;
	case EX_FREE:
		l->exl_bound = EX_IDLE;
		return 0;
	case EX_CLONE:
		ex_clone(m, l);
		return 0;
	case EX_FORK:
		ex_fork(m, l);
		return 0;
	case EX_EXEC:
		ex_drop_all(m, lwp);
		return 0;
	case EX_EXIT:
		leave_for_good(m, lwp);
		return 0;
	default: /* EX_INVALID */
		ex_stop_lwp(m, lwp);
		c->exc_invalid = c->exc_live;
		return 0;
	}
}

/* Time passes everywhere; what is programmed has it on its account. */
static void
pass(struct ex_model *m, uint64_t ticks)
{
	for (unsigned i = 0; i < EX_NLWP; i++) {
		if (ex_model_running(m, i))
			m->em_lwp[i].exl_ctx.exc_ticks += ticks;
	}
	for (unsigned i = 0; i < EX_NCPU; i++) {
		if (m->em_cpu[i].mp_ctx.exc_live)
			m->em_cpu[i].mp_ctx.exc_ticks += ticks;
	}
}

void
ex_model_do(struct ex_model *m, struct ex_step s, struct ex_result *r)
{
	struct ex_cpu *cpu = &m->em_cpu[s.ext_cpu];

	memset(r, 0, sizeof *r);
	pass(m, s.ext_op == EX_TIMER ? EX_TIMER_TICKS : 1);
	switch (s.ext_op) {
	case EX_RUN1:
	case EX_RUN2:
	case EX_RUN3:
		ex_run(m, s.ext_cpu, s.ext_op - EX_RUN1);
		break;
	case EX_REST:
		ex_leave(m, cpu);
		break;
	case EX_PMI:
		cpu->mp_pending = false;
		ex_look(m, s.ext_cpu);
		break;
	case EX_TIMER:
		if (ex_has_timer(m, s.ext_cpu))
			ex_look(m, s.ext_cpu);
		break;
	default:
		r->exr_err = lwp_does(m, (unsigned)cpu->mp_lwp, s.ext_op, r);
	}
}

unsigned
ex_model_set(const struct ex_model *m, unsigned lwp)
{
	const struct ex_lwp *l = &m->em_lwp[lwp];

	return l->exl_stage != 0 ? l->exl_set : l->exl_ctx.exc_set;
}

/* The kernel was asked after all. */
static const char *
asked(struct ex_model *m, unsigned lwp, unsigned set, const struct ex_result *r)
{
	struct ex_result want = { .exr_asked = true };

	want.exr_err = sample(m, lwp, set, &want);
	return memcmp(&want, r, sizeof want) == 0
	           ? NULL
	           : "the kernel's sample is wrong";
}

const char *
ex_model_read(struct ex_model *m, unsigned cpu, const struct ex_result *r)
{
	unsigned lwp = (unsigned)m->em_cpu[cpu].mp_lwp;
	struct ex_lwp *l = &m->em_lwp[lwp];
	const struct ex_ctx *c = &l->exl_ctx;
	unsigned set = ex_model_set(m, lwp);

	pass(m, 1);
	tell(l);
	l->exl_stage = r->exr_stage;
	l->exl_set = (uint8_t)set;
	if (r->exr_asked)
		return asked(m, lwp, set, r);
	if (r->exr_stage != 0) {
		if (r->exr_stage % 2 == 0)
			l->exl_read[r->exr_stage / 2 - 1] =
			    c->exc_count[r->exr_stage / 2 - 1];
		return NULL;
	}
	if (memcmp(l->exl_read, r->exr_count,
		ex_sets[set].exs_n * sizeof l->exl_read[0]) != 0)
		return "the read is wrong";
	/* The set may be gone since: then this came before. */
	return !c->exc_live || c->exc_invalid || c->exc_set != set ||
	               c->exc_ticks == r->exr_ticks
	           ? NULL
	           : "the read's ticks are wrong";
}
