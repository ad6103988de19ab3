/*
 * Starting, stopping and reading PICs: of machines where pic_together.c has
 * no shorter way, and what is not part of a switch of LWPs.
 *
 * Where one register starts all PICs, event selects keep their enable bits and
 * that register alone starts and stops; elsewhere event selects do, one after
 * the other.
 * Intel SDM vol. 3B, "Architectural Performance Monitoring"; AMD APM vol. 2
 * (24593), "Performance Monitoring Counters".
 */
#include "arch/x86/pmu/pic.h"

#include "arch/x86/pmu/access.h"
#include "arch/x86/pmu/extra_msr.h"
#include "arch/x86/pmu/regs.h"
#include "kern/arch.h"
#include "kern/sched/cpu.h"
#include "lib/string.h"

/* Events from the loading of a PIC to its overflow, where it goes by strides.
 */
#define STRIDE (1ULL << 30)

/* A value of 31 bits, which every counter takes and extends alike. */
#define PROBE 0x2a5a5a5aULL

struct x86_pics x86_pics;

struct x86_pic_cpu x86_pic_cpus[MAXCPU];

bool
x86_pic_keeps(const struct x86_pic *p)
{
	uint64_t v;

	if (p->xp_select != 0 && pmu_wrmsr_safe(p->xp_select, 0) != 0)
		return false;
	if (pmu_wrmsr_safe(p->xp_counter, PROBE) != 0 ||
	    pmu_rdmsr_safe(p->xp_counter, &v) != 0 || v != PROBE)
		return false;
	return pmu_wrmsr_safe(p->xp_counter, 0) == 0;
}

void
x86_pics_silence(const struct x86_pics *ps)
{
	uint64_t status;
	unsigned i;

	if (ps->xs_ctrl != 0)
		pmu_wrmsr(ps->xs_ctrl, 0);
	if (ps->xs_fixed)
		pmu_wrmsr(IA32_FIXED_CTR_CTRL, 0);
	for (i = 0; i < ps->xs_n; i++) {
		if (ps->xs_pic[i].xp_select != 0)
			pmu_wrmsr(ps->xs_pic[i].xp_select, 0);
		pmu_wrmsr(ps->xs_pic[i].xp_counter, 0);
	}
	/*
	 * All that is set, a freeze left by firmware too, can be cleared; and
	 * nothing is to freeze: stop() clears the overflows alone.
	 */
	if (ps->xs_status != 0) {
		pmu_wrmsr_safe(IA32_DEBUGCTL, 0);
		if ((status = pmu_rdmsr(ps->xs_status)) != 0)
			pmu_wrmsr_safe(ps->xs_clear, status);
	}
	pmu_close_reads();
	memset(x86_pic_self(), 0, sizeof(struct x86_pic_cpu));
}

static unsigned
ncounters(void)
{
	return x86_pics.xs_n;
}

static unsigned
width(unsigned pic)
{
	return 64 - (unsigned)__builtin_clzll(x86_pics.xs_pic[pic].xp_mask);
}

static uint32_t
read_index(unsigned pic)
{
	return x86_pics.xs_pic[pic].xp_index;
}

void
x86_pic_take(struct pcbe_cfg *cfg, struct pcbe_set *set)
{
	const struct x86_pic *p = &x86_pics.xs_pic[cfg->pc_pic];

	cfg->pc_aux = (uint64_t)p->xp_counter << 32 | p->xp_index;
	cfg->pc_mask = p->xp_mask;
	cfg->pc_slow =
	    p->xp_short || (cfg->pc_notify && x86_pics.xs_status == 0);
	set->ps_selection = PCBE_UNSELECTED;
	set->ps_run |= p->xp_global | x86_pics.xs_kept;
	set->ps_ctrl |= x86_pics.xs_kept_fixed;
	if (p->xp_select == 0) {
		set->ps_ctrl |= cfg->pc_sel;
		cfg->pc_sel = 0;
	}
}

/* Can a PIC that takes 32 bits and extends their sign start from v? */
static bool
fits_short(const struct pcbe_cfg *cfg, uint64_t v)
{
	return ((uint64_t)(int32_t)v & cfg->pc_mask) == v;
}

/*
 * Where it cannot: if nobody waits for its overflow it starts from 0, else it
 * comes nearer to it in strides, and the last leaves a good way to go.
 */
static uint64_t
short_value(struct x86_pic_cpu *pc, const struct pcbe_cfg *cfg, uint64_t v)
{
	if (fits_short(cfg, v))
		return v;
	if (!cfg->pc_notify)
		return 0;
	pc->pc_strides |= 1U << cfg->pc_pic;
	return cfg->pc_mask + 1 - STRIDE;
}

static __attribute__((noinline)) uint64_t
slow_value(struct x86_pic_cpu *pc, const struct pcbe_cfg *cfg, uint64_t v)
{
	if (x86_pics.xs_pic[cfg->pc_pic].xp_short)
		v = short_value(pc, cfg, v);
	if (cfg->pc_notify) {
		pc->pc_watched |= 1U << cfg->pc_pic;
		pc->pc_seen[cfg->pc_pic] = v;
	}
	return v;
}

