/*
 * The registers that rarely change between two sets: event selects,
 * IA32_FIXED_CTR_CTRL, extra MSRs and the APIC's entry for overflows.  After
 * boot only this file writes the first three; without global control, pic.c
 * starts and stops PICs by their event selects.
 *
 * The contents that a set wants have a number, its selection.  program()
 * compares that number with the selection of the CPU.  Sets that want the same
 * contents share a number, so a switch between LWPs that count alike writes
 * none of these registers.  Without shared numbers it takes 89 instructions
 * more with one PIC, and 169 with nine (a third).
 *
 * Intel SDM vol. 4, "MSRs in Processors Based on Intel Microarchitecture Code
 * Name Sandy Bridge" (MSR_OFFCORE_RSP_0, _1, MSR_PEBS_LD_LAT) and "... Code
 * Name Skylake" (MSR_PEBS_FRONTEND); vol. 3B, "Off-core Response Performance
 * Monitoring", "Load Latency Performance Monitoring Facility".
 */
#include <stddef.h>

#include "arch/x86/pmu/access.h"
#include "arch/x86/pmu/pic.h"
#include "arch/x86/pmu/regs.h"
#include "lib/printf.h"
#include "lib/string.h"

const struct x86_extra x86_extras[EXTRA_N] = {
	[EXTRA_OFFCORE0] = { "MSR_OFFCORE_RSP_0", 0x1a6, 0x1 },
	[EXTRA_OFFCORE1] = { "MSR_OFFCORE_RSP_1", 0x1a7, 0x1 },
	[EXTRA_LDLAT] = { "MSR_PEBS_LD_LAT", 0x3f6, 0x3 },
	[EXTRA_FRONTEND] = { "MSR_PEBS_FRONTEND", 0x3f7, 0x11 },
};

/* The selections that were used last; numbers start from 1. */
#define NSELECTION 16
static struct selection {
	uint64_t sl_number;
	uint32_t sl_pics;
	uint32_t sl_urgent;
	uint64_t sl_resume;
	struct {
		uint64_t select, value; /* of its extra MSR */
		uint8_t extra;
	} sl_pic[PCBE_MAXPIC];
} selections[NSELECTION];

static bool
is_selection(const struct selection *sl, const struct pcbe_set *set)
{
	if (sl->sl_pics != set->ps_pics || sl->sl_urgent != set->ps_urgent ||
	    sl->sl_resume != set->ps_resume)
		return false;
	for (unsigned i = 0; i < set->ps_n; i++) {
		const struct pcbe_cfg *cfg = &set->ps_cfg[i];

		if (sl->sl_pic[cfg->pc_pic].select != cfg->pc_sel ||
		    sl->sl_pic[cfg->pc_pic].extra != cfg->pc_extra ||
		    sl->sl_pic[cfg->pc_pic].value !=
			set->ps_extra_msr[cfg->pc_extra])
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
	sl->sl_pics = set->ps_pics;
	sl->sl_urgent = set->ps_urgent;
	sl->sl_resume = set->ps_resume;
	for (unsigned i = 0; i < set->ps_n; i++) {
		const struct pcbe_cfg *cfg = &set->ps_cfg[i];

		sl->sl_pic[cfg->pc_pic].select = cfg->pc_sel;
		sl->sl_pic[cfg->pc_pic].extra = cfg->pc_extra;
		sl->sl_pic[cfg->pc_pic].value =
		    set->ps_extra_msr[cfg->pc_extra];
	}
	return last;
}

/*
 * The register takes each bit of the value alone.  If it refuses them together,
 * the event counts by the value before.
 */
static void
write_extra(enum event_extra extra, uint64_t value)
{
	static bool refused[EXTRA_N];
	const struct x86_extra *x = &x86_extras[extra];

	if (pmu_wrmsr_safe(x->xe_msr, value) == 0 || refused[extra])
		return;
	refused[extra] = true;
	printf("pcbe: %s (%#x) of CPU %u refuses %#llx: counts of its events "
	       "are wrong: request another value\n",
	    x->xe_name, x->xe_msr, arch_curcpu()->c_id,
	    (unsigned long long)value);
}

/*
 * Event selects, with global control only: elsewhere a select that is written
 * starts its PIC.  IA32_FIXED_CTR_CTRL and extra MSRs.
 */
static void
write_selects(struct x86_pic_cpu *xn, const struct pcbe_set *set)
{
	uint64_t fixed = x86_pics.xs_kept_fixed;

	for (unsigned i = 0; i < set->ps_n; i++) {
		const struct pcbe_cfg *cfg = &set->ps_cfg[i];
		uint32_t msr = x86_pics.xs_pic[cfg->pc_pic].xp_select;

		if (cfg->pc_extra != EXTRA_NONE)
			write_extra(
			    cfg->pc_extra, set->ps_extra_msr[cfg->pc_extra]);
		if (msr == 0) {
			fixed |= cfg->pc_sel;
		} else if (x86_pics.xs_ctrl != 0 &&
			   xn->xn_select[cfg->pc_pic] != cfg->pc_sel) {
			pmu_wrmsr(msr, cfg->pc_sel);
			xn->xn_select[cfg->pc_pic] = cfg->pc_sel;
		}
	}
	if (x86_pics.xs_fixed)
		pmu_wrmsr(IA32_FIXED_CTR_CTRL, fixed);
}

void
x86_config_write(struct x86_pic_cpu *xn, struct pcbe_set *set)
{
	if (set->ps_selection == PCBE_UNSELECTED)
		set->ps_selection = selection_number(set);
	if (xn->xn_selection == set->ps_selection)
		return;
	x86_pics_hold(xn, set->ps_pics);
	write_selects(xn, set);
	x86_nmi_route(xn, set);
	xn->xn_selection = set->ps_selection;
}
