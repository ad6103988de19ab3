/* The same steps in kcpc, on the fake kernel and the software PMU. */
#include "tests/host/kern/cpc/explore/explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/cpc/soft/soft_pcbe.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/cpu.h"
#include "tests/lib/host/named.h"

const char *const ex_faults[EX_NFAULT] = { "sound", "no-fold", "no-stop",
	"no-overflow", "no-filter", "no-sequence", "no-nmi" };

/* A set as the library packs it, and a sample. */
static struct {
	struct cpc_pack head;
	struct cpc_packreq req[EX_NREQ];
} packs[EX_NSET];
static struct {
	struct cpc_sample head;
	uint64_t value[EX_NREQ];
} last_sample;

static const struct pcbe_ops *sound_ops;
static struct pcbe_ops faulty_ops;
static unsigned signals[EX_NLWP];
static bool alive[EX_NLWP];
static unsigned proc_of[EX_NLWP];

static struct lwp *
lwp_at(unsigned lwp)
{
	return fake_lwp(proc_of[lwp], (int)lwp + 1);
}

/* The faults, inserted between kcpc and the PMU. */

static uint64_t
stop_without_fold(struct pcbe_set *set)
{
	uint64_t before[EX_NREQ], overflowed;

	for (unsigned i = 0; i < set->ps_n; i++)
		before[i] = set->ps_page->cg_req[i].cq_data;
	overflowed = sound_ops->stop(set);
	for (unsigned i = 0; i < set->ps_n; i++)
		set->ps_page->cg_req[i].cq_data = before[i];
	return overflowed;
}

/* CPU 1's PICs start again at once. */
static uint64_t
stop_cpu_0(struct pcbe_set *set)
{
	uint64_t overflowed = sound_ops->stop(set), tick;

	if (arch_curcpu()->c_id == 0)
		return overflowed;
	tick = set->ps_page->cg_tick;
	sound_ops->program(set);
	set->ps_page->cg_tick = tick;
	return overflowed;
}

static uint64_t
stop_without_overflow(struct pcbe_set *set)
{
	sound_ops->stop(set);
	return 0;
}

static void
program_unfiltered(struct pcbe_set *set)
{
	for (unsigned i = 0; i < set->ps_n; i++)
		set->ps_cfg[i].pc_flags |= CPC_COUNT_USER | CPC_COUNT_SYSTEM;
	sound_ops->program(set);
}

static void
program_without_sequence(struct pcbe_set *set)
{
	sound_ops->program(set);
	set->ps_page->cg_seq = 0;
}

static void
program_without_nmi(struct pcbe_set *set)
{
	set->ps_nmi_pics = 0;
	sound_ops->program(set);
}

static const struct pcbe_ops *
with_fault(enum ex_fault fault)
{
	faulty_ops = *sound_ops;
	if (fault == EX_NO_FOLD)
		faulty_ops.stop = stop_without_fold;
	else if (fault == EX_NO_STOP)
		faulty_ops.stop = stop_cpu_0;
	else if (fault == EX_NO_OVERFLOW)
		faulty_ops.stop = stop_without_overflow;
	else if (fault == EX_NO_FILTER)
		faulty_ops.program = program_unfiltered;
	else if (fault == EX_NO_SEQUENCE)
		faulty_ops.program = program_without_sequence;
	else if (fault == EX_NO_NMI)
		faulty_ops.program = program_without_nmi;
	faulty_ops.pcbe_no_user_read = false; /* ex_page_read() reads PICs */
	faulty_ops.advance = NULL;
	return &faulty_ops;
}

static void
pack_all(void)
{
	for (unsigned s = 0; s < EX_NSET; s++) {
		packs[s].head = (struct cpc_pack){ .cp_set = s + 1,
			.cp_nreqs = (uint16_t)ex_sets[s].exs_n };
		for (unsigned i = 0; i < ex_sets[s].exs_n; i++) {
			const struct ex_request *rq = &ex_sets[s].exs_req[i];
			struct cpc_event ev;

			named_event(sound_ops, rq->rq_event, &ev);
			packs[s].req[i] = (struct cpc_packreq){
				.cr_event = ev,
				.cr_preset = rq->rq_preset,
				.cr_flags = rq->rq_flags,
				.cr_picnum = -1,
			};
		}
	}
}

