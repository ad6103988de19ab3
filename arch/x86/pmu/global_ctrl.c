/*
 * PICs that one register starts and stops, of whose overflows one register
 * tells, and that load every bit they have, which are 40 or more: Intel's from
 * version 2 on with full-width writes, AMD's from PerfMonV2 on.  Any other is
 * pic.c's.
 *
 * All of this but select() is part of every switch of LWPs, and its length
 * is what a switch costs: 9 instructions each turn of either loop (gcc 12).
 */
#include "arch/x86/pmu/pic.h"

#include <stddef.h>

#include "arch/x86/pmu/access.h"
#include "arch/x86/pmu/extra_msr.h"
#include "arch/x86/pmu/regs.h"
#include "lib/string.h"

/*
 * What event selects, IA32_FIXED_CTR_CTRL, the registers of extra.h and the
 * APIC's entry for overflows hold for a set.  Each has a number of its own, so
 * that a CPU which holds a set's need not compare them one by one.  Sets that
 * are alike share one, as long as it is remembered.
 */
#define NSELECTION 16
static struct selection {
	uint64_t sl_number;
	uint64_t sl_fixed;
	uint32_t sl_pics;
	uint32_t sl_urgent;
	uint32_t sl_besides;
	uint64_t sl_resume;
	uint64_t sl_beside[EXTRA_N - 1];
	uint64_t sl_select[PCBE_MAXPIC];
} selections[NSELECTION];

static bool
is_selection(const struct selection *sl, const struct pcbe_set *set)
{
	if (sl->sl_pics != set->ps_pics || sl->sl_fixed != set->ps_ctrl ||
	    sl->sl_urgent != set->ps_urgent ||
	    sl->sl_resume != set->ps_resume ||
	    sl->sl_besides != set->ps_extra_msrs)
		return false;
	if (set->ps_extra_msrs != 0 &&
	    memcmp(sl->sl_beside, set->ps_extra_msr, sizeof sl->sl_beside) != 0)
		return false;
	for (unsigned i = 0; i < set->ps_n; i++) {
		if (sl->sl_select[set->ps_cfg[i].pc_pic] !=
		    set->ps_cfg[i].pc_sel)
			return false;
	}
	return true;
}

static uint64_t
selection_of(const struct pcbe_set *set)
{
	static uint64_t last;
	static unsigned at; /* what was looked for last: again, most likely */
	struct selection *sl;

	for (unsigned i = 0; i < NSELECTION; i++, at = (at + 1) % NSELECTION) {
		if (is_selection(&selections[at], set))
			return selections[at].sl_number;
	}
	/* The oldest goes; its number never comes again. */
	at = last++ % NSELECTION;
	sl = &selections[at];
	sl->sl_number = last;
	sl->sl_fixed = set->ps_ctrl;
	sl->sl_pics = set->ps_pics;
	sl->sl_urgent = set->ps_urgent;
	sl->sl_resume = set->ps_resume;
	sl->sl_besides = set->ps_extra_msrs;
	memcpy(sl->sl_beside, set->ps_extra_msr, sizeof sl->sl_beside);
	for (unsigned i = 0; i < set->ps_n; i++)
		sl->sl_select[set->ps_cfg[i].pc_pic] = set->ps_cfg[i].pc_sel;
	return last;
}

/*
 * This CPU holds another selection.  Where the PICs are others, too, what the
 * former hold is cleared: user reads open all.
 */
static __attribute__((noinline)) void
select(struct x86_pic_cpu *pc, struct pcbe_set *set)
{
	if (set->ps_selection == PCBE_UNSELECTED)
		set->ps_selection = selection_of(set);
	if (pc->pc_selection == set->ps_selection)
		return;
	x86_pic_clear_others(pc, set->ps_pics);
	for (unsigned i = 0; i < set->ps_n; i++)
		x86_pic_select(pc, &set->ps_cfg[i]);
	if (x86_pics.xs_fixed)
		pmu_wrmsr(IA32_FIXED_CTR_CTRL, set->ps_ctrl);
	x86_extra_msr_load(set);
	x86_nmi_select(pc, set);
	pc->pc_selection = set->ps_selection;
}

/*
 * One offset counts down for both: a configuration and its request in the
 * page.  A set has at least one.
 */
