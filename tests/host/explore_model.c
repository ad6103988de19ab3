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
		m->em_lwp[i].ml_bound = EX_IDLE;
	}
	for (int i = 0; i < EX_NCPU; i++)
		m->em_cpu[i].mp_lwp = (int8_t)i;
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
		return l->ml_alive && l->ml_cpu == EX_IDLE &&
		       (l->ml_bound == EX_IDLE || l->ml_bound == s.st_cpu);
	case EX_PMI:
		return cpu->mp_pending;
	case EX_TIMER:
		return true;
	case EX_CLONE:
		return cpu->mp_lwp != EX_IDLE &&
		       m->em_lwp[cpu->mp_lwp].ml_stage == 0 &&
		       !m->em_lwp[EX_NLWP - 1].ml_alive;
	case EX_REST:
	case EX_READ:
	case EX_WORK: /* in a read its own instructions */
	case EX_SYSTEM:
		return cpu->mp_lwp != EX_IDLE;
	default:
		/* It can do nothing else in the middle of a read. */
		return cpu->mp_lwp != EX_IDLE &&
		       m->em_lwp[cpu->mp_lwp].ml_stage == 0;
	}
}

/* For whom a CPU counts: its own set, that of its LWP, or NULL. */
static struct ex_ctx *
counting(struct ex_model *m, unsigned cpu)
{
	struct ex_cpu *mp = &m->em_cpu[cpu];

	if (mp->mp_ctx.mc_live)
		return &mp->mp_ctx;
	return mp->mp_lwp != EX_IDLE &&
	               ex_model_running(m, (unsigned)mp->mp_lwp)
	           ? &m->em_lwp[mp->mp_lwp].ml_ctx
	           : NULL;
}

/*
 * The PICs stop counting; what overflowed is found out, and freezes the set of
 * an LWP where it is to be told.
 */
static void
stop(struct ex_model *m, unsigned cpu)
{
	struct ex_ctx *c = counting(m, cpu);
	unsigned told = m->em_cpu[cpu].mp_overflowed;

	if (told != 0 && m->em_shape.ns_ovf == NULL_OVF_IMPRECISE)
		told = ~0U;
	m->em_cpu[cpu].mp_overflowed = 0;
	for (unsigned i = 0; c != &m->em_cpu[cpu].mp_ctx && i < nreqs(c); i++) {
		if (notifies(c, i) && (told & 1U << i) != 0)
			c->mc_frozen = c->mc_signal = true;
	}
}

static void
stop_lwp(struct ex_model *m, unsigned lwp)
{
	if (ex_model_running(m, lwp))
		stop(m, (unsigned)m->em_lwp[lwp].ml_cpu);
}

static void
drop(struct ex_model *m, unsigned lwp)
{
	stop_lwp(m, lwp);
	memset(&m->em_lwp[lwp].ml_ctx, 0, sizeof(struct ex_ctx));
}

/* Its binder may run where it might before. */
static void
drop_cpu(struct ex_model *m, unsigned cpu)
{
	struct ex_cpu *mp = &m->em_cpu[cpu];

	stop(m, cpu);
	memset(&mp->mp_ctx, 0, sizeof mp->mp_ctx);
	m->em_lwp[mp->mp_binder].ml_bound = mp->mp_was_bound;
}

/* All instances of a set. */
static void
revoke(struct ex_model *m, unsigned set)
{
	for (unsigned i = 0; i < EX_NLWP; i++) {
		const struct ex_ctx *c = &m->em_lwp[i].ml_ctx;

		if (c->mc_live && c->mc_set == set)
			drop(m, i);
	}
	for (unsigned i = 0; i < EX_NCPU; i++) {
		const struct ex_ctx *c = &m->em_cpu[i].mp_ctx;

		if (c->mc_live && c->mc_set == set)
			drop_cpu(m, i);
	}
}

static bool
any_cpu(const struct ex_model *m)
{
	bool any = false;

	for (unsigned i = 0; i < EX_NCPU; i++)
		any |= m->em_cpu[i].mp_ctx.mc_live;
	return any;
}

