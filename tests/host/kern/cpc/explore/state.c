/* The model's state: which context counts, start, stop, release, advance. */
#include "tests/host/kern/cpc/explore/state.h"

#include <errno.h>
#include <string.h>

#include "include/sys/cpc.h"

const struct ex_set ex_sets[EX_NSET] = {
	/* One step before it wraps, with PICs of 16 bits. */
	{ 1, { { "instructions", 1, CPC_COUNT_USER, 0xfffd } } },
	/* One overflow is a step before its signal, or before it wraps. */
	{ 2, { { "instructions", 1,
		   CPC_COUNT_USER | CPC_COUNT_SYSTEM | CPC_OVF_NOTIFY_EMT,
		   UINT64_MAX - 2 },
		 { "cycles", 3, CPC_COUNT_USER | CPC_COUNT_SYSTEM, 0xfff8 } } },
};

static const struct ex_request *
request(const struct ex_ctx *c, unsigned i)
{
	return &ex_sets[c->exc_set].exs_req[i];
}

unsigned
ex_nreqs(const struct ex_ctx *c)
{
	return ex_sets[c->exc_set].exs_n;
}

static bool
notifies(const struct ex_ctx *c, unsigned i)
{
	return (request(c, i)->rq_flags & CPC_OVF_NOTIFY_EMT) != 0;
}

bool
ex_model_running(const struct ex_model *m, unsigned lwp)
{
	const struct ex_ctx *c = &m->em_lwp[lwp].exl_ctx;

	return c->exc_live && !c->exc_frozen && !c->exc_invalid &&
	       m->em_lwp[lwp].exl_cpu != EX_IDLE;
}

void
ex_model_reset(struct ex_model *m, const struct soft_shape *shape)
{
	memset(m, 0, sizeof *m);
	m->em_shape = *shape;
	for (int i = 0; i < EX_NLWP; i++) {
		m->em_lwp[i].exl_alive = i < EX_NCPU;
		m->em_lwp[i].exl_cpu = (int8_t)(i < EX_NCPU ? i : EX_IDLE);
		m->em_lwp[i].exl_bound = EX_IDLE;
	}
	for (int i = 0; i < EX_NCPU; i++)
		m->em_cpu[i].mp_lwp = (int8_t)i;
}

/* The context that this CPU counts for: its own set's, its LWP's, or NULL. */
static struct ex_ctx *
counting_ctx(struct ex_model *m, unsigned cpu)
{
	struct ex_cpu *mp = &m->em_cpu[cpu];

	if (mp->mp_ctx.exc_live)
		return &mp->mp_ctx;
	return mp->mp_lwp != EX_IDLE &&
	               ex_model_running(m, (unsigned)mp->mp_lwp)
	           ? &m->em_lwp[mp->mp_lwp].exl_ctx
	           : NULL;
}

/* Stop the PICs: overflows become known, and a notifying one freezes. */
static void
stop_pics(struct ex_model *m, unsigned cpu)
{
	struct ex_ctx *c = counting_ctx(m, cpu);
	unsigned told = m->em_cpu[cpu].mp_overflowed;

	if (told != 0 && m->em_shape.ns_ovf == SOFT_OVF_IMPRECISE)
		told = ~0U;
	m->em_cpu[cpu].mp_overflowed = 0;
	m->em_cpu[cpu].mp_struck = false;
	for (unsigned i = 0; c != &m->em_cpu[cpu].mp_ctx && i < ex_nreqs(c);
	     i++) {
		if (notifies(c, i) && (told & 1U << i) != 0)
			c->exc_frozen = c->exc_signal = true;
	}
}

void
ex_stop_lwp(struct ex_model *m, unsigned lwp)
{
	if (ex_model_running(m, lwp))
		stop_pics(m, (unsigned)m->em_lwp[lwp].exl_cpu);
}

void
ex_drop(struct ex_model *m, unsigned lwp)
{
	ex_stop_lwp(m, lwp);
	memset(&m->em_lwp[lwp].exl_ctx, 0, sizeof(struct ex_ctx));
}

