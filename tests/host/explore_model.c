/*
 * What must come of each step, in as few words as can be: a context is a few
 * numbers that move while its LWP runs.
 */
#include "tests/host/explore.h"

#include <errno.h>
#include <string.h>

#include "include/sys/cpc.h"

const struct ex_set ex_sets[EX_NSET] = {
	/* One step from going round where PICs have 16 bits. */
	{ 1, { { "instructions", 1, CPC_COUNT_USER, 0xfffd } } },
	/* One from its signal, and the other from going round. */
	{ 2, { { "instructions", 1, CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT,
		   UINT64_MAX - 2 },
		 { "cycles", 3, CPC_COUNT_USER | CPC_COUNT_SYSTEM, 0xfff8 } } },
};

static const struct ex_request *
request(const struct ex_ctx *c, unsigned i)
{
	return &ex_sets[c->mc_set].es_req[i];
}

static unsigned
nreqs(const struct ex_ctx *c)
{
	return ex_sets[c->mc_set].es_n;
}

static bool
notifies(const struct ex_ctx *c, unsigned i)
{
	return (request(c, i)->rq_flags & CPC_OVF_NOTIFY_EMT) != 0;
}

bool
ex_model_running(const struct ex_model *m, unsigned lwp)
{
	const struct ex_ctx *c = &m->em_lwp[lwp].ml_ctx;

	return c->mc_live && !c->mc_frozen && !c->mc_invalid &&
	       m->em_lwp[lwp].ml_cpu != EX_IDLE;
}

void
ex_model_reset(struct ex_model *m, const struct null_shape *shape)
{
	memset(m, 0, sizeof *m);
	m->em_shape = *shape;
	for (int i = 0; i < EX_NLWP; i++) {
		m->em_lwp[i].ml_alive = i < EX_NCPU;
		m->em_lwp[i].ml_cpu = (int8_t)(i < EX_NCPU ? i : EX_IDLE);
	}
	for (int i = 0; i < EX_NCPU; i++)
		m->em_cpu[i].mp_lwp = (int8_t)i;
}

/* Does another CPU count for the set? */
static bool
runs_elsewhere(const struct ex_model *m, unsigned cpu, unsigned set)
{
	for (unsigned i = 0; i < EX_NLWP; i++) {
		if (ex_model_running(m, i) &&
		    m->em_lwp[i].ml_ctx.mc_set == set &&
		    m->em_lwp[i].ml_cpu != (int)cpu)
			return true;
	}
	return false;
}

bool
ex_model_enabled(const struct ex_model *m, struct ex_step s)
{
	const struct ex_cpu *cpu = &m->em_cpu[s.st_cpu];
	const struct ex_lwp *l;

	switch (s.st_op) {
	case EX_RUN1:
	case EX_RUN2:
	case EX_RUN3:
		l = &m->em_lwp[s.st_op - EX_RUN1];
		return l->ml_alive && l->ml_cpu == EX_IDLE;
	case EX_PMI:
		return cpu->mp_pending;
	case EX_TIMER:
		return true;
	case EX_REVOKE1:
	case EX_REVOKE2:
		return cpu->mp_lwp != EX_IDLE &&
		       !runs_elsewhere(m, s.st_cpu, s.st_op - EX_REVOKE1);
	case EX_CLONE:
		return cpu->mp_lwp != EX_IDLE &&
		       !m->em_lwp[EX_NLWP - 1].ml_alive;
	default:
		return cpu->mp_lwp != EX_IDLE;
	}
}

/*
 * The PICs stop counting for the LWP; what overflowed is found out, and
 * freezes the set where it is to be told.
 */
static void
stop(struct ex_model *m, unsigned lwp)
{
	struct ex_ctx *c = &m->em_lwp[lwp].ml_ctx;
	struct ex_cpu *cpu = &m->em_cpu[m->em_lwp[lwp].ml_cpu];
	unsigned told = cpu->mp_overflowed;

	if (told != 0 && m->em_shape.ns_ovf == NULL_OVF_IMPRECISE)
		told = ~0U;
	cpu->mp_overflowed = 0;
	for (unsigned i = 0; i < nreqs(c); i++) {
		if (notifies(c, i) && (told & 1U << i) != 0)
			c->mc_frozen = c->mc_signal = true;
	}
}

static void
drop(struct ex_model *m, unsigned lwp)
{
	if (ex_model_running(m, lwp))
		stop(m, lwp);
	memset(&m->em_lwp[lwp].ml_ctx, 0, sizeof(struct ex_ctx));
}

static void
leave(struct ex_model *m, struct ex_cpu *cpu)
{
	if (cpu->mp_lwp == EX_IDLE)
		return;
	if (ex_model_running(m, (unsigned)cpu->mp_lwp))
		stop(m, (unsigned)cpu->mp_lwp);
	m->em_lwp[cpu->mp_lwp].ml_cpu = EX_IDLE;
	cpu->mp_lwp = EX_IDLE;
}

