/*
 * The registers that rarely change between two sets: event selects,
 * IA32_FIXED_CTR_CTRL, extra MSRs and the APIC's entry for overflows.  After
 * boot only this file writes the first three; without global control, pic.c
 * starts and stops PICs by their event selects.
 *
 * ps_config is the number of the contents that a set wants.  program() compares
 * it with the number of the CPU.  Sets that want the same contents share a
 * number, so a switch between LWPs that count alike writes none of these
 * registers.  Without shared numbers it takes 89 instructions more with one
 * PIC, and 169 with nine (a third).
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

const struct x86_extra x86_extras[EXTRA_N] = {
	[EXTRA_OFFCORE0] = { "MSR_OFFCORE_RSP_0", 0x1a6, 0x1 },
	[EXTRA_OFFCORE1] = { "MSR_OFFCORE_RSP_1", 0x1a7, 0x1 },
	[EXTRA_LDLAT] = { "MSR_PEBS_LD_LAT", 0x3f6, 0x3 },
	[EXTRA_FRONTEND] = { "MSR_PEBS_FRONTEND", 0x3f7, 0x11 },
};

/* The contents that were used last; numbers start from 1. */
#define NCONTENTS 16
static struct contents {
	uint64_t xg_number;
	uint32_t xg_pics;
	uint32_t xg_nmi_pics, xg_freeze;
	uint64_t xg_nmi_reload;
	struct {
		uint64_t select, value; /* of its extra MSR */
		uint8_t extra;
	} xg_pic[PCBE_MAXPIC];
} contents[NCONTENTS];

static bool
has_contents(const struct contents *xg, const struct pcbe_set *set)
{
	if (xg->xg_pics != set->ps_pics ||
	    xg->xg_nmi_pics != set->ps_nmi_pics ||
	    xg->xg_freeze != set->ps_freeze ||
	    xg->xg_nmi_reload != set->ps_nmi_reload)
		return false;
	for (unsigned i = 0; i < set->ps_n; i++) {
		const struct pcbe_cfg *cfg = &set->ps_cfg[i];

		if (xg->xg_pic[cfg->pc_pic].select != cfg->pc_sel ||
		    xg->xg_pic[cfg->pc_pic].extra != cfg->pc_extra ||
		    xg->xg_pic[cfg->pc_pic].value !=
			set->ps_extra_msr[cfg->pc_extra])
			return false;
	}
	return true;
}

/* The number of the set's contents.  New ones replace the oldest. */
static uint64_t
contents_number(const struct pcbe_set *set)
{
	static uint64_t last;
	static unsigned at; /* found last, and likely to be wanted again */

	for (unsigned i = 0; i < NCONTENTS; i++, at = (at + 1) % NCONTENTS) {
		if (has_contents(&contents[at], set))
			return contents[at].xg_number;
	}
	at = last++ % NCONTENTS;
	struct contents *xg = &contents[at];
	xg->xg_number = last;
	xg->xg_pics = set->ps_pics;
	xg->xg_nmi_pics = set->ps_nmi_pics;
	xg->xg_freeze = set->ps_freeze;
	xg->xg_nmi_reload = set->ps_nmi_reload;
	for (unsigned i = 0; i < set->ps_n; i++) {
		const struct pcbe_cfg *cfg = &set->ps_cfg[i];

		xg->xg_pic[cfg->pc_pic].select = cfg->pc_sel;
		xg->xg_pic[cfg->pc_pic].extra = cfg->pc_extra;
		xg->xg_pic[cfg->pc_pic].value =
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

/* A PIC that interrupts freezes the set, so only those do that shall. */
static uint64_t
select_of(const struct pcbe_set *set, const struct pcbe_cfg *cfg)
{
	bool general = x86_pics.xs_pic[cfg->pc_pic].xp_select != 0;

	if (!x86_pics.xs_freezes || set->ps_freeze == 0 || cfg->pc_notify)
		return cfg->pc_sel;
	return cfg->pc_sel & ~(general ? EVTSEL_INT : FIXED_CTRL_PMI_ALL);
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
		uint64_t sel = select_of(set, cfg);

		if (cfg->pc_extra != EXTRA_NONE)
			write_extra(
			    cfg->pc_extra, set->ps_extra_msr[cfg->pc_extra]);
		if (msr == 0) {
			fixed |= sel;
		} else if (x86_pics.xs_ctrl != 0 &&
			   xn->xn_select[cfg->pc_pic] != sel) {
			pmu_wrmsr(msr, sel);
			xn->xn_select[cfg->pc_pic] = sel;
		}
	}
	if (x86_pics.xs_fixed)
		pmu_wrmsr(IA32_FIXED_CTR_CTRL, fixed);
}

/* The bits of global control that start the set's PICs. */
static uint64_t
global_bits(const struct pcbe_set *set)
{
	uint64_t bits = x86_pics.xs_kept;

	for (unsigned i = 0; i < set->ps_n; i++)
		bits |= x86_pics.xs_pic[set->ps_cfg[i].pc_pic].xp_global;
	return bits;
}

void
x86_config_write(struct x86_pic_cpu *xn, struct pcbe_set *set)
{
	struct cpu *c = arch_curcpu();

	if (set->ps_config == PCBE_CONFIG_NEW) {
		set->ps_config = contents_number(set);
		set->ps_be = global_bits(set);
	}
	if (c->c_pmu_config == set->ps_config)
		return;
	x86_pics_hold(xn, set->ps_pics);
	write_selects(xn, set);
	if (xn->xn_freezes != (x86_pics.xs_freezes && set->ps_freeze != 0)) {
		xn->xn_freezes = !xn->xn_freezes;
		pmu_wrmsr(IA32_DEBUGCTL,
		    pmu_rdmsr(IA32_DEBUGCTL) ^ DEBUGCTL_FREEZE_COUNTERS);
	}
	x86_nmi_route(xn, set);
	c->c_pmu_config = set->ps_config;
}