#define EACH sizeof(struct pcbe_cfg)
_Static_assert(sizeof(struct cpc_page_req) == EACH, "one offset for both");

static inline const struct pcbe_cfg *
cfg_at(const struct pcbe_cfg *last, size_t offset)
{
	return (const struct pcbe_cfg *)((uintptr_t)last + offset);
}

static inline struct cpc_page_req *
req_at(struct cpc_page_req *last, size_t offset)
{
	return (struct cpc_page_req *)((uintptr_t)last + offset);
}

/* Apart, so that the usual way saves no register. */
static __attribute__((noinline)) void
program_other(struct pcbe_set *set)
{
	select(x86_pic_self(), set);
	x86_together_program(set);
}

void
x86_together_program(struct pcbe_set *set)
{
	const struct pcbe_cfg *cfgs = set->ps_cfg - 1;
	struct cpc_page *page = set->ps_page;
	struct cpc_page_req *reqs = page->cg_req - 1;
	size_t at = set->ps_n * EACH;

	if (x86_pic_self()->pc_selection != set->ps_selection) {
		program_other(set);
		return;
	}
	do {
		uint64_t v =
		    req_at(reqs, at)->cq_data & cfg_at(cfgs, at)->pc_mask;

		req_at(reqs, at)->cq_last = v;
		pmu_wrmsr(X86_AUX_LOAD(cfg_at(cfgs, at)->pc_aux), v);
	} while ((at -= EACH) != 0);
	if (set->ps_user_read)
		pmu_open_reads();
	pcbe_begin(page, pmu_rdtsc());
	pmu_wrmsr(x86_pics.xs_ctrl, set->ps_run);
}

/* What was counted since program(). */
static inline void
fold(const struct pcbe_set *set, struct cpc_page *page)
{
	const struct pcbe_cfg *cfgs = set->ps_cfg - 1;
	struct cpc_page_req *reqs = page->cg_req - 1;
	size_t at = set->ps_n * EACH;

	do {
		pcbe_fold(req_at(reqs, at), cfg_at(cfgs, at)->pc_mask,
		    pmu_rdpmc(X86_AUX_INDEX(cfg_at(cfgs, at)->pc_aux)), false);
	} while ((at -= EACH) != 0);
}

/*
 * Status says that a PIC did: one of the set, or one that is kept.  It went
 * round once, as what it holds tells, too: 2^40 events take minutes.
 */
static __attribute__((noinline)) uint64_t
fold_overflowed(const struct pcbe_set *set, uint64_t status)
{
	status &= x86_pics.xs_all;
	if (status != 0) {
		pmu_wrmsr(x86_pics.xs_clear, status);
		if (set->ps_urgent != 0)
			x86_nmi_told(x86_pic_self());
	}
	fold(set, set->ps_page);
	return x86_pics_of_status(status) & set->ps_pics;
}

/*
 * No fence: WRMSR serializes, so that all that was counted has retired.
 * Intel SDM vol. 3A, "Serializing Instructions".
 */
uint64_t
x86_together_stop(struct pcbe_set *set)
{
	struct cpc_page *page = set->ps_page;
	uint64_t status;

	pmu_wrmsr(x86_pics.xs_ctrl, x86_pics.xs_kept);
	page->cg_tick += pmu_rdtsc();
	pmu_close_reads();
	status = pmu_rdmsr(x86_pics.xs_status);
	if (status != 0)
		return fold_overflowed(set, status);
	fold(set, page);
	return 0;
}

/* An overflow that nobody was told of yet makes the counts doubtful. */
bool
x86_together_sample(const struct pcbe_set *set, struct cpc_sample *s)
{
	const struct pcbe_cfg *cfgs = set->ps_cfg - 1;
	const struct cpc_page_req *reqs = set->ps_page->cg_req - 1;
	uint64_t *value = s->cs_value - 1;
	size_t i = set->ps_n;

	s->cs_tick = set->ps_page->cg_tick + pmu_rdtsc();
	pmu_fence();
	do {
		value[i] = reqs[i].cq_data +
		           ((pmu_rdpmc(X86_AUX_INDEX(cfgs[i].pc_aux)) -
				reqs[i].cq_last) &
			       cfgs[i].pc_mask);
	} while (--i != 0);
	return (pmu_rdmsr(x86_pics.xs_status) & x86_pics.xs_all) == 0;
}