static void
run(struct ex_model *m, unsigned cpu, unsigned lwp)
{
	leave(m, &m->em_cpu[cpu]);
	m->em_cpu[cpu].mp_lwp = (int8_t)lwp;
	m->em_lwp[lwp].ml_cpu = (int8_t)cpu;
}

static int
bind_set(struct ex_model *m, unsigned lwp, unsigned set)
{
	struct ex_ctx *c = &m->em_lwp[lwp].ml_ctx;

	drop(m, lwp);
	c->mc_set = (uint8_t)set;
	for (unsigned i = 0; i < nreqs(c); i++) {
		if (notifies(c, i) && m->em_shape.ns_ovf == NULL_OVF_NONE) {
			memset(c, 0, sizeof *c);
			return ENOTSUP;
		}
		c->mc_preset[i] = c->mc_count[i] = request(c, i)->rq_preset;
	}
	c->mc_live = true;
	return 0;
}

static void
clone(struct ex_model *m, const struct ex_lwp *parent)
{
	struct ex_lwp *child = &m->em_lwp[EX_NLWP - 1];
	struct ex_ctx *c = &child->ml_ctx;

	memset(child, 0, sizeof *child);
	child->ml_alive = true;
	child->ml_cpu = EX_IDLE;
	if (!parent->ml_ctx.mc_live || parent->ml_ctx.mc_invalid)
		return;
	*c = parent->ml_ctx;
	c->mc_signal = false;
	c->mc_ticks = 0;
	for (unsigned i = 0; i < nreqs(c); i++) {
		c->mc_count[i] = c->mc_preset[i];
		if (notifies(c, i)) {
			c->mc_count[i] = UINT64_MAX;
			c->mc_frozen = c->mc_signal = true;
		}
	}
}

/* Instructions at a privilege, on the CPU that runs the LWP. */
static void
retire(struct ex_model *m, unsigned lwp, unsigned privilege)
{
	struct ex_ctx *c = &m->em_lwp[lwp].ml_ctx;
	struct ex_cpu *cpu = &m->em_cpu[m->em_lwp[lwp].ml_cpu];
	unsigned width = m->em_shape.ns_width;

	for (unsigned i = 0; i < nreqs(c); i++) {
		uint64_t before = c->mc_count[i], n;

		if ((request(c, i)->rq_flags & privilege) == 0)
			continue;
		n = EX_STEPS * request(c, i)->rq_weight;
		c->mc_count[i] += n;
		if (before << (64 - width) < -n << (64 - width))
			continue;
		cpu->mp_overflowed |= (uint8_t)(1U << i);
		cpu->mp_pending |=
		    m->em_shape.ns_ovf != NULL_OVF_NONE &&
		    (notifies(c, i) || (m->em_shape.ns_mute & 1U << i) == 0);
	}
}

/* On the LWP's own context: 0, or what every operation answers first. */
static int
own(const struct ex_ctx *c)
{
	return !c->mc_live ? EINVAL : c->mc_invalid ? EAGAIN : 0;
}

/*
 * What a timer does is what an interrupt does that comes early: it looks at
 * the PICs.  Only those of which no interrupt tells have one.
 */
static void
look(struct ex_model *m, const struct ex_cpu *cpu)
{
	if (cpu->mp_lwp != EX_IDLE &&
	    ex_model_running(m, (unsigned)cpu->mp_lwp))
		stop(m, (unsigned)cpu->mp_lwp);
}

static bool
has_timer(const struct ex_model *m, const struct ex_cpu *cpu)
{
	const struct ex_ctx *c;

	if (cpu->mp_lwp == EX_IDLE || m->em_shape.ns_width == 64)
		return false;
	c = &m->em_lwp[cpu->mp_lwp].ml_ctx;
	return m->em_shape.ns_ovf != NULL_OVF_PRECISE ||
	       (m->em_shape.ns_mute & ((1U << nreqs(c)) - 1)) != 0;
}

/* It sees to overflows nobody has told of yet. */
static int
sample(struct ex_model *m, unsigned lwp, unsigned set, struct ex_result *r)
{
	const struct ex_lwp *l = &m->em_lwp[lwp];
	const struct ex_ctx *c = &l->ml_ctx;
	const struct ex_cpu *cpu = &m->em_cpu[l->ml_cpu];

	if (!c->mc_live || c->mc_set != set)
		return EINVAL;
	if (c->mc_invalid)
		return EAGAIN;
	if (has_timer(m, cpu) || cpu->mp_overflowed != 0)
		look(m, cpu);
	memcpy(r->er_count, c->mc_count, nreqs(c) * sizeof c->mc_count[0]);
	return 0;
}

static int
freeze(struct ex_model *m, unsigned lwp)
{
	struct ex_ctx *c = &m->em_lwp[lwp].ml_ctx;
	int err = own(c);

	if (err == 0 && c->mc_frozen)
		err = EINVAL;
	if (err != 0)
		return err;
	stop(m, lwp);
	c->mc_frozen = true;
	return 0;
}