void
x86_pic_select(struct x86_pic_cpu *pc, const struct pcbe_cfg *cfg)
{
	if (pc->pc_select[cfg->pc_pic] == cfg->pc_sel)
		return;
	pmu_wrmsr(x86_pics.xs_pic[cfg->pc_pic].xp_select, cfg->pc_sel);
	pc->pc_select[cfg->pc_pic] = cfg->pc_sel;
}

/* With selects: those that are not what they were, while nothing runs. */
static inline void
load(struct x86_pic_cpu *pc, struct pcbe_set *set, bool selects)
{
	const struct pcbe_cfg *cfg = set->ps_cfg, *end = cfg + set->ps_n;
	struct cpc_page_req *cq = set->ps_page->cg_req;

	for (; cfg < end; cfg++, cq++) {
		uint64_t v = cq->cq_data & cfg->pc_mask;

		if (cfg->pc_slow)
			v = slow_value(pc, cfg, v);
		cq->cq_last = v;
		pmu_wrmsr(X86_AUX_LOAD(cfg->pc_aux), v);
		if (selects)
			x86_pic_select(pc, cfg);
	}
}

/* Forget counts of others that this set's owner could read. */
void
x86_pic_clear_others(struct x86_pic_cpu *pc, uint32_t pics)
{
	uint32_t others = pc->pc_holding & ~pics;

	for (; others != 0; others &= others - 1)
		pmu_wrmsr(x86_pics.xs_pic[__builtin_ctz(others)].xp_counter, 0);
	pc->pc_holding = pics;
}

static void
start_together(struct x86_pic_cpu *pc, struct pcbe_set *set)
{
	pc->pc_selection = 0;
	load(pc, set, true);
	if (x86_pics.xs_fixed)
		pmu_wrmsr(IA32_FIXED_CTR_CTRL, set->ps_ctrl);
	if (set->ps_user_read)
		pmu_open_reads();
	pmu_wrmsr(x86_pics.xs_ctrl, set->ps_run);
}

void
x86_pics_stop(const struct x86_pic_cpu *pc)
{
	uint32_t run = pc->pc_running;

	if (x86_pics.xs_ctrl != 0)
		pmu_wrmsr(x86_pics.xs_ctrl, x86_pics.xs_kept);
	for (; run != 0; run &= run - 1)
		pmu_wrmsr(x86_pics.xs_pic[__builtin_ctz(run)].xp_select, 0);
}

/*
 * Every PIC interrupts, those of requests that nobody waits for, too.  An NMI
 * must be explained, and where no register tells, what they hold does.
 */
static void
watch_all(struct x86_pic_cpu *pc, const struct pcbe_set *set)
{
	for (unsigned i = 0; i < set->ps_n; i++)
		pc->pc_seen[set->ps_cfg[i].pc_pic] =
		    set->ps_page->cg_req[i].cq_last;
	pc->pc_watched = set->ps_pics;
}

static void
start_each(struct x86_pic_cpu *pc, struct pcbe_set *set)
{
	const struct pcbe_cfg *cfg = set->ps_cfg, *end = cfg + set->ps_n;

	load(pc, set, false);
	if (pc->pc_urgent != 0 && x86_pics.xs_status == 0)
		watch_all(pc, set);
	pc->pc_running = set->ps_pics;
	if (set->ps_user_read)
		pmu_open_reads();
	for (; cfg < end; cfg++)
		pmu_wrmsr(x86_pics.xs_pic[cfg->pc_pic].xp_select, cfg->pc_sel);
	/* The first may have overflowed before the last was started. */
	if (pc->pc_came == pc->pc_found + 1 && x86_nmi_pending(pc) != 0)
		x86_pics_stop(pc);
}

static void
program(struct pcbe_set *set)
{
	struct x86_pic_cpu *pc = x86_pic_self();

	pc->pc_strides = 0;
	pc->pc_watched = 0;
	x86_pic_clear_others(pc, set->ps_pics);
	x86_extra_msr_load(set);
	x86_nmi_select(pc, set);
	pcbe_begin(set->ps_page, pmu_rdtsc());
	if (x86_pics.xs_ctrl != 0)
		start_together(pc, set);
	else
		start_each(pc, set);
}

static void
allstop(void)
{
	struct x86_pic_cpu *pc = x86_pic_self();

	x86_pics_stop(pc);
	pc->pc_running = 0;
	pmu_close_reads();
}

static bool
sample(const struct pcbe_set *set, struct cpc_sample *s)
{
	const struct pcbe_cfg *cfg = set->ps_cfg, *end = cfg + set->ps_n;
	const struct cpc_page_req *cq = set->ps_page->cg_req;
	uint64_t *value = s->cs_value;

	s->cs_tick = set->ps_page->cg_tick + pmu_rdtsc();
	pmu_fence();
	for (; cfg < end; cfg++, cq++)
		*value++ =
		    cq->cq_data +
		    ((pmu_rdpmc(X86_AUX_INDEX(cfg->pc_aux)) - cq->cq_last) &
			cfg->pc_mask);
	return x86_pics.xs_status == 0 ||
	       (pmu_rdmsr(x86_pics.xs_status) & x86_pics.xs_all) == 0;
}