/* The kernel would deliver a signal.  Here kcpc_sigemt_take() takes it. */
static void
no_signal(struct lwp *l)
{
	(void)l;
}

static uint64_t strays_before; /* counted since the first boot */

static uint64_t
strays(void)
{
	struct kcpc_stat st;

	kcpc_stat(&st);
	return st.ks_stray;
}

void
ex_world_boot(const char *shape, enum ex_fault fault)
{
	struct soft_shape ns;
	const char *why = soft_shape_parse(shape, &ns);

	if (why != NULL) {
		fprintf(stderr, "explore: %s: %s\n", shape, why);
		exit(2);
	}
	sound_ops = soft_pcbe(&ns, shape);
	fake_backend = with_fault(fault);
	fake_boot();
	fake_backend = NULL;
	kcpc_set_notify(no_signal);
	pack_all();
	strays_before = strays();
	ex_page_reset();
	memset(signals, 0, sizeof signals);
	memset(proc_of, 0, sizeof proc_of);
	for (unsigned i = 0; i < EX_NLWP; i++)
		alive[i] = i < EX_NCPU;
	fake_cpu(1);
	fake_switch(0, 2);
}

static int
call_kernel(enum cpc_op op, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	const uintptr_t args[6] = { op, a, b, c, d };

	return (int)-kcpc_syscall(args);
}

/* Like cpc_bind_curlwp(): get the counter page, then bind. */
static int
bind_set(unsigned lwp, unsigned set, unsigned flags)
{
	struct cpc_refusal rf;
	const uintptr_t page[6] = { CPC_OP_PAGE };

	ex_page_find(
	    lwp, lwp_self()->l_proc->p_as, (uintptr_t)kcpc_syscall(page));
	return call_kernel(CPC_OP_BIND, (uintptr_t)&packs[set],
	    packs[set].head.cp_set, flags, (uintptr_t)&rf);
}

static int
bind_cpu(unsigned set, unsigned cpu)
{
	struct cpc_refusal rf;

	return call_kernel(CPC_OP_BIND, (uintptr_t)&packs[set],
	    packs[set].head.cp_set, CPC_TARGET_CPU(cpu), (uintptr_t)&rf);
}

static int
sample_set(unsigned set, struct ex_result *r)
{
	int err = call_kernel(CPC_OP_SAMPLE, set + 1, (uintptr_t)&last_sample,
	    ex_sets[set].exs_n, 0);

	if (err == 0)
		memcpy(r->exr_count, last_sample.value,
		    ex_sets[set].exs_n * sizeof last_sample.value[0]);
	return err;
}

/* Create the last LWP in this process. */
static struct lwp *
create_last(unsigned proc)
{
	unsigned last = EX_NLWP - 1;

	alive[last] = true;
	signals[last] = 0;
	proc_of[last] = proc;
	ex_page_gone(last);
	lwp_at(last)->l_bound = lwp_self()->l_bound;
	return lwp_at(last);
}

static int
fork_from(unsigned lwp)
{
	struct lwp *child = create_last(1);
	int err = kcpc_fork(lwp_self(), child);

	ex_page_fork(lwp, EX_NLWP - 1, child->l_proc->p_as);
	return err;
}

static int
exec_program(unsigned lwp)
{
	kcpc_exec_leave(lwp_self());
	kcpc_exec_enter(lwp_self());
	ex_page_gone(lwp);
	return 0;
}

/* Like processor_bind(2) and the return to user code after it. */
static int
move_lwp(unsigned lwp)
{
	unsigned to = arch_curcpu()->c_id ^ 1;

	lwp_bind(lwp_self(), &cpus[to]);
	fake_cpu(to);
	fake_switch(proc_of[lwp], (int)lwp + 1);
	return 0;
}

