/* The model: the result of each step, from a few numbers for each context. */
#include <errno.h>
#include <string.h>

#include "include/sys/cpc.h"
#include "tests/host/kern/cpc/explore/state.h"

/* Is this the only LWP of its process? */
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
	case EX_LOSE:
		return cpu->mp_pending;
	case EX_EXTRA:
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
	case EX_WORK: /* during a read: the reader's own instructions */
	case EX_SYSTEM:
		return cpu->mp_lwp != EX_IDLE;
	default:
		/* No other operation is possible during a read. */
		return cpu->mp_lwp != EX_IDLE &&
		       m->em_lwp[cpu->mp_lwp].exl_stage == 0;
	}
}

/* 0 if the LWP has a valid context, or the errno of every operation. */
static int
check_own(const struct ex_ctx *c)
{
	return !c->exc_live ? EINVAL : c->exc_invalid ? EAGAIN : 0;
}

/*
 * Find the context of a CPU to which the LWP bound the set, or return EINVAL.
 * Returns EAGAIN if the LWP is not on that CPU, or no longer bound to it.
 */
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

/* A sample also folds overflows that were not reported yet. */
static int
sample_set(struct ex_model *m, unsigned lwp, unsigned set, struct ex_result *r)
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

/* Unbind the LWP's own instance, or a CPU's that its process bound. */
static int
unbind_set(struct ex_model *m, unsigned lwp, unsigned set)
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

/* An LWP that exits takes its set with it, and the sets it bound to CPUs. */
static void
exit_lwp(struct ex_model *m, unsigned lwp)
{
	struct ex_lwp *l = &m->em_lwp[lwp];

	ex_drop_all(m, lwp);
	ex_leave(m, &m->em_cpu[l->exl_cpu]);
	l->exl_alive = false;
}

static int
freeze_lwp(struct ex_model *m, unsigned lwp)
{
	struct ex_ctx *c = &m->em_lwp[lwp].exl_ctx;
	int err = check_own(c);

	if (err == 0 && c->exc_frozen)
		err = EINVAL;
	if (err != 0)
		return err;
	ex_stop_lwp(m, lwp);
	c->exc_frozen = true;
	return 0;
}

static int
restart_lwp(struct ex_model *m, unsigned lwp)
{
	struct ex_ctx *c = &m->em_lwp[lwp].exl_ctx;
	int err = check_own(c);

	if (err != 0)
		return err;
	ex_stop_lwp(m, lwp);
	c->exc_frozen = c->exc_signal = false;
	memcpy(c->exc_count, c->exc_preset, sizeof c->exc_count);
	return 0;
}

/* The LWP gets the signal of an overflow on its way to user code. */
static void
take_signal(struct ex_lwp *l)
{
	l->exl_signals += l->exl_ctx.exc_signal && !l->exl_ctx.exc_invalid;
	l->exl_ctx.exc_signal = false;
}

static int
do_lwp_step(
    struct ex_model *m, unsigned lwp, enum ex_op op, struct ex_result *r)
{
	struct ex_lwp *l = &m->em_lwp[lwp];
	struct ex_ctx *c = &l->exl_ctx;

	take_signal(l);
	switch (op) {
	case EX_BIND1:
	case EX_BIND2:
		return ex_bind_set(m, lwp, op - EX_BIND1, true);
	case EX_OWN1:
		return ex_bind_set(m, lwp, 0, false);
	case EX_UNBIND1:
	case EX_UNBIND2:
		return unbind_set(m, lwp, op - EX_UNBIND1);
	case EX_SAMPLE1:
	case EX_SAMPLE2:
		return sample_set(m, lwp, op - EX_SAMPLE1, r);
	case EX_WORK:
	case EX_SYSTEM:
		ex_retire(m, (unsigned)l->exl_cpu,
		    op == EX_WORK ? CPC_COUNT_USER : CPC_COUNT_SYSTEM);
		return 0;
	case EX_DISABLE:
		return freeze_lwp(m, lwp);
	case EX_ENABLE:
		if (check_own(c) != 0)
			return check_own(c);
		if (!c->exc_frozen)
			return EINVAL;
		c->exc_frozen = false;
		return 0;
	case EX_RESTART:
		return restart_lwp(m, lwp);
	case EX_PRESET:
		if (check_own(c) == 0)
			c->exc_preset[0] = EX_NEW_PRESET;
		return check_own(c);
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
		exit_lwp(m, lwp);
		return 0;
	default: /* EX_INVALID */
		ex_stop_lwp(m, lwp);
		c->exc_invalid = c->exc_live;
		return 0;
	}
}

/* Time passes on all CPUs, and is added to each programmed context. */
static void
pass_time(struct ex_model *m, uint64_t ticks)
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
	pass_time(m, s.ext_op == EX_TIMER ? EX_TIMER_TICKS : 1);
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
		ex_interrupt(m, s.ext_cpu);
		break;
	case EX_LOSE:
		cpu->mp_pending = false;
		break;
	case EX_EXTRA:
		ex_interrupt(m, s.ext_cpu);
		break;
	case EX_TIMER:
		if (ex_has_timer(m, s.ext_cpu))
			ex_look(m, s.ext_cpu);
		break;
	default:
		r->exr_err = do_lwp_step(m, (unsigned)cpu->mp_lwp, s.ext_op, r);
	}
}

unsigned
ex_model_set(const struct ex_model *m, unsigned lwp)
{
	const struct ex_lwp *l = &m->em_lwp[lwp];

	return l->exl_stage != 0 ? l->exl_set : l->exl_ctx.exc_set;
}

/* The read called the kernel. */
static const char *
check_kernel_read(
    struct ex_model *m, unsigned lwp, unsigned set, const struct ex_result *r)
{
	struct ex_result want = { .exr_asked = true };

	want.exr_err = sample_set(m, lwp, set, &want);
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

	pass_time(m, 1);
	take_signal(l);
	l->exl_stage = r->exr_stage;
	l->exl_set = (uint8_t)set;
	if (r->exr_asked)
		return check_kernel_read(m, lwp, set, r);
	if (r->exr_stage != 0) {
		if (r->exr_stage % 2 == 0)
			l->exl_read[r->exr_stage / 2 - 1] =
			    c->exc_count[r->exr_stage / 2 - 1];
		return NULL;
	}
	if (memcmp(l->exl_read, r->exr_count,
		ex_sets[set].exs_n * sizeof l->exl_read[0]) != 0)
		return "the read is wrong";
	/* If the set was unbound since, the read came before that. */
	return !c->exc_live || c->exc_invalid || c->exc_set != set ||
	               c->exc_ticks == r->exr_ticks
	           ? NULL
	           : "the read's ticks are wrong";
}
