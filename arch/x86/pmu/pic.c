/*
 * Program, stop and sample the PICs of Intel and AMD, for both backends.
 *
 * With global control, event selects keep their enable bits, and one register
 * starts and stops all PICs: global_program(), global_stop().  On other
 * machines the event selects do, one after the other: each_program(),
 * each_stop().  These also serve PICs that need more care when they are loaded
 * or folded.
 *
 * Intel SDM vol. 3B, "Architectural Performance Monitoring"; AMD APM vol. 2
 * (24593), "Performance Monitoring Counters".
 */
#include "arch/x86/pmu/pic.h"

#include <stddef.h>

#include "arch/x86/pmu/access.h"
#include "arch/x86/pmu/regs.h"
#include "lib/string.h"

/* Events that a PIC counts from its loading to the end of a stride. */
#define STRIDE (1ULL << 30)

/*
 * A PIC of 40 bits does not wrap twice before its overflow is handled: 2^40
 * events take minutes.
 */
#define SAFE_MASK ((1ULL << 40) - 1)

/* A value of 31 bits, which every counter takes and extends alike. */
#define PROBE 0x2a5a5a5aULL

struct x86_pics x86_pics;

struct x86_pic_cpu x86_pic_cpus[MAXCPU];

/* The PIC of each bit of the status register, as a mask. */
static uint32_t pics_of_bit[64];

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

	if (ps->xs_ctrl != 0)
		pmu_wrmsr(ps->xs_ctrl, 0);
	if (ps->xs_fixed)
		pmu_wrmsr(IA32_FIXED_CTR_CTRL, 0);
	for (unsigned i = 0; i < ps->xs_n; i++) {
		if (ps->xs_pic[i].xp_select != 0)
			pmu_wrmsr(ps->xs_pic[i].xp_select, 0);
		pmu_wrmsr(ps->xs_pic[i].xp_counter, 0);
	}
	/*
	 * Clear every bit of the status, also a freeze that firmware left.
	 * IA32_DEBUGCTL must not freeze PICs of sets that did not ask for it.
	 */
	if (ps->xs_status != 0) {
		pmu_wrmsr_safe(IA32_DEBUGCTL, 0);
		if ((status = pmu_rdmsr(ps->xs_status)) != 0)
			pmu_wrmsr_safe(ps->xs_clear, status);
	}
	pmu_close_reads();
	arch_curcpu()->c_pmu_config = 0;
	memset(x86_pic_self(), 0, sizeof(struct x86_pic_cpu));
}