uint32_t x86_pics_of_bit[64];

/* A PIC counts up: one that holds less than it did has gone round. */
static uint32_t
pics_gone_round(struct x86_pic_cpu *pc)
{
	uint32_t watched = pc->pc_watched, pics = 0;
	uint64_t now;

	if (watched != 0)
		pmu_fence();
	for (; watched != 0; watched &= watched - 1) {
		unsigned n = (unsigned)__builtin_ctz(watched);

		now = pmu_rdpmc(x86_pics.xs_pic[n].xp_index);
		if (now < pc->pc_seen[n])
			pics |= 1U << n;
		pc->pc_seen[n] = now;
	}
	return pics;
}

static uint64_t
overflow_bitmap(void)
{
	struct x86_pic_cpu *pc = x86_pic_self();
	uint64_t status;
	uint32_t pics;

	if (x86_pics.xs_status != 0) {
		status = pmu_rdmsr(x86_pics.xs_status) & x86_pics.xs_all;
		if (status == 0)
			return 0;
		pics = x86_pics_of_status(status);
		pmu_wrmsr(x86_pics.xs_clear, status);
	} else {
		pics = pics_gone_round(pc);
		if (pics == 0)
			return 0;
	}
	if (pc->pc_urgent != 0)
		x86_nmi_told(pc);
	/* At the end of a stride there is the next one, and no overflow. */
	pics &= ~pc->pc_strides;
	return pics;
}

static __attribute__((noinline)) void
fold_overflowed(struct pcbe_set *set, uint64_t overflowed)
{
	for (unsigned i = 0; i < set->ps_n; i++) {
		const struct pcbe_cfg *cfg = &set->ps_cfg[i];

		pcbe_fold(&set->ps_page->cg_req[i], cfg->pc_mask,
		    pmu_rdpmc(X86_AUX_INDEX(cfg->pc_aux)),
		    (overflowed >> cfg->pc_pic & 1) != 0);
	}
}

static uint64_t
stop(struct pcbe_set *set)
{
	const struct pcbe_cfg *cfg = set->ps_cfg, *end = cfg + set->ps_n;
	struct cpc_page_req *cq = set->ps_page->cg_req;
	uint64_t overflowed;

	allstop();
	set->ps_page->cg_tick += pmu_rdtsc();
	overflowed = overflow_bitmap() & set->ps_pics;
	pmu_fence();
	if (overflowed != 0) {
		fold_overflowed(set, overflowed);
		return overflowed;
	}
	for (; cfg < end; cfg++, cq++)
		pcbe_fold(cq, cfg->pc_mask,
		    pmu_rdpmc(X86_AUX_INDEX(cfg->pc_aux)), false);
	return 0;
}

static void
free_cfg(struct pcbe_cfg *cfg, struct pcbe_set *set)
{
	(void)cfg; /* configure() takes nothing */
	(void)set;
}

static void
keep(struct pcbe_set *set)
{
	struct x86_pic_cpu *pc = x86_pic_self();

	x86_pics.xs_kept = set->ps_run;
	x86_pics.xs_kept_fixed = set->ps_ctrl;
	x86_pics.xs_all &= ~set->ps_run;
	if (x86_pics.xs_ctrl != 0)
		start_together(pc, set);
	else
		start_each(pc, set);
	/* Nothing that allstop() knows of, nor what clears stale counts. */
	pc->pc_running = 0;
	pc->pc_holding &= ~set->ps_pics;
}

/* Is pic_together.c for these? */
static bool
are_together(const struct x86_pics *ps)
{
	for (unsigned i = 0; i < ps->xs_n; i++) {
		if (ps->xs_pic[i].xp_short ||
		    ps->xs_pic[i].xp_mask < X86_TOGETHER_MASK)
			return false;
	}
	return ps->xs_ctrl != 0 && ps->xs_status != 0;
}

void
x86_pic_ops(struct pcbe_ops *ops)
{
	const struct x86_pics *ps = &x86_pics;
	bool together = are_together(ps);

	ops->ncounters = ncounters;
	ops->width = width;
	ops->read_index = read_index;
	ops->overflow_bitmap = overflow_bitmap;
	ops->program = together ? x86_together_program : program;
	ops->stop = together ? x86_together_stop : stop;
	ops->allstop = allstop;
	ops->sample = together ? x86_together_sample : sample;
	ops->free = free_cfg;
	ops->keep = keep;
	ops->nmi_log = x86_nmi_log;
	for (unsigned i = 0; i < ps->xs_n; i++)
		x86_pics_of_bit[__builtin_ctzll(ps->xs_pic[i].xp_global)] =
		    1U << i;
}