/* Has the LWP bound a set to this CPU? */
static bool
has_bound(const struct ex_model *m, unsigned lwp, unsigned cpu)
{
	return m->em_cpu[cpu].mp_ctx.exc_live &&
	       m->em_cpu[cpu].mp_binder == (int)lwp;
}

/* The binder goes to its other set's CPU, after the last to its first. */
void
ex_drop_cpu(struct ex_model *m, unsigned cpu)
{
	struct ex_cpu *mp = &m->em_cpu[cpu];
	struct ex_lwp *l = &m->em_lwp[mp->mp_binder];

	stop_pics(m, cpu);
	memset(&mp->mp_ctx, 0, sizeof mp->mp_ctx);
	l->exl_bound = has_bound(m, (unsigned)mp->mp_binder, cpu ^ 1)
	                   ? (int8_t)(cpu ^ 1)
	                   : l->exl_before;
}

void
ex_drop_all(struct ex_model *m, unsigned lwp)
{
	ex_drop(m, lwp);
	for (unsigned i = 0; i < EX_NCPU; i++) {
		if (m->em_cpu[i].mp_ctx.exc_live &&
		    m->em_cpu[i].mp_binder == (int)lwp)
			ex_drop_cpu(m, i);
	}
}

bool
ex_cpu_has(const struct ex_model *m, unsigned cpu, unsigned proc, unsigned set)
{
	const struct ex_cpu *mp = &m->em_cpu[cpu];

	return mp->mp_ctx.exc_live && mp->mp_ctx.exc_set == set &&
	       m->em_lwp[mp->mp_binder].exl_proc == proc;
}

static void
drop_from_cpus(struct ex_model *m, unsigned proc, unsigned set)
{
	for (unsigned i = 0; i < EX_NCPU; i++) {
		if (ex_cpu_has(m, i, proc, set))
			ex_drop_cpu(m, i);
	}
}

/* Release all instances of a set. */
void
ex_revoke(struct ex_model *m, unsigned proc, unsigned set)
{
	for (unsigned i = 0; i < EX_NLWP; i++) {
		const struct ex_ctx *c = &m->em_lwp[i].exl_ctx;

		if (c->exc_live && c->exc_set == set &&
		    m->em_lwp[i].exl_proc == proc)
			ex_drop(m, i);
	}
	drop_from_cpus(m, proc, set);
}

static bool
any_cpu(const struct ex_model *m)
{
	bool any = false;

	for (unsigned i = 0; i < EX_NCPU; i++)
		any |= m->em_cpu[i].mp_ctx.exc_live;
	return any;
}

void
ex_leave(struct ex_model *m, struct ex_cpu *cpu)
{
	if (cpu->mp_lwp == EX_IDLE)
		return;
	ex_stop_lwp(m, (unsigned)cpu->mp_lwp);
	m->em_lwp[cpu->mp_lwp].exl_cpu = EX_IDLE;
	cpu->mp_lwp = EX_IDLE;
}

void
ex_run(struct ex_model *m, unsigned cpu, unsigned lwp)
{
	ex_leave(m, &m->em_cpu[cpu]);
	m->em_cpu[cpu].mp_lwp = (int8_t)lwp;
	m->em_lwp[lwp].exl_cpu = (int8_t)cpu;
}

void
ex_go(struct ex_model *m, unsigned cpu, unsigned lwp)
{
	if (m->em_lwp[lwp].exl_cpu == (int)cpu)
		return;
	ex_leave(m, &m->em_cpu[m->em_lwp[lwp].exl_cpu]);
	ex_run(m, cpu, lwp);
}

static int
begin_ctx(struct ex_model *m, struct ex_ctx *c, unsigned set)
{
	memset(c, 0, sizeof *c);
	c->exc_set = (uint8_t)set;
	for (unsigned i = 0; i < ex_nreqs(c); i++) {
		if (notifies(c, i) && m->em_shape.ns_ovf == SOFT_OVF_NONE) {
			memset(c, 0, sizeof *c);
			return ENOTSUP;
		}
		c->exc_preset[i] = c->exc_count[i] = request(c, i)->rq_preset;
	}
	c->exc_live = true;
	return 0;
}

