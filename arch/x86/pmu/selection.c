/*
 * The registers that rarely change between two sets: event selects,
 * IA32_FIXED_CTR_CTRL, extra MSRs and the APIC's entry for overflows.
 *
 * The contents that a set wants have a number, its selection.  program()
 * compares that number with the selection of the CPU.  Sets that want the same
 * contents share a number, so a switch between LWPs that count alike writes
 * none of these registers.  Without shared numbers it takes 89 instructions
 * more with one PIC, and 169 with nine (a third).
 */
#include <stddef.h>

#include "arch/x86/pmu/access.h"
#include "arch/x86/pmu/extra_msr.h"
#include "arch/x86/pmu/pic.h"
#include "arch/x86/pmu/regs.h"
#include "lib/string.h"

/* The selections that were used last; numbers start from 1. */
#define NSELECTION 16
static struct selection {
	uint64_t sl_number;
	uint64_t sl_fixed;
	uint32_t sl_pics;
	uint32_t sl_urgent;
	uint32_t sl_extra_msrs;
	uint64_t sl_resume;
	uint64_t sl_extra_msr[EXTRA_N - 1];
	uint64_t sl_select[PCBE_MAXPIC];
} selections[NSELECTION];

static bool
is_selection(const struct selection *sl, const struct pcbe_set *set)
{
	if (sl->sl_pics != set->ps_pics || sl->sl_fixed != set->ps_ctrl ||
	    sl->sl_urgent != set->ps_urgent ||
	    sl->sl_resume != set->ps_resume ||
	    sl->sl_extra_msrs != set->ps_extra_msrs)
		return false;
	if (set->ps_extra_msrs != 0 &&
	    memcmp(sl->sl_extra_msr, set->ps_extra_msr,
		sizeof sl->sl_extra_msr) != 0)
		return false;
	for (unsigned i = 0; i < set->ps_n; i++) {
		if (sl->sl_select[set->ps_cfg[i].pc_pic] !=
		    set->ps_cfg[i].pc_sel)
			return false;
	}
	return true;
}

/* The number of the set's selection.  A new one replaces the oldest. */
static uint64_t
selection_number(const struct pcbe_set *set)
{
	static uint64_t last;
	static unsigned at; /* found last, and likely to be wanted again */
	struct selection *sl;

	for (unsigned i = 0; i < NSELECTION; i++, at = (at + 1) % NSELECTION) {
		if (is_selection(&selections[at], set))
			return selections[at].sl_number;
	}
	at = last++ % NSELECTION;
	sl = &selections[at];
	sl->sl_number = last;
	sl->sl_fixed = set->ps_ctrl;
	sl->sl_pics = set->ps_pics;
	sl->sl_urgent = set->ps_urgent;
	sl->sl_resume = set->ps_resume;
	sl->sl_extra_msrs = set->ps_extra_msrs;
	memcpy(sl->sl_extra_msr, set->ps_extra_msr, sizeof sl->sl_extra_msr);
	for (unsigned i = 0; i < set->ps_n; i++)
		sl->sl_select[set->ps_cfg[i].pc_pic] = set->ps_cfg[i].pc_sel;
	return last;
}

/*
 * User-level reads open all PICs.  Clear those that hold the counts of another
 * set, so that the owner of this set cannot read them.
 */
static void
clear_other_pics(struct x86_pic_cpu *xn, uint32_t pics)
{
	uint32_t others = xn->xn_holding & ~pics;

	for (; others != 0; others &= others - 1)
		pmu_wrmsr(x86_pics.xs_pic[__builtin_ctz(others)].xp_counter, 0);
	xn->xn_holding = pics;
}

/* Only with global control: elsewhere a select that is written starts its PIC.
 */
static void
write_selects(struct x86_pic_cpu *xn, const struct pcbe_set *set)
{
	for (unsigned i = 0; i < set->ps_n; i++) {
		const struct pcbe_cfg *cfg = &set->ps_cfg[i];

		if (xn->xn_select[cfg->pc_pic] == cfg->pc_sel)
			continue;
		pmu_wrmsr(x86_pics.xs_pic[cfg->pc_pic].xp_select, cfg->pc_sel);
		xn->xn_select[cfg->pc_pic] = cfg->pc_sel;
	}
}

void
x86_selection_write(struct x86_pic_cpu *xn, struct pcbe_set *set)
{
	if (set->ps_selection == PCBE_UNSELECTED)
		set->ps_selection = selection_number(set);
	if (xn->xn_selection == set->ps_selection)
		return;
	clear_other_pics(xn, set->ps_pics);
	if (x86_pics.xs_ctrl != 0)
		write_selects(xn, set);
	if (x86_pics.xs_fixed)
		pmu_wrmsr(IA32_FIXED_CTR_CTRL, set->ps_ctrl);
	x86_extra_msr_load(set);
	if (xn->xn_urgent != set->ps_urgent ||
	    xn->xn_resume != set->ps_resume || xn->xn_masked)
		x86_nmi_deliver(xn, set);
	xn->xn_resume_select = set->ps_cfg->pc_sel;
	xn->xn_selection = set->ps_selection;
}
