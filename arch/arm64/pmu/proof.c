/*
 * The proof at boot of what only PMUv3 has: how the overflow of PIC 0
 * interrupts.  kern/cpc/init/proof.c has the rest.
 */
#include "arch/arm64/pmu/pmuv3_impl.h"
#include "arch/arm64/pmu/regs.h"

#define COUNT_EL1     PMEVTYPER_U
#define OVERFLOW_LOOP 50 /* iterations of the exact proof */
/*
 * How late the interrupt may be.  A hypervisor passes it on with a delay.  An
 * emulator that derives cycles from time checks for overflow at odd times.
 */
#define PATIENCE_US        200
#define CYCLES_PATIENCE_US 50000
/* In emulation what interrupts at the instruction does so at once, or never. */
#define EXACT_PATIENCE_US 20

#define PIC0   1ULL
#define HELPER 2ULL /* PIC 1, which serves PIC 0 */

static bool
counts_insns(void)
{
	return pmuv3_has_event(ARM_INST_RETIRED);
}

const char *
pmuv3_proof(void)
{
	if (counts_insns())
		return "inst_retired counts a loop exactly";
	return "cpu_cycles advances, this PMU has no inst_retired";
}

/*
 * Load PIC 0, and its helper if `pics` has it, `from` instructions before
 * overflow, and run the loop.  Is an interrupt pending then?
 */
static bool
pending_after_loop(uint64_t pics, uint64_t from)
{
	bool helped = (pics & HELPER) != 0, was;

	pmu_load(0, ARM_INST_RETIRED | COUNT_EL1, pmuv3_in_width(-from));
	if (helped)
		pmu_load(
		    1, ARM_INST_RETIRED | COUNT_EL1, pmuv3_in_width(-from - 1));
	pmu_write_pmovsclr(pmuv3.pv_pics);
	pmu_write_pmintenset(PIC0);
	pmu_isb();
	was = pmuv3_spin(pics, OVERFLOW_LOOP);
	pmu_write_pmintenclr(PIC0);
	pmu_isb();
	pmu_write_pmovsclr(pmuv3.pv_pics);
	pmu_write_pmevcntr(0, 0);
	if (helped)
		pmu_write_pmevcntr(1, 0);
	pmu_isb();
	return was;
}

/*
 * Is the interrupt pending right after the instruction that overflows, and not
 * before?  Nothing accesses the counters in between: an access could raise an
 * interrupt that the PMU had missed.
 */
static bool
comes_exactly(uint64_t pics)
{
	uint64_t insns = PMUV3_SPIN_INSNS(OVERFLOW_LOOP);

	return counts_insns() && pending_after_loop(pics, insns) &&
	       !pending_after_loop(pics, insns + 1);
}

void
pmuv3_prove_overflow(bool (*pending)(void), bool emulated)
{
	static const struct {
		uint64_t pics;
		enum pmuv3_overflow how;
		const char *text;
	} tries[] = {
		{ PIC0, PMUV3_PLAIN, " by itself" },
		{ PIC0 | HELPER, PMUV3_PAIRED, " by a helper PIC" },
	};
	struct pcbe_line line = { .pl_pending = pending,
		.pl_us = counts_insns() ? PATIENCE_US : CYCLES_PATIENCE_US };

	if (emulated && (~pmuv3.pv_pics & (PIC0 | HELPER)) == 0 &&
	    comes_exactly(PIC0 | HELPER))
		line.pl_us = EXACT_PATIENCE_US;
	for (unsigned i = 0; i < sizeof tries / sizeof tries[0]; i++) {
		uint64_t pics = tries[i].pics;

		if ((pics & ~pmuv3.pv_pics) != 0)
			break;
		pmuv3_pcbe_overflow(tries[i].how);
		if (kcpc_prove_overflow(&pmuv3_pcbe_ops, &line, tries[i].text,
			comes_exactly(pics)))
			return;
	}
	pmuv3_pcbe_overflow(PMUV3_NO_INTR);
}