static int
restart(struct ex_model *m, unsigned lwp)
{
	struct ex_ctx *c = &m->em_lwp[lwp].ml_ctx;
	int err = own(c);

	if (err != 0)
		return err;
	if (ex_model_running(m, lwp))
		stop(m, lwp);
	c->mc_frozen = c->mc_signal = false;
	memcpy(c->mc_count, c->mc_preset, sizeof c->mc_count);
	return 0;
}

/* On its way to user code the LWP is told of an overflow. */
static void
tell(struct ex_lwp *l)
{
	l->ml_signals += l->ml_ctx.mc_signal && !l->ml_ctx.mc_invalid;
	l->ml_ctx.mc_signal = false;
}

static int
lwp_does(struct ex_model *m, unsigned lwp, enum ex_op op, struct ex_result *r)
{
	struct ex_lwp *l = &m->em_lwp[lwp];
	struct ex_ctx *c = &l->ml_ctx;

	tell(l);
	switch (op) {
	case EX_BIND1:
	case EX_BIND2:
		return bind_set(m, lwp, op - EX_BIND1);
	case EX_UNBIND1:
	case EX_UNBIND2:
		if (!c->mc_live || c->mc_set != op - EX_UNBIND1)
			return EINVAL;
		drop(m, lwp);
		return 0;
	case EX_SAMPLE1:
	case EX_SAMPLE2:
		return sample(m, lwp, op - EX_SAMPLE1, r);
	case EX_WORK:
	case EX_SYSTEM:
		if (ex_model_running(m, lwp))
			retire(m, lwp,
			    op == EX_WORK ? CPC_COUNT_USER : CPC_COUNT_SYSTEM);
		return 0;
	case EX_DISABLE:
		return freeze(m, lwp);
	case EX_ENABLE:
		if (own(c) != 0)
			return own(c);
		if (!c->mc_frozen)
			return EINVAL;
		c->mc_frozen = false;
		return 0;
	case EX_RESTART:
		return restart(m, lwp);
	case EX_PRESET:
		if (own(c) == 0)
			c->mc_preset[0] = EX_NEW_PRESET;
		return own(c);
	case EX_REVOKE1:
	case EX_REVOKE2:
		for (unsigned i = 0; i < EX_NLWP; i++) {
			c = &m->em_lwp[i].ml_ctx;
			if (c->mc_live && c->mc_set == op - EX_REVOKE1)
				drop(m, i);
		}
		return 0;
	case EX_CLONE:
		clone(m, l);
		return 0;
	case EX_EXIT:
		drop(m, lwp);
		leave(m, &m->em_cpu[l->ml_cpu]);
		l->ml_alive = false;
		return 0;
	default: /* EX_INVALID */
		if (ex_model_running(m, lwp))
			stop(m, lwp);
		c->mc_invalid = c->mc_live;
		return 0;
	}
}

/* Time passes everywhere; what is programmed has it on its account. */
static void
pass(struct ex_model *m, uint64_t ticks)
{
	for (unsigned i = 0; i < EX_NLWP; i++) {
		if (ex_model_running(m, i))
			m->em_lwp[i].ml_ctx.mc_ticks += ticks;
	}
}

void
ex_model_do(struct ex_model *m, struct ex_step s, struct ex_result *r)
{
	struct ex_cpu *cpu = &m->em_cpu[s.st_cpu];

	memset(r, 0, sizeof *r);
	pass(m, s.st_op == EX_TIMER ? EX_TIMER_TICKS : 1);
	switch (s.st_op) {
	case EX_RUN1:
	case EX_RUN2:
	case EX_RUN3:
		run(m, s.st_cpu, s.st_op - EX_RUN1);
		break;
	case EX_REST:
		leave(m, cpu);
		break;
	case EX_PMI:
		cpu->mp_pending = false;
		look(m, cpu);
		break;
	case EX_TIMER:
		if (has_timer(m, cpu))
			look(m, cpu);
		break;
	default:
		r->er_err = lwp_does(m, (unsigned)cpu->mp_lwp, s.st_op, r);
	}
}

static uint64_t
mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15;
	return h ^ h >> 29;
}

uint64_t
ex_model_hash(const struct ex_model *m)
{
	uint64_t h = 1;

	for (unsigned i = 0; i < EX_NLWP; i++) {
		const struct ex_lwp *l = &m->em_lwp[i];
		const struct ex_ctx *c = &l->ml_ctx;

		h = mix(h, l->ml_alive | (uint64_t)(l->ml_cpu + 1) << 1);
		h = mix(h, c->mc_live | c->mc_frozen << 1 | c->mc_signal << 2 |
			       c->mc_invalid << 3 | c->mc_set << 4);
		for (unsigned j = 0; j < EX_NREQ; j++)
			h = mix(mix(h, c->mc_count[j]), c->mc_preset[j]);
	}
	for (unsigned i = 0; i < EX_NCPU; i++) {
		h = mix(h, (uint64_t)(m->em_cpu[i].mp_lwp + 1));
		h = mix(h, m->em_cpu[i].mp_overflowed |
			       (uint64_t)m->em_cpu[i].mp_pending << 8);
	}
	return h;
}