static int
do_lwp_step(unsigned lwp, enum ex_op op, struct ex_result *r)
{
	signals[lwp] += kcpc_sigemt_take(lwp_self(), NULL);
	switch (op) {
	case EX_BIND1:
	case EX_BIND2:
		return bind_set(lwp, op - EX_BIND1, CPC_BIND_LWP_INHERIT);
	case EX_OWN1:
		return bind_set(lwp, 0, 0);
	case EX_UNBIND1:
	case EX_UNBIND2:
		return call_kernel(CPC_OP_RELE, op - EX_UNBIND1 + 1, 0, 0, 0);
	case EX_SAMPLE1:
	case EX_SAMPLE2:
		return sample_set(op - EX_SAMPLE1, r);
	case EX_WORK:
		sound_ops->advance(EX_STEPS, CPC_COUNT_USER);
		return 0;
	case EX_SYSTEM:
		sound_ops->advance(EX_STEPS, CPC_COUNT_SYSTEM);
		return 0;
	case EX_DISABLE:
		return call_kernel(CPC_OP_DISABLE, 0, 0, 0, 0);
	case EX_ENABLE:
		return call_kernel(CPC_OP_ENABLE, 0, 0, 0, 0);
	case EX_RESTART:
		return call_kernel(CPC_OP_RESTART, 0, 0, 0, 0);
	case EX_PRESET:
		return call_kernel(CPC_OP_PRESET, 0, EX_NEW_PRESET, 0, 0);
	case EX_CPU1:
		return bind_cpu(0, arch_curcpu()->c_id);
	case EX_CPU2:
		return bind_cpu(1, arch_curcpu()->c_id ^ 1);
	case EX_REVOKE1:
	case EX_REVOKE2:
		return call_kernel(CPC_OP_REVOKE, op - EX_REVOKE1 + 1, 0, 0, 0);
	case EX_MOVE:
		return move_lwp(lwp);
	case EX_FREE:
		lwp_bind(lwp_self(), NULL);
		return 0;
	case EX_CLONE:
		return kcpc_inherit(lwp_self(), create_last(0));
	case EX_FORK:
		return fork_from(lwp);
	case EX_EXEC:
		return exec_program(lwp);
	case EX_EXIT:
		alive[lwp] = false;
		kcpc_lwp_exit(lwp_self());
		fake_idle();
		return 0;
	default: /* EX_INVALID */
		fake_invalidate();
		return 0;
	}
}

void
ex_world_do(struct ex_step s, struct ex_result *r)
{
	memset(r, 0, sizeof *r);
	fake_cpu(s.ext_cpu);
	if (s.ext_op != EX_TIMER)
		fake_clock(1);
	switch (s.ext_op) {
	case EX_RUN1:
	case EX_RUN2:
	case EX_RUN3:
		fake_switch(
		    proc_of[s.ext_op - EX_RUN1], s.ext_op - EX_RUN1 + 1);
		break;
	case EX_REST:
		fake_idle();
		break;
	case EX_PMI:
	case EX_EXTRA:
		kcpc_pmi();
		break;
	case EX_LOSE:
		break; /* the model had it pending */
	case EX_TIMER:
		fake_time(EX_TIMER_TICKS);
		break;
	default:
		r->exr_err =
		    do_lwp_step((unsigned)lwp_self()->l_id - 1, s.ext_op, r);
	}
}

void
ex_world_read(unsigned cpu, unsigned set, struct ex_result *r)
{
	unsigned lwp;

	memset(r, 0, sizeof *r);
	fake_cpu(cpu);
	fake_clock(1);
	lwp = (unsigned)lwp_self()->l_id - 1;
	signals[lwp] += kcpc_sigemt_take(lwp_self(), NULL);
	if (!ex_page_read(lwp, set + 1, ex_sets[set].exs_n, r)) {
		r->exr_ticks = 0;
		r->exr_asked = true;
		if (!ex_page_frozen(lwp, set + 1, ex_sets[set].exs_n, r))
			r->exr_err = sample_set(set, r);
	}
}

static char wrong[256];

#define DIFFERS(...) (snprintf(wrong, sizeof wrong, __VA_ARGS__), wrong)