static void
leave(struct ex_model *m, struct ex_cpu *cpu)
{
	if (cpu->mp_lwp == EX_IDLE)
		return;
	stop_lwp(m, (unsigned)cpu->mp_lwp);
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
begin(struct ex_model *m, struct ex_ctx *c, unsigned set)
{
	memset(c, 0, sizeof *c);
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

static int
bind_set(struct ex_model *m, unsigned lwp, unsigned set)
{
	for (unsigned i = 0; i < EX_NCPU; i++) {
		const struct ex_ctx *c = &m->em_cpu[i].mp_ctx;

		if (c->mc_live && c->mc_set == set)
			drop_cpu(m, i);
	}
	if (any_cpu(m))
		return EAGAIN;
	drop(m, lwp);
	return begin(m, &m->em_lwp[lwp].ml_ctx, set);
}

/* The first set of a CPU takes the counters from all LWPs, for good. */
static void
invalidate_all(struct ex_model *m)
{
	for (unsigned i = 0; i < EX_NLWP; i++) {
		stop_lwp(m, i);
		m->em_lwp[i].ml_ctx.mc_invalid = m->em_lwp[i].ml_ctx.mc_live;
	}
}

static int
bind_to_cpu(struct ex_model *m, unsigned lwp, unsigned cpu, unsigned set)
{
	struct ex_cpu *mp = &m->em_cpu[cpu];
	struct ex_lwp *l = &m->em_lwp[lwp];
	struct ex_ctx c;
	int err;

	revoke(m, set);
	if (mp->mp_ctx.mc_live)
		return EAGAIN;
	if ((err = begin(m, &c, set)) != 0)
		return err;
	if (l->ml_cpu != (int)cpu) {
		leave(m, &m->em_cpu[l->ml_cpu]);
		run(m, cpu, lwp);
	}
	if (!any_cpu(m))
		invalidate_all(m);
	mp->mp_ctx = c;
	mp->mp_binder = (int8_t)lwp;
	mp->mp_was_bound = l->ml_bound;
	l->ml_bound = (int8_t)cpu;
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
	child->ml_bound = parent->ml_bound;
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

/* Instructions at a privilege, on a CPU. */
static void
retire(struct ex_model *m, unsigned cpu, unsigned privilege)
{
	struct ex_ctx *c = counting(m, cpu);
	struct ex_cpu *mp = &m->em_cpu[cpu];
	unsigned width = m->em_shape.ns_width;

	for (unsigned i = 0; c != NULL && i < nreqs(c); i++) {
		uint64_t before = c->mc_count[i], n;

		if ((request(c, i)->rq_flags & privilege) == 0)
			continue;
		n = EX_STEPS * request(c, i)->rq_weight;
		c->mc_count[i] += n;
		if (before << (64 - width) < -n << (64 - width))
			continue;
		mp->mp_overflowed |= (uint8_t)(1U << i);
		mp->mp_pending |=
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
look(struct ex_model *m, unsigned cpu)
{
	if (counting(m, cpu) != NULL)
		stop(m, cpu);
}

static bool
has_timer(struct ex_model *m, unsigned cpu)
{
	const struct ex_ctx *c = counting(m, cpu);

	if (c == NULL || m->em_shape.ns_width == 64)
		return false;
	return m->em_shape.ns_ovf != NULL_OVF_PRECISE ||
	       (m->em_shape.ns_mute & ((1U << nreqs(c)) - 1)) != 0;
}

/* That of the CPU an LWP bound the set to, and is on to stay; or EINVAL. */
static int
find_cpu(struct ex_model *m, unsigned lwp, unsigned set, struct ex_ctx **c)
{
	for (unsigned i = 0; i < EX_NCPU; i++) {
		struct ex_cpu *mp = &m->em_cpu[i];

		if (!mp->mp_ctx.mc_live || mp->mp_ctx.mc_set != set ||
		    mp->mp_binder != (int)lwp)
			continue;
		*c = &mp->mp_ctx;
		return m->em_lwp[lwp].ml_bound == (int)i &&
		               m->em_lwp[lwp].ml_cpu == (int)i
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
	unsigned cpu = (unsigned)l->ml_cpu;
	struct ex_ctx *c = &l->ml_ctx;
	int err = 0;

	if (!c->mc_live || c->mc_set != set)
		err = find_cpu(m, lwp, set, &c);
	else if (c->mc_invalid)
		err = EAGAIN;
	if (err != 0)
		return err;
	if (has_timer(m, cpu) || m->em_cpu[cpu].mp_overflowed != 0)
		look(m, cpu);
	memcpy(r->er_count, c->mc_count, nreqs(c) * sizeof c->mc_count[0]);
	return 0;
}

/* The LWP's own instance, or the CPU's, whoever bound that. */
static int
unbind(struct ex_model *m, unsigned lwp, unsigned set)
{
	const struct ex_ctx *c = &m->em_lwp[lwp].ml_ctx;

	if (c->mc_live && c->mc_set == set) {
		drop(m, lwp);
		return 0;
	}
	for (unsigned i = 0; i < EX_NCPU; i++) {
		c = &m->em_cpu[i].mp_ctx;
		if (c->mc_live && c->mc_set == set) {
			drop_cpu(m, i);
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

	drop(m, lwp);
	for (unsigned i = 0; i < EX_NCPU; i++) {
		if (m->em_cpu[i].mp_ctx.mc_live &&
		    m->em_cpu[i].mp_binder == (int)lwp)
			drop_cpu(m, i);
	}
	leave(m, &m->em_cpu[l->ml_cpu]);
	l->ml_alive = false;
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
	stop_lwp(m, lwp);
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
	stop_lwp(m, lwp);
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
		return unbind(m, lwp, op - EX_UNBIND1);
	case EX_SAMPLE1:
	case EX_SAMPLE2:
		return sample(m, lwp, op - EX_SAMPLE1, r);
	case EX_WORK:
	case EX_SYSTEM:
		retire(m, (unsigned)l->ml_cpu,
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
	case EX_CPU1:
		return bind_to_cpu(m, lwp, (unsigned)l->ml_cpu, 0);
	case EX_CPU2:
		return bind_to_cpu(m, lwp, (unsigned)l->ml_cpu ^ 1, 1);
	case EX_REVOKE1:
	case EX_REVOKE2:
		revoke(m, op - EX_REVOKE1);
		return 0;
	case EX_CLONE:
		clone(m, l);
		return 0;
	case EX_EXIT:
		leave_for_good(m, lwp);
		return 0;
	default: /* EX_INVALID */
		stop_lwp(m, lwp);
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
	for (unsigned i = 0; i < EX_NCPU; i++) {
		if (m->em_cpu[i].mp_ctx.mc_live)
			m->em_cpu[i].mp_ctx.mc_ticks += ticks;
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
		look(m, s.st_cpu);
		break;
	case EX_TIMER:
		if (has_timer(m, s.st_cpu))
			look(m, s.st_cpu);
		break;
	default:
		r->er_err = lwp_does(m, (unsigned)cpu->mp_lwp, s.st_op, r);
	}
}

unsigned
ex_model_set(const struct ex_model *m, unsigned lwp)
{
	const struct ex_lwp *l = &m->em_lwp[lwp];

	return l->ml_stage != 0 ? l->ml_set : l->ml_ctx.mc_set;
}

/* The kernel was asked after all. */
static const char *
asked(struct ex_model *m, unsigned lwp, unsigned set, const struct ex_result *r)
{
	struct ex_result want = { .er_asked = true };

	want.er_err = sample(m, lwp, set, &want);
	return memcmp(&want, r, sizeof want) == 0
	           ? NULL
	           : "the kernel's sample is wrong";
}

const char *
ex_model_read(struct ex_model *m, unsigned cpu, const struct ex_result *r)
{
	unsigned lwp = (unsigned)m->em_cpu[cpu].mp_lwp;
	struct ex_lwp *l = &m->em_lwp[lwp];
	const struct ex_ctx *c = &l->ml_ctx;
	unsigned set = ex_model_set(m, lwp);

	pass(m, 1);
	tell(l);
	l->ml_stage = r->er_stage;
	l->ml_set = (uint8_t)set;
	if (r->er_asked)
		return asked(m, lwp, set, r);
	if (r->er_stage != 0) {
		if (r->er_stage % 2 == 0)
			l->ml_read[r->er_stage / 2 - 1] =
			    c->mc_count[r->er_stage / 2 - 1];
		return NULL;
	}
	if (memcmp(l->ml_read, r->er_count,
		ex_sets[set].es_n * sizeof l->ml_read[0]) != 0)
		return "the read is wrong";
	/* The set may be gone since: then this came before. */
	return !c->mc_live || c->mc_invalid || c->mc_set != set ||
	               c->mc_ticks == r->er_ticks
	           ? NULL
	           : "the read's ticks are wrong";
}

static uint64_t
mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15;
	return h ^ h >> 29;
}

static uint64_t
mix_ctx(uint64_t h, const struct ex_ctx *c)
{
	h = mix(h, c->mc_live | c->mc_frozen << 1 | c->mc_signal << 2 |
		       c->mc_invalid << 3 | c->mc_set << 4);
	for (unsigned i = 0; i < EX_NREQ; i++)
		h = mix(mix(h, c->mc_count[i]), c->mc_preset[i]);
	return h;
}

uint64_t
ex_model_hash(const struct ex_model *m)
{
	uint64_t h = 1;

	for (unsigned i = 0; i < EX_NLWP; i++) {
		const struct ex_lwp *l = &m->em_lwp[i];

		h = mix_ctx(h, &l->ml_ctx);
		h = mix(h, l->ml_alive | (uint64_t)(l->ml_cpu + 1) << 1 |
			       (uint64_t)(l->ml_bound + 1) << 4 |
			       (uint64_t)l->ml_stage << 8 |
			       (uint64_t)l->ml_set << 16);
		for (unsigned j = 0; j < EX_NREQ; j++)
			h = mix(h, l->ml_stage != 0 ? l->ml_read[j] : 0);
	}
	for (unsigned i = 0; i < EX_NCPU; i++) {
		const struct ex_cpu *mp = &m->em_cpu[i];

		h = mix_ctx(h, &mp->mp_ctx);
		h = mix(h, (uint64_t)(mp->mp_lwp + 1) |
			       (uint64_t)mp->mp_pending << 4 |
			       (uint64_t)mp->mp_overflowed << 8);
		if (mp->mp_ctx.mc_live)
			h = mix(h, (uint64_t)(mp->mp_binder + 1) |
				       (uint64_t)(mp->mp_was_bound + 1) << 8);
	}
	return h;
}
