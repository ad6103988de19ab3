/*
 * Overflows inside the kernel, which runs with interrupts off: they come as
 * NMIs if a set asks for that (ps_nmi_pics).  docs/overflow.md has the reasons.
 *
 * An NMI that hits a payload calls kcpc_pmi(), as the ordinary interrupt (PMI)
 * does.  An NMI may hit any code of the kernel, such as kcpc, the entry and
 * exit code, or a wait for the kernel lock.  There it handles no set: it stops
 * the PICs, raises the PMI, and leaves the overflow status alone.  The next
 * stop() finds the status and has the right set at hand.  If no stop() comes,
 * the PMI is taken before the payload's next instruction.  The exceptions are
 * (1) and (2) below.
 *
 * The CPU's state is in three fields of struct x86_pic_cpu:
 *
 *     xn_found   overflows of sets with ps_nmi_pics that stop() found
 *     xn_came    overflows of which the NMI has come
 *     xn_masked  the APIC's entry may be masked: Intel's delivery masks it
 *
 *     state     fields                     PICs     meaning
 *     --------  -------------------------  -------  ------------------------
 *     armed     came = found, not masked   run      nothing has happened
 *     struck    came = found + 1, masked   stopped  the NMI came first
 *     ahead     came < found               stopped  stop() was first
 *
 *     event                        armed          struck        ahead
 *     ---------------------------  -------------  ------------  ------------
 *     NMI in the kernel, a PIC
 *       of xn_nmi_pics overflowed  struck (1)     struck        struck
 *     NMI in the kernel, another
 *       PIC overflowed             struck (2)     struck        struck
 *     NMI in a payload; kcpc_pmi()
 *       finds the overflow         armed          armed         armed
 *     NMI, and no PIC overflowed   stray NMI      armed (3)     armed (3)
 *     stop() finds an overflow     ahead          armed (4)     ahead
 *     program()                    armed          armed (5)     ahead
 *
 * (1) With ps_nmi_reload the NMI logs where it hit, loads the PIC, and starts
 *     it again: the state stays armed.
 * (2) The PICs run on until the PMI: this overflow raises no NMI alone.
 * (3) The overflow that stop() found belongs to this late NMI.
 * (4) Armed but for the mask; program() removes that.
 * (5) It writes the APIC's entry again, after stop() has cleared the status.
 *     Before that, an unmasked entry would interrupt for the same overflow.
 *
 * The NMI handler always returns to where it hit, by IRET, before any LWP is
 * switched.  So the CPU accepts NMIs again at once, although the next LWP may
 * leave the kernel by SYSRET, which does not unblock NMIs.  For the same reason
 * the NMI entry from a payload has an IRET of its own.
 *
 * Intel SDM vol. 3B, "Generating an Interrupt on Overflow"; AMD APM vol. 2
 * (24593), "Performance Monitoring Counters".
 */
#include "arch/x86/pmu/pic.h"

#include "arch/x86/pmu/access.h"
#include "arch/x86/pmu/regs.h"
#include "kern/arch.h"
#include "kern/sched/cpu.h"

static struct pcbe_nmi_log nmi_logs[MAXCPU];

struct pcbe_nmi_log *
x86_nmi_log(void)
{
	return &nmi_logs[arch_curcpu()->c_id];
}

void
x86_nmi_route(struct x86_pic_cpu *xn, const struct pcbe_set *set)
{
	bool same = (xn->xn_nmi_pics != 0) == (set->ps_nmi_pics != 0);

	xn->xn_nmi_pics = set->ps_nmi_pics;
	xn->xn_nmi_reload = set->ps_nmi_reload;
	xn->xn_nmi_select = set->ps_cfg->pc_sel;
	if (same && !xn->xn_masked)
		return;
	xn->xn_masked = false;
	pmu_deliver(set->ps_nmi_pics != 0);
}

uint32_t
x86_nmi_pending(const struct x86_pic_cpu *xn)
{
	return x86_pics_overflowed(xn) & xn->xn_nmi_pics & ~xn->xn_strides;
}

/*
 * No PIC explains the NMI.  If xn_came and xn_found differ, it is the late NMI
 * of an overflow that stop() found.  Otherwise it is not ours: returns false.
 */
bool
x86_pic_nmi_late(void)
{
	struct x86_pic_cpu *xn = x86_pic_self();

	if (xn->xn_came == xn->xn_found)
		return false;
	xn->xn_came = xn->xn_found;
	if (xn->xn_strides == 0) /* no overflow is only a stage of a count */
		kcpc_pmi_late();
	if (xn->xn_nmi_pics != 0)
		pmu_deliver(true);
	return true;
}

/* Can the set's one PIC be loaded with ps_nmi_reload, and started again? */
static bool
can_resume(const struct x86_pic_cpu *xn)
{
	const struct x86_pic *p;

	if (xn->xn_nmi_reload == 0)
		return false;
	p = &x86_pics.xs_pic[__builtin_ctz(xn->xn_nmi_pics)];
	if (p->xp_short &&
	    (uint64_t)(int32_t)xn->xn_nmi_reload != xn->xn_nmi_reload)
		return false;
	/* Not if the NMI hit stop() after it stopped the PIC. */
	if (x86_pics.xs_ctrl != 0)
		return pmu_rdmsr(x86_pics.xs_ctrl) != x86_pics.xs_kept;
	return pmu_rdmsr(p->xp_select) != 0;
}

/* Log the address, load the PIC and start it, in the manual's order. */
static void
nmi_resume(struct x86_pic_cpu *xn, uint64_t at)
{
	unsigned n = (unsigned)__builtin_ctz(xn->xn_nmi_pics);
	struct pcbe_nmi_log *pk = x86_nmi_log();

	x86_pics_stop(xn);
	x86_pic_reload(xn, n);
	if (pk->pk_n < PCBE_NMI_LOG)
		pk->pk_pc[pk->pk_n++] = at;
	else
		pk->pk_lost++;
	pmu_deliver(true);
	pmu_hand_over();
	x86_pic_start(xn, n);
}

bool
x86_pic_nmi(uint64_t at)
{
	struct x86_pic_cpu *xn = x86_pic_self();
	uint32_t pics = xn->xn_nmi_pics != 0 ? x86_pics_overflowed(xn) : 0;

	if (pics == 0)
		return x86_pic_nmi_late();
	/*
	 * An overflow of any other PIC waits for the PMI, and the PICs go on
	 * counting until then.
	 */
	if ((pics & xn->xn_nmi_pics & ~xn->xn_strides) != 0) {
		if (can_resume(xn)) {
			nmi_resume(xn, at);
			return true;
		}
		x86_pics_stop(xn);
		if (xn->xn_nmi_reload != 0)
			x86_nmi_log()->pk_last = at;
	}
	xn->xn_came = xn->xn_found + 1; /* stop() will find the overflow */
	xn->xn_masked = true;
	arch_curcpu()->c_pmu_config = 0; /* program() writes the APIC's entry */
	pmu_hand_over();
	return true;
}
