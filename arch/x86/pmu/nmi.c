/*
 * Overflows inside the kernel, which runs with interrupts off.
 *
 * Where a set asks for it (ps_urgent) overflows come as NMIs.  One that strikes
 * a payload is its interrupt, and nothing else.  In the kernel it strikes
 * anywhere: kcpc, the entry and exit code, another exception, a wait for the
 * kernel lock.  So it does no more than it must where it strikes.  It
 * stops the PICs and leaves their status as it is: an overflow that nobody was
 * told of yet is what stop() and sample() look for anyway.  Whichever comes
 * next, a switch, an exit, an unbind, finds it and has the right set in its
 * hands.  If none does, the interrupt that an overflow is by its vector, which
 * the NMI raises, is taken before the payload's next instruction, and
 * kcpc_pmi() does what it does for every set.
 *
 * Nothing of that happens in the NMI: it always returns to where it struck,
 * by IRET, before any of it can lead to another LWP.  So NMIs are let in again
 * at once, although the next LWP may leave the kernel by SYSRET, which does
 * not do that.  For that reason the way in from a payload has an IRET of its
 * own.
 *
 * A set may ask to count on from a place of its own (ps_resume) instead, as
 * profiles do: then the NMI loads its PIC and notes where it struck, and
 * whoever stops the set next finds the notes (pcbe_nmi_log).
 *
 * The manual's order is kept, in two parts.  The NMI stops the PICs; status
 * is cleared by stop(), and the APIC's entry, which Intel's delivery masks,
 * is written when that has been done: by kcpc_pmi(), or by the next program().
 * Unmasked before, it would interrupt again for the same overflow.
 * Intel SDM vol. 3B, "Generating an Interrupt on Overflow"; AMD APM vol. 2
 * (24593), "Performance Monitoring Counters".
 */
#include "arch/x86/pmu/pic.h"

#include "arch/x86/pmu/access.h"
#include "arch/x86/pmu/regs.h"
#include "kern/arch.h"
#include "kern/sched/cpu.h"

static struct pcbe_nmi_log struck[MAXCPU];

struct pcbe_nmi_log *
x86_nmi_log(void)
{
	return &struck[arch_curcpu()->c_id];
}

void
x86_nmi_deliver(struct x86_pic_cpu *pc, const struct pcbe_set *set)
{
	bool same = (pc->pc_urgent != 0) == (set->ps_urgent != 0);

	pc->pc_urgent = set->ps_urgent;
	pc->pc_resume = set->ps_resume;
	pc->pc_resume_select = set->ps_cfg->pc_sel;
	if (same && !pc->pc_masked)
		return;
	pc->pc_masked = false;
	pmu_deliver(set->ps_urgent != 0);
}

/* PICs that overflowed, which stay as they are. */
static uint32_t
overflowed(const struct x86_pic_cpu *pc)
{
	uint32_t watched = pc->pc_watched, pics = 0;

	if (x86_pics.xs_status != 0)
		return x86_pics_of_status(
		    pmu_rdmsr(x86_pics.xs_status) & x86_pics.xs_all);
	for (; watched != 0; watched &= watched - 1) {
		unsigned n = (unsigned)__builtin_ctz(watched);

		if (pmu_rdpmc(x86_pics.xs_pic[n].xp_index) < pc->pc_seen[n])
			pics |= 1U << n;
	}
	return pics;
}

uint32_t
x86_nmi_pending(const struct x86_pic_cpu *pc)
{
	return overflowed(pc) & pc->pc_urgent & ~pc->pc_strides;
}

/*
 * No PIC explains it.  But if stop() found more overflows than NMIs came, this
 * is the last one's, and hardware was late with it.
 */
bool
x86_pic_nmi_late(void)
{
	struct x86_pic_cpu *pc = x86_pic_self();

	if (pc->pc_came == pc->pc_found)
		return false;
	pc->pc_came = pc->pc_found;
	if (pc->pc_strides == 0) /* an end of which is not told */
		kcpc_pmi_late();
	if (pc->pc_urgent != 0)
		pmu_deliver(true);
	return true;
}

/* A set of one PIC that counts on from a place it can be loaded with. */
static bool
resumes(const struct x86_pic_cpu *pc)
{
	const struct x86_pic *p;

	if (pc->pc_resume == 0)
		return false;
	p = &x86_pics.xs_pic[__builtin_ctz(pc->pc_urgent)];
	if (p->xp_short && (uint64_t)(int32_t)pc->pc_resume != pc->pc_resume)
		return false;
	/* Not where stop() was struck, which has stopped it already. */
	if (x86_pics.xs_ctrl != 0)
		return pmu_rdmsr(x86_pics.xs_ctrl) != x86_pics.xs_kept;
	return pmu_rdmsr(p->xp_select) != 0;
}

/* All of the manual's order, and a note of where it was. */
static void
resume(struct x86_pic_cpu *pc, uint64_t at)
{
	unsigned n = (unsigned)__builtin_ctz(pc->pc_urgent);
	const struct x86_pic *p = &x86_pics.xs_pic[n];
	uint64_t run = p->xp_global | x86_pics.xs_kept;
	struct pcbe_nmi_log *pk = x86_nmi_log();

	x86_pics_stop(pc);
	if (x86_pics.xs_clear != 0)
		pmu_wrmsr(x86_pics.xs_clear, p->xp_global);
	pc->pc_seen[n] = pc->pc_resume & p->xp_mask;
	pmu_wrmsr(p->xp_counter, pc->pc_seen[n]);
	if (pk->pk_n < PCBE_NMI_LOG)
		pk->pk_pc[pk->pk_n++] = at;
	else
		pk->pk_lost++;
	pmu_deliver(true);
	pmu_hand_over();
	if (x86_pics.xs_ctrl != 0)
		pmu_wrmsr(x86_pics.xs_ctrl, run);
	else
		pmu_wrmsr(p->xp_select, pc->pc_resume_select);
}

bool
x86_pic_nmi(uint64_t at)
{
	struct x86_pic_cpu *pc = x86_pic_self();
	uint32_t pics = pc->pc_urgent != 0 ? overflowed(pc) : 0;

	if (pics == 0)
		return x86_pic_nmi_late();
	/*
	 * Others than those, a PIC that went round, wait for the kernel's end:
	 * their set goes on counting meanwhile.
	 */
	if ((pics & pc->pc_urgent & ~pc->pc_strides) != 0) {
		if (resumes(pc)) {
			resume(pc, at);
			return true;
		}
		x86_pics_stop(pc);
		if (pc->pc_resume != 0)
			x86_nmi_log()->pk_last = at;
	}
	pc->pc_came = pc->pc_found + 1; /* it will find it */
	pc->pc_masked = true;
	pc->pc_selection = 0; /* so that program() looks at these */
	pmu_hand_over();
	return true;
}