void
x86_pics_freeze(struct pcbe_ops *ops, bool announced)
{
	uint64_t v = 0;

	if (announced && !x86_pics.xs_pic[0].xp_short &&
	    pmu_wrmsr_safe(IA32_DEBUGCTL, DEBUGCTL_FREEZE_COUNTERS) == 0 &&
	    pmu_rdmsr_safe(IA32_DEBUGCTL, &v) == 0)
		pmu_wrmsr_safe(IA32_DEBUGCTL, 0);
	x86_pics.xs_freezes = ops->pcbe_freezes =
	    v == DEBUGCTL_FREEZE_COUNTERS &&
	    (arch_curcpu()->c_id == 0 || ops->pcbe_freezes);
	if (x86_pics.xs_freezes) /* stop() acknowledges it, too */
		x86_pics.xs_all |= PERF_GLOBAL_STATUS_CTR_FRZ;
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
x86_pic_configure(struct pcbe_cfg *cfg, struct pcbe_set *set)
{
	const struct x86_pic *p = &x86_pics.xs_pic[cfg->pc_pic];

	cfg->pc_aux = (uint64_t)p->xp_counter << 32 | p->xp_index;
	cfg->pc_mask = p->xp_mask;
	set->ps_config = PCBE_CONFIG_NEW;
}

/*
 * User-level reads open all PICs.  Clear those that hold the counts of another
 * set, so that the owner of this set cannot read them.
 */
void
x86_pics_hold(struct x86_pic_cpu *xn, uint32_t pics)
{
	uint32_t others = xn->xn_holding & ~pics;

	for (; others != 0; others &= others - 1)
		pmu_wrmsr(x86_pics.xs_pic[__builtin_ctz(others)].xp_counter, 0);
	xn->xn_holding = pics;
}

/*
 * The value from which a PIC starts that takes 32 bits and extends their sign.
 * If it cannot take v, it starts from 0 when its overflow may be missed.
 * Otherwise it nears its overflow in strides, and the last stride ends at it.
 */
static uint64_t
short_value(struct x86_pic_cpu *xn, const struct pcbe_cfg *cfg, uint64_t v)
{
	if (((uint64_t)(int32_t)v & cfg->pc_mask) == v)
		return v;
	if (!cfg->pc_notify)
		return 0;
	xn->xn_strides |= 1U << cfg->pc_pic;
	return cfg->pc_mask + 1 - STRIDE;
}

/* Load values that short PICs take, and note the values to watch. */
static void
load_short(struct x86_pic_cpu *xn, struct pcbe_set *set)
{
	xn->xn_strides = 0;
	xn->xn_watched = 0;
	for (unsigned i = 0; i < set->ps_n; i++) {
		const struct pcbe_cfg *cfg = &set->ps_cfg[i];
		struct cpc_page_req *cq = &set->ps_page->cg_req[i];

		if (x86_pics.xs_pic[cfg->pc_pic].xp_short) {
			cq->cq_last = short_value(xn, cfg, cq->cq_last);
			pmu_wrmsr(X86_AUX_LOAD(cfg->pc_aux), cq->cq_last);
		}
		/*
		 * With ps_nmi_pics each PIC of the set raises an NMI, notify
		 * request or not.  Without a status register its value explains
		 * the NMI.
		 */
		if (cfg->pc_notify || xn->xn_nmi_pics != 0) {
			xn->xn_watched |= 1U << cfg->pc_pic;
			xn->xn_seen[cfg->pc_pic] = cq->cq_last;
		}
	}
}

/*
 * From PIC to PIC, this loop takes as many instructions as the one in
 * x86_pics_stop() (gcc 12).  So the PICs of a set run equally long.
 */
static void
start_each_pic(struct x86_pic_cpu *xn, const struct pcbe_set *set)
{
	const struct pcbe_cfg *cfg = set->ps_cfg, *end = cfg + set->ps_n;

	xn->xn_running = set->ps_pics;
	for (; cfg < end; cfg++)
		pmu_wrmsr(x86_pics.xs_pic[cfg->pc_pic].xp_select, cfg->pc_sel);
	/* The first may have overflowed before the last was started. */
	if (xn->xn_came == xn->xn_found + 1 && x86_nmi_pending(xn) != 0)
		x86_pics_stop(xn);
}

static inline void
load_pics(struct pcbe_set *set)
{
	const struct pcbe_cfg *cfgs = set->ps_cfg;
	struct cpc_page *page = set->ps_page;

	for (size_t i = set->ps_n; i-- > 0;) {
		uint64_t v = page->cg_req[i].cq_data & cfgs[i].pc_mask;

		page->cg_req[i].cq_last = v;
		pmu_wrmsr(X86_AUX_LOAD(cfgs[i].pc_aux), v);
	}
	if (set->ps_user_read)
		pmu_open_reads();
	pcbe_begin(page, pmu_rdtsc());
}

static void
each_program(struct pcbe_set *set)
{
	struct x86_pic_cpu *xn = x86_pic_self();

	x86_config_write(xn, set);
	load_pics(set);
	load_short(xn, set);
	if (x86_pics.xs_ctrl != 0)
		pmu_wrmsr(x86_pics.xs_ctrl, set->ps_be);
	else
		start_each_pic(xn, set);
}

static void global_program(struct pcbe_set *set);

/* noinline saves 5 instructions of a switch's 372 that writes none of this. */
static __attribute__((noinline)) void
program_other_config(struct pcbe_set *set)
{
	x86_config_write(x86_pic_self(), set);
	global_program(set);
}

/*
 * noinline: only this copy starts PICs.  With another one in
 * program_other_config(), gcc 12 had two more instructions after the start, so
 * a count depended on what the CPU had run before.
 */
static __attribute__((noinline)) void
global_program(struct pcbe_set *set)
{
	if (arch_curcpu()->c_pmu_config != set->ps_config) {
		program_other_config(set);
		return;
	}
	load_pics(set);
	pmu_wrmsr(x86_pics.xs_ctrl, set->ps_be);
}

void
x86_pics_stop(const struct x86_pic_cpu *xn)
{
	uint32_t run = xn->xn_running;

	if (x86_pics.xs_ctrl != 0)
		pmu_wrmsr(x86_pics.xs_ctrl, x86_pics.xs_kept);
	for (; run != 0; run &= run - 1)
		pmu_wrmsr(x86_pics.xs_pic[__builtin_ctz(run)].xp_select, 0);
}

void
x86_pic_reload(struct x86_pic_cpu *xn, unsigned n)
{
	const struct x86_pic *p = &x86_pics.xs_pic[n];

	if (x86_pics.xs_clear != 0)
		pmu_wrmsr(x86_pics.xs_clear, p->xp_global);
	xn->xn_seen[n] = xn->xn_nmi_reload & p->xp_mask;
	pmu_wrmsr(p->xp_counter, xn->xn_seen[n]);
}

void
x86_pic_start(const struct x86_pic_cpu *xn, unsigned n)
{
	const struct x86_pic *p = &x86_pics.xs_pic[n];

	if (x86_pics.xs_ctrl != 0)
		pmu_wrmsr(x86_pics.xs_ctrl, p->xp_global | x86_pics.xs_kept);
	else
		pmu_wrmsr(p->xp_select, xn->xn_nmi_select);
}

static void
allstop(void)
{
	struct x86_pic_cpu *xn = x86_pic_self();

	x86_pics_stop(xn);
	xn->xn_running = 0;
	pmu_close_reads();
}

/* A PIC counts up: one that holds less than it did has wrapped. */
static uint32_t
wrapped_pics(const struct x86_pic_cpu *xn)
{
	uint32_t pics = 0;

	for (uint32_t left = xn->xn_watched; left != 0; left &= left - 1) {
		unsigned n = (unsigned)__builtin_ctz(left);

		if (pmu_rdpmc(x86_pics.xs_pic[n].xp_index) < xn->xn_seen[n])
			pics |= 1U << n;
	}
	return pics;
}

/* The PICs of these bits of the status register. */
static inline uint32_t
status_pics(uint64_t status)
{
	uint32_t pics = 0;

	for (; status != 0; status &= status - 1)
		pics |= pics_of_bit[__builtin_ctzll(status)];
	return pics;
}

uint32_t
x86_pics_overflowed(const struct x86_pic_cpu *xn)
{
	if (x86_pics.xs_ctrl == 0)
		return wrapped_pics(xn);
	return status_pics(pmu_rdmsr(x86_pics.xs_status) & x86_pics.xs_all);
}

/* `status` may have bits that are not PICs'. */
static inline uint32_t
acknowledge_status(struct x86_pic_cpu *xn, uint64_t status)
{
	status &= x86_pics.xs_all;
	if (status == 0)
		return 0;
	pmu_wrmsr(x86_pics.xs_clear, status);
	if (xn->xn_nmi_pics != 0)
		xn->xn_found++;
	return status_pics(status);
}

static uint64_t
overflow_bitmap(void)
{
	struct x86_pic_cpu *xn = x86_pic_self();
	uint32_t pics;

	if (x86_pics.xs_ctrl != 0) {
		pics = acknowledge_status(xn, pmu_rdmsr(x86_pics.xs_status));
	} else {
		pics = wrapped_pics(xn);
		if (pics != 0 && xn->xn_nmi_pics != 0)
			xn->xn_found++;
		/* A late NMI must not compare with what program() loads. */
		xn->xn_watched = 0;
	}
	/* The end of a stride is not an overflow of the request. */
	return pics & ~xn->xn_strides;
}

/*
 * No fence before RDPMC: WRMSR serializes, so every counted instruction has
 * retired.  Intel SDM vol. 3A, "Serializing Instructions"; AMD APM vol. 2,
 * "Serializing Instructions".
 */
static inline void
fold_set(const struct pcbe_set *set, uint64_t overflowed)
{
	const struct pcbe_cfg *cfgs = set->ps_cfg;
	struct cpc_page_req *reqs = set->ps_page->cg_req;

	for (size_t i = set->ps_n; i-- > 0;)
		pcbe_fold(&reqs[i], cfgs[i].pc_mask,
		    pmu_rdpmc(X86_AUX_INDEX(cfgs[i].pc_aux)),
		    (overflowed >> cfgs[i].pc_pic & 1) != 0);
}

static uint64_t
each_stop(struct pcbe_set *set)
{
	allstop();
	set->ps_page->cg_tick += pmu_rdtsc();
	uint64_t overflowed = overflow_bitmap() & set->ps_pics;
	fold_set(set, overflowed);
	return overflowed;
}

/* Each PIC has the bits of SAFE_MASK: it wrapped once. */
static uint64_t
stop_overflowed(struct pcbe_set *set, uint64_t status)
{
	uint32_t pics = acknowledge_status(x86_pic_self(), status);

	fold_set(set, 0);
	return pics & set->ps_pics;
}

static uint64_t
global_stop(struct pcbe_set *set)
{
	pmu_wrmsr(x86_pics.xs_ctrl, x86_pics.xs_kept);
	set->ps_page->cg_tick += pmu_rdtsc();
	pmu_close_reads();
	uint64_t status = pmu_rdmsr(x86_pics.xs_status);
	if (status != 0)
		return stop_overflowed(set, status);
	fold_set(set, 0);
	return 0;
}

/* An overflow that stop() has not folded yet makes the counts doubtful. */
static bool
sample(const struct pcbe_set *set, struct cpc_sample *s)
{
	const struct pcbe_cfg *cfgs = set->ps_cfg;
	const struct cpc_page_req *reqs = set->ps_page->cg_req;

	s->cs_tick = set->ps_page->cg_tick + pmu_rdtsc();
	pmu_fence();
	for (size_t i = set->ps_n; i-- > 0;) {
		uint64_t now = pmu_rdpmc(X86_AUX_INDEX(cfgs[i].pc_aux));

		s->cs_value[i] = reqs[i].cq_data +
		                 ((now - reqs[i].cq_last) & cfgs[i].pc_mask);
	}
	return x86_pics.xs_ctrl == 0 ||
	       (pmu_rdmsr(x86_pics.xs_status) & x86_pics.xs_all) == 0;
}

static void
keep(struct pcbe_set *set)
{
	struct x86_pic_cpu *xn = x86_pic_self();

	x86_pics.xs_program(set);
	x86_pics.xs_kept = set->ps_be;
	if (x86_pics.xs_pic[set->ps_cfg->pc_pic].xp_select == 0)
		x86_pics.xs_kept_fixed = set->ps_cfg->pc_sel;
	x86_pics.xs_all &= ~set->ps_be;
	/* allstop() must not stop these PICs, nor may others clear them. */
	xn->xn_running = 0;
	xn->xn_holding &= ~set->ps_pics;
}

void
x86_pic_ops(struct pcbe_ops *ops)
{
	bool each = x86_pics.xs_ctrl == 0;

	ops->ncounters = ncounters;
	ops->width = width;
	ops->read_index = read_index;
	ops->overflow_bitmap = overflow_bitmap;
	ops->allstop = allstop;
	ops->sample = sample;
	ops->keep = keep;
	ops->spin = pmu_spin;
	ops->nmi_log = x86_nmi_log;
	for (unsigned i = 0; i < x86_pics.xs_n; i++) {
		const struct x86_pic *p = &x86_pics.xs_pic[i];

		pics_of_bit[__builtin_ctzll(p->xp_global)] = 1U << i;
		each |= p->xp_short || p->xp_mask < SAFE_MASK;
	}
	ops->program = x86_pics.xs_program =
	    each ? each_program : global_program;
	ops->stop = each ? each_stop : global_stop;
}