int
ex_bind_set(struct ex_model *m, unsigned lwp, unsigned set, bool inherit)
{
	struct ex_lwp *l = &m->em_lwp[lwp];
	int err;

	drop_from_cpus(m, l->exl_proc, set);
	if (any_cpu(m))
		return EAGAIN;
	ex_drop(m, lwp);
	if ((err = begin_ctx(m, &l->exl_ctx, set)) == 0)
		l->exl_ctx.exc_inherit = inherit;
	return err;
}

/* The first set of a CPU invalidates the contexts of all LWPs. */
static void
invalidate_all(struct ex_model *m)
{
	for (unsigned i = 0; i < EX_NLWP; i++) {
		ex_stop_lwp(m, i);
		m->em_lwp[i].exl_ctx.exc_invalid =
		    m->em_lwp[i].exl_ctx.exc_live;
	}
}

int
ex_bind_to_cpu(struct ex_model *m, unsigned lwp, unsigned cpu, unsigned set)
{
	struct ex_cpu *mp = &m->em_cpu[cpu];
	struct ex_lwp *l = &m->em_lwp[lwp];
	struct ex_ctx c;
	int err;

	ex_revoke(m, l->exl_proc, set);
	if (mp->mp_ctx.exc_live)
		return EAGAIN;
	if ((err = begin_ctx(m, &c, set)) != 0)
		return err;
	ex_go(m, cpu, lwp);
	if (!any_cpu(m))
		invalidate_all(m);
	if (!has_bound(m, lwp, cpu ^ 1))
		l->exl_before = l->exl_bound;
	mp->mp_ctx = c;
	mp->mp_binder = (int8_t)lwp;
	l->exl_bound = (int8_t)cpu;
	return 0;
}

static struct ex_lwp *
create_last(struct ex_model *m, const struct ex_lwp *parent)
{
	struct ex_lwp *child = &m->em_lwp[EX_NLWP - 1];

	memset(child, 0, sizeof *child);
	child->exl_alive = true;
	child->exl_cpu = EX_IDLE;
	child->exl_bound = parent->exl_bound;
	return child;
}

void
ex_fork(struct ex_model *m, const struct ex_lwp *parent)
{
	create_last(m, parent)->exl_proc = 1;
}

void
ex_clone(struct ex_model *m, const struct ex_lwp *parent)
{
	struct ex_ctx *c = &create_last(m, parent)->exl_ctx;

	if (!parent->exl_ctx.exc_inherit || parent->exl_ctx.exc_invalid)
		return;
	*c = parent->exl_ctx;
	c->exc_signal = false;
	c->exc_ticks = 0;
	for (unsigned i = 0; i < ex_nreqs(c); i++) {
		c->exc_count[i] = c->exc_preset[i];
		if (notifies(c, i)) {
			c->exc_count[i] = UINT64_MAX;
			c->exc_frozen = c->exc_signal = true;
		}
	}
}

/* Retire an instruction.  With NMIs a notifying overflow stops at once. */
static void
retire_one(
    struct ex_model *m, unsigned cpu, unsigned privilege, struct ex_ctx *c)
{
	struct ex_cpu *mp = &m->em_cpu[cpu];
	unsigned width = m->em_shape.ns_width;

	for (unsigned i = 0; i < ex_nreqs(c); i++) {
		uint64_t before = c->exc_count[i], n = request(c, i)->rq_weight;

		if ((request(c, i)->rq_flags & privilege) == 0)
			continue;
		c->exc_count[i] += n;
		if (before << (64 - width) < -n << (64 - width))
			continue;
		mp->mp_overflowed |= (uint8_t)(1U << i);
		mp->mp_pending |=
		    m->em_shape.ns_ovf != SOFT_OVF_NONE &&
		    (notifies(c, i) || (m->em_shape.ns_mute & 1U << i) == 0);
		mp->mp_struck |=
		    m->em_shape.ns_nmi && c != &mp->mp_ctx && notifies(c, i) &&
		    (request(c, i)->rq_flags & CPC_COUNT_SYSTEM) != 0;
	}
}