/* The count that a sample would return now. */
static uint64_t
count_now(const struct kcpc_ctx *ctx, unsigned i, unsigned cpu, bool running)
{
	const struct cpc_page_req *cq = &ctx->kc_pcbe.ps_page->cg_req[i];
	const struct pcbe_cfg *cfg = &ctx->kc_pcbe.ps_cfg[i];

	if (!running)
		return cq->cq_data;
	return cq->cq_data +
	       ((soft_pcbe_raw(cpu, cfg->pc_pic) - cq->cq_last) & cfg->pc_mask);
}

/* Compare a valid context; cpu is the CPU that counts for it, if it runs. */
static const char *
check_counts(const struct kcpc_ctx *ctx, const struct ex_ctx *c, int cpu,
    bool running, const char *whose, unsigned number)
{
	uint64_t ticks = ctx->kc_pcbe.ps_page->cg_tick;

	for (unsigned i = 0; i < ctx->kc_nreqs; i++) {
		uint64_t n = count_now(ctx, i, (unsigned)cpu, running);

		if (n != c->exc_count[i])
			return DIFFERS("%s %u counts %#lx of request %u, not "
				       "%#lx",
			    whose, number, (unsigned long)n, i,
			    (unsigned long)c->exc_count[i]);
		if (ctx->kc_reqs[i].kr_preset != c->exc_preset[i])
			return DIFFERS("%s %u has another preset of request %u",
			    whose, number, i);
	}
	if (running)
		ticks += arch_tick();
	if (ticks != c->exc_ticks)
		return DIFFERS("%s %u was programmed for %lu ticks, not %lu",
		    whose, number, (unsigned long)ticks,
		    (unsigned long)c->exc_ticks);
	return NULL;
}

static const char *
check_lwp(const struct ex_model *m, unsigned lwp)
{
	const struct kcpc_ctx *ctx = lwp_at(lwp)->l_cpc;
	const struct ex_lwp *l = &m->em_lwp[lwp];
	const struct ex_ctx *c = &l->exl_ctx;

	if ((ctx != NULL) != c->exc_live)
		return DIFFERS(
		    "LWP %u has %s context", lwp + 1, ctx != NULL ? "a" : "no");
	if (signals[lwp] != l->exl_signals)
		return DIFFERS("LWP %u got %u signals, not %u", lwp + 1,
		    signals[lwp], l->exl_signals);
	if (l->exl_alive && lwp_at(lwp)->l_bound != l->exl_bound)
		return DIFFERS("LWP %u is bound to another CPU", lwp + 1);
	if (ctx == NULL)
		return NULL;
	uint32_t flags = ctx->kc_flags & (KCPC_CTX_FREEZE | KCPC_CTX_INVALID);
	if (ctx->kc_set != c->exc_set + 1ULL ||
	    (flags & KCPC_CTX_INVALID) !=
		(c->exc_invalid ? KCPC_CTX_INVALID : 0))
		return DIFFERS("LWP %u has another context", lwp + 1);
	if (c->exc_invalid)
		return NULL;
	if (flags != (c->exc_frozen ? KCPC_CTX_FREEZE : 0U))
		return DIFFERS("LWP %u is %s", lwp + 1,
		    flags != 0 ? "frozen" : "not frozen");
	if (((ctx->kc_flags & KCPC_CTX_SIGOVF) != 0) != c->exc_signal)
		return DIFFERS("LWP %u is %s a signal", lwp + 1,
		    c->exc_signal ? "not due" : "due");
	return check_counts(
	    ctx, c, l->exl_cpu, ex_model_running(m, lwp), "LWP", lwp + 1);
}