void
ex_retire(struct ex_model *m, unsigned cpu, unsigned privilege)
{
	struct ex_ctx *c = counting_ctx(m, cpu);

	for (unsigned i = 0; c != NULL && i < EX_STEPS; i++) {
		if (!m->em_cpu[cpu].mp_struck)
			retire_one(m, cpu, privilege, c);
	}
}

/* A timer reads the PICs, too, if these do not interrupt. */
void
ex_look(struct ex_model *m, unsigned cpu)
{
	if (counting_ctx(m, cpu) != NULL)
		stop_pics(m, cpu);
}

/* With these, the NMI handler also raises interrupts (start_stop.c). */
static bool
counts_kernel_overflows(const struct ex_ctx *c)
{
	bool found = false;

	for (unsigned i = 0; i < ex_nreqs(c); i++)
		found |= notifies(c, i) &&
		         (request(c, i)->rq_flags & CPC_COUNT_SYSTEM) != 0;
	return found;
}

void
ex_interrupt(struct ex_model *m, unsigned cpu)
{
	const struct ex_cpu *mp = &m->em_cpu[cpu];
	const struct ex_ctx *c = counting_ctx(m, cpu);

	if (c == NULL || (mp->mp_overflowed == 0 &&
			     (c == &mp->mp_ctx || !counts_kernel_overflows(c))))
		m->em_strays++;
	ex_look(m, cpu);
}

bool
ex_has_timer(struct ex_model *m, unsigned cpu)
{
	const struct ex_ctx *c = counting_ctx(m, cpu);

	if (c == NULL || m->em_shape.ns_width == 64)
		return false;
	return m->em_shape.ns_ovf != SOFT_OVF_PRECISE ||
	       (m->em_shape.ns_mute & ((1U << ex_nreqs(c)) - 1)) != 0;
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
	h = mix(h, c->exc_live | c->exc_frozen << 1 | c->exc_signal << 2 |
		       c->exc_invalid << 3 | c->exc_set << 4 |
		       c->exc_inherit << 5);
	for (unsigned i = 0; i < EX_NREQ; i++)
		h = mix(mix(h, c->exc_count[i]), c->exc_preset[i]);
	return h;
}

uint64_t
ex_model_hash(const struct ex_model *m)
{
	uint64_t h = 1;

	for (unsigned i = 0; i < EX_NLWP; i++) {
		const struct ex_lwp *l = &m->em_lwp[i];

		h = mix_ctx(h, &l->exl_ctx);
		h = mix(h, l->exl_alive | (uint64_t)(l->exl_cpu + 1) << 1 |
			       (uint64_t)(l->exl_bound + 1) << 4 |
			       (uint64_t)l->exl_proc << 7 |
			       (uint64_t)l->exl_stage << 8 |
			       (uint64_t)l->exl_set << 16);
		for (unsigned j = 0; j < EX_NREQ; j++)
			h = mix(h, l->exl_stage != 0 ? l->exl_read[j] : 0);
	}
	for (unsigned i = 0; i < EX_NCPU; i++) {
		const struct ex_cpu *mp = &m->em_cpu[i];

		h = mix_ctx(h, &mp->mp_ctx);
		h = mix(h, (uint64_t)(mp->mp_lwp + 1) |
			       (uint64_t)mp->mp_pending << 4 |
			       (uint64_t)mp->mp_struck << 5 |
			       (uint64_t)mp->mp_overflowed << 8);
		if (mp->mp_ctx.exc_live)
			h = mix(h,
			    (uint64_t)(mp->mp_binder + 1) |
				(uint64_t)(m->em_lwp[mp->mp_binder].exl_before +
					   1)
				    << 8);
	}
	return h;
}