/* PICs count for the CPU's set or for the current LWP, or do not run. */
static const char *
check_cpu(const struct ex_model *m, unsigned cpu)
{
	const struct kcpc_ctx *ctx = cpus[cpu].c_cpc;
	const struct ex_ctx *c = &m->em_cpu[cpu].mp_ctx;
	int lwp = m->em_cpu[cpu].mp_lwp;
	uint32_t pics = soft_pcbe_running(cpu), want = 0;

	if ((ctx != NULL) != c->exc_live)
		return DIFFERS(
		    "CPU %u has %s set", cpu, ctx != NULL ? "a" : "no");
	if (ctx != NULL)
		want = ctx->kc_pcbe.ps_pics;
	else if (lwp != EX_IDLE && ex_model_running(m, (unsigned)lwp))
		want = lwp_at((unsigned)lwp)->l_cpc->kc_pcbe.ps_pics;
	if (m->em_cpu[cpu].mp_struck)
		want = 0;
	if (pics != want)
		return DIFFERS(
		    "CPU %u runs PICs %#x, not %#x", cpu, pics, want);
	if (cpus[cpu].c_lwp->l_id != lwp + 1)
		return DIFFERS("CPU %u runs another LWP", cpu);
	return ctx != NULL ? check_counts(ctx, c, (int)cpu, true, "CPU", cpu)
	                   : NULL;
}

static void
add_totals(const struct ex_model *m, const struct ex_ctx *c, uint32_t *live,
    uint32_t *pics)
{
	if (!c->exc_live)
		return;
	live[c->exc_set]++;
	for (unsigned i = 0; i < ex_sets[c->exc_set].exs_n; i++)
		*pics += 1 + (m->em_shape.ns_helpers &&
				 (ex_sets[c->exc_set].exs_req[i].rq_flags &
				     CPC_OVF_NOTIFY_EMT) != 0);
}

static const char *
check_totals(const struct ex_model *m)
{
	uint32_t live[EX_NPROC][EX_NSET] = { { 0 } }, all = 0, pics = 0;
	struct kcpc_stat st;

	for (unsigned i = 0; i < EX_NLWP; i++)
		add_totals(m, &m->em_lwp[i].exl_ctx,
		    live[m->em_lwp[i].exl_proc], &pics);
	for (unsigned i = 0; i < EX_NCPU; i++)
		add_totals(m, &m->em_cpu[i].mp_ctx,
		    live[m->em_lwp[m->em_cpu[i].mp_binder].exl_proc], &pics);
	for (unsigned i = 0; i < EX_NPROC * EX_NSET; i++) {
		unsigned p = i / EX_NSET, s = i % EX_NSET;

		all += live[p][s];
		if (kcpc_instances(fake_lwp(p, 1)->l_proc, s + 1) != live[p][s])
			return DIFFERS("process %u: set %u does not have %u "
				       "instances",
			    p, s + 1, live[p][s]);
	}
	kcpc_stat(&st);
	if (st.ks_contexts != all || st.ks_pics != pics)
		return DIFFERS("%u contexts with %u PICs, not %u with %u",
		    st.ks_contexts, st.ks_pics, all, pics);
	if (strays() - strays_before != m->em_strays)
		return DIFFERS("%u interrupts without an overflow, not %u",
		    (unsigned)(strays() - strays_before), m->em_strays);
	return NULL;
}

const char *
ex_world_check(const struct ex_model *m)
{
	const char *why = check_totals(m);

	for (unsigned i = 0; why == NULL && i < EX_NLWP; i++)
		why = check_lwp(m, i);
	for (unsigned i = 0; why == NULL && i < EX_NCPU; i++)
		why = check_cpu(m, i);
	return why;
}

const char *
ex_world_end(void)
{
	for (unsigned cpu = 0; cpu < EX_NCPU; cpu++) {
		fake_cpu(cpu);
		if (lwp_self()->l_id == 0)
			continue;
		alive[lwp_self()->l_id - 1] = false;
		kcpc_lwp_exit(lwp_self());
		fake_idle();
	}
	fake_cpu(0);
	for (unsigned i = 0; i < EX_NLWP; i++) {
		if (alive[i])
			fake_exit(proc_of[i], (int)i + 1);
	}
	for (unsigned cpu = 0; cpu < EX_NCPU; cpu++) {
		if (soft_pcbe_running(cpu) != 0)
			return "PICs that run";
	}
	return fake_halt();
}
